package iceberglite.spec.json

import java.nio.charset.StandardCharsets.US_ASCII
import java.util.Arrays

import iceberglite.spec.json.FastJson.UnsupportedJson
import iceberglite.spec.metadata.{JsonSlice, Snapshot, SnapshotWithJson}

/** Reads the snapshots of a table metadata file sequentially, without a JSON parser (see [[FastSnapshots]]). */
final private[json] class FastSnapshot(in: FastJson) {
  import FastSnapshot._

  /** A bit set of the keys that the snapshot being read contains. Bit `i` represents the key with index `i`. */
  private var presentKeys = 0
  private val numbers = new Array[Long](numberKeys)
  private var manifestListPath, encryptionKeyId = Option.empty[String]
  private var summary: Map[String, String] = Map.empty
  private val hashes = new Array[Int](MaxKeys)

  /** Reads the snapshot at the current position. */
  def read(): Snapshot = {
    in.peek()
    in.sawWhitespace = false
    val start = in.position
    reset()
    in.expect('{')
    do {
      val key = nextKey()
      in.expect(':')
      key match {
        case `manifestList` => manifestListPath = Some(in.text(in.string()))
        case `keyId` => encryptionKeyId = Some(in.text(in.string()))
        case `summaryKey` => summary = readSummary()
        case numberKey => numbers(numberKey) = in.readLong()
      }
    } while (in.skipSeparator('}'))
    check()
    // If the JSON of the snapshot has no whitespace between tokens, it is kept, so that it can be copied unchanged to
    // the next metadata file.
    if (in.sawWhitespace) snapshot else new SnapshotWithJson(snapshot, JsonSlice(in.bytes, start, in.position))
  }

  private def reset(): Unit = {
    presentKeys = 0
    Arrays.fill(numbers, 0L)
    manifestListPath = None
    encryptionKeyId = None
    summary = Map.empty
  }

  private def nextKey(): Int = {
    val start = in.string()
    var i = 0
    while (i < keys.length && !in.isText(start, keys(i))) i += 1
    if (i == keys.length || has(i)) throw UnsupportedJson
    presentKeys |= 1 << i
    i
  }

  private def has(key: Int): Boolean = (presentKeys & (1 << key)) != 0

  private def number(key: Int): Option[Long] = if (has(key)) Some(numbers(key)) else None

  private def check(): Unit = {
    val hasRequiredKeys = has(snapshotId) && has(timestampMs) && has(manifestList)
    val hasValidCounts = numbers(firstRowId) >= 0 && numbers(addedRows) >= 0
    if (!hasRequiredKeys || !hasValidCounts || !numbers(schemaId).isValidInt) throw UnsupportedJson
  }

  private def snapshot: Snapshot = Snapshot(
    numbers(snapshotId),
    number(parentId),
    numbers(sequenceNumber),
    numbers(timestampMs),
    manifestListPath,
    Vector.empty,
    summary,
    number(schemaId).map(_.toInt),
    number(firstRowId),
    number(addedRows),
    encryptionKeyId
  )

  /**
   * Returns a summary that is parsed on first use. A summary in which two keys have the same hash is not supported,
   * because this method compares only hashes to find duplicate keys. The complete parser compares the keys themselves.
   */
  private def readSummary(): Map[String, String] = {
    val start = in.position
    in.expect('{')
    if (in.skipIfEmpty('}')) Map.empty
    else {
      var size = 0
      do {
        if (size == MaxKeys) throw UnsupportedJson
        hashes(size) = hash(in.string())
        var i = 0
        while (hashes(i) != hashes(size)) i += 1
        if (i < size) throw UnsupportedJson
        in.expect(':')
        in.string()
        size += 1
      } while (in.skipSeparator('}'))
      new FastSummary(in.bytes, start, size)
    }
  }

  private def hash(start: Int): Int = {
    var h = 1
    var i = start
    while (i < in.position - 1) {
      h = 31 * h + in.bytes(i)
      i += 1
    }
    h
  }
}

private[json] object FastSnapshot {

  /** The keys of a snapshot. The first seven have numeric values. */
  private val keys: Array[Array[Byte]] = Array(
    SnapshotJson.SequenceNumber,
    SnapshotJson.SnapshotId,
    SnapshotJson.ParentId,
    SnapshotJson.TimestampMs,
    SnapshotJson.SchemaId,
    SnapshotJson.FirstRowId,
    SnapshotJson.AddedRows,
    SnapshotJson.Summary,
    SnapshotJson.ManifestList,
    SnapshotJson.KeyId
  ).map(_.getBytes(US_ASCII))

  // The indexes of the keys.
  final private val sequenceNumber = 0
  final private val snapshotId = 1
  final private val parentId = 2
  final private val timestampMs = 3
  final private val schemaId = 4
  final private val firstRowId = 5
  final private val addedRows = 6

  /** The number of keys with numeric values. */
  final private val numberKeys = 7
  final private val summaryKey = 7
  final private val manifestList = 8
  final private val keyId = 9

  /**
   * The maximum number of keys of a summary. The number is limited, because each key is compared with all other keys.
   */
  private val MaxKeys = 256
}
