package iceberglite.io

import java.util.Arrays

/**
 * A part of an Avro file: the blocks that begin in `start` until `start + length`, in bytes.
 *
 * @param withPlaces whether it matters which of the file's records they hold: then the blocks before are passed over
 *   one by one, and else they are not looked at
 */
final private[iceberglite] case class AvroPart(start: Long, length: Long, withPlaces: Boolean) {
  def endsBefore(place: Long): Boolean = place - start >= length
}

private[iceberglite] object AvroPart {
  val Whole: AvroPart = AvroPart(0L, Long.MaxValue, withPlaces = true)
}

/**
 * The blocks of a part of an Avro file (Avro specification, "Object Container Files").
 *
 * @param source stands at the end of the header
 * @param sync what ends the header and every block
 */
final private[iceberglite] class AvroBlocks(
    source: AvroSource,
    sync: Array[Byte],
    codec: AvroCodec.Decompressor,
    part: AvroPart,
    limits: AvroLimits
) {
  private val firstByte = source.taken
  private var unpackedBytes = 0L
  private var isAtStart = true
  private var before = 0L

  /** What the block at hand holds. */
  var unpacked: AvroInput = new AvroInput(Array.emptyByteArray, 0, 0)

  /** How many records it says that it holds. */
  var records: Long = 0L

  /** The place in the file of its first record, if places matter. */
  def firstRecord: Long = before - records

  /** Unpacks the next block. @return false at the end of the part */
  def next(): Boolean = {
    if (isAtStart && !part.withPlaces && part.start > firstByte) toFirstBlock()
    isAtStart = false
    while (!source.isEmpty && source.taken < part.start) pass()
    if (source.isEmpty || part.endsBefore(source.taken)) false
    else {
      unpack()
      true
    }
  }

  /** To the end of the first mark that ends at the start of the part or after it. */
  private def toFirstBlock(): Unit = {
    source.jumpTo(math.max(firstByte, part.start - AvroContainer.SyncSize))
    var found = false
    while (!found && !source.isEmpty) {
      source.fill(AvroContainer.BlockSize)
      val in = source.input
      val last = in.end - AvroContainer.SyncSize
      var at = in.position
      while (at <= last && !isMark(in.bytes, at)) at += 1
      found = at <= last
      val seen = if (found) at + AvroContainer.SyncSize else if (source.ended) in.end else at
      in.skip(seen - in.position)
    }
  }

  private def isMark(bytes: Array[Byte], at: Int): Boolean =
    bytes(at) == sync(0) && Arrays.equals(bytes, at, at + AvroContainer.SyncSize, sync, 0, sync.length)

  /** Over a block that is in another part. */
  private def pass(): Unit = {
    val length = header()
    source.jumpTo(source.taken + length)
    source.fill(AvroContainer.SyncSize)
    end()
  }

  private def unpack(): Unit = {
    val length = header()
    source.fill(length + AvroContainer.SyncSize)
    val in = source.input
    if (in.remaining < length) throw AvroFault(s"A block claims $length bytes where ${in.remaining} are left")
    val bytes = codec.block(in.bytes, in.position, length)
    unpacked = new AvroInput(bytes.bytes, bytes.start, bytes.end)
    in.skip(length)
    end()
    checkExpansion()
  }

  /** @return the length of the block in bytes */
  private def header(): Int = {
    source.fill(AvroContainer.MaxNumberBytes * 2)
    records = source.input.readLong()
    if (records < 0) throw AvroFault(s"A block claims $records records")
    before += records
    val length = source.input.readLong()
    if (length < 0 || length > AvroContainer.MaxBlockBytes) throw AvroFault(s"A block claims $length bytes")
    length.toInt
  }

  private def end(): Unit = {
    val in = source.input
    val at = in.position
    in.skip(AvroContainer.SyncSize)
    if (!Arrays.equals(in.bytes, at, in.position, sync, 0, sync.length)) {
      throw AvroFault("The end of a block is not marked as such")
    }
  }

  /** Small blocks may be a bomb together. */
  private def checkExpansion(): Unit = {
    unpackedBytes += unpacked.remaining
    val packedBytes = source.taken - firstByte
    if (unpackedBytes > AvroContainer.MaxBlockBytes && limits.maxExpansion.exists(unpackedBytes / _ > packedBytes)) {
      val reason = s"Its first $packedBytes bytes unpack to $unpackedBytes: it is damaged, or made to fill the memory"
      throw AvroFault(reason)
    }
  }
}
