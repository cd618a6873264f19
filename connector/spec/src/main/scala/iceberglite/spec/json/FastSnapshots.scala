package iceberglite.spec.json

import java.nio.charset.StandardCharsets.US_ASCII

import iceberglite.spec.json.{TableMetadataKey => Key}
import iceberglite.spec.json.FastJson.UnsupportedJson
import iceberglite.spec.metadata.{Snapshot, SnapshotLogEntry}

/**
 * A metadata file whose snapshots and snapshot log were read without the JSON parser. These two parts are large if the
 * table has a long history.
 *
 * @param rest the document with empty arrays in place of the snapshots and the snapshot log
 */
final private[json] case class FastSnapshots(
    snapshots: Vector[Snapshot],
    log: Vector[SnapshotLogEntry],
    rest: Array[Byte]
)

/**
 * Reads the snapshots and the snapshot log of a metadata file without building a JSON tree. The summary of a snapshot
 * is parsed only when it is needed. This is possible only for valid documents in the form that writers usually produce
 * (see [[FastJson]]). For other documents, the result is `None`. The caller then reads the whole document with the JSON
 * parser, which also reports errors.
 */
private[json] object FastSnapshots {

  /**
   * Reads the snapshots and the snapshot log. Returns `None` if the document lacks the key `snapshots`, or if the
   * scanner does not support the form of the document. A missing snapshot log counts as empty.
   */
  def of(document: Array[Byte]): Option[FastSnapshots] =
    try Some(new Reader(document).read())
    catch {
      case UnsupportedJson => None
      // If the scanner reads beyond the end of the document, the JSON parser reads the document and reports the error.
      case _: IndexOutOfBoundsException => None
    }

  final private class Reader(document: Array[Byte]) {
    private val in = new FastJson(document)
    private val snapshot = new FastSnapshot(in)
    private val rest = new java.io.ByteArrayOutputStream(1 << 14)
    private var copiedUntil = 0
    private var snapshots: Option[Vector[Snapshot]] = None
    private var log = Vector.empty[SnapshotLogEntry]

    /**
     * Reads the document until both arrays have been read. Only the JSON parser reads the remaining document. If this
     * part contains one of the two keys again, the JSON parser reports a duplicate key.
     */
    def read(): FastSnapshots = {
      in.expect('{')
      var hasLog = false
      var unfinished = true
      while (unfinished) {
        val key = in.string()
        val (isSnapshots, isLog) = (in.isText(key, SnapshotsKey), in.isText(key, LogKey))
        in.expect(':')
        if (isSnapshots) {
          if (snapshots.isDefined) throw UnsupportedJson
          snapshots = Some(readAndRemove(snapshot.read()))
        } else if (isLog) {
          if (hasLog) throw UnsupportedJson
          hasLog = true
          log = readAndRemove(readLogEntry())
        } else in.skipValue()
        unfinished = !(hasLog && snapshots.isDefined) && in.skipSeparator('}')
      }
      rest.write(document, copiedUntil, document.length - copiedUntil)
      FastSnapshots(snapshots.getOrElse(throw UnsupportedJson), log, rest.toByteArray)
    }

    /** Reads an array, and replaces it by an empty array in the document that the JSON parser reads. */
    private def readAndRemove[A](element: => A): Vector[A] = {
      in.expect('[')
      rest.write(document, copiedUntil, in.position - copiedUntil)
      val values = Vector.newBuilder[A]
      if (!in.skipIfEmpty(']')) do values += element while (in.skipSeparator(']'))
      copiedUntil = in.position - 1
      values.result()
    }

    private def readLogEntry(): SnapshotLogEntry = {
      in.expect('{')
      var time, id = Option.empty[Long]
      do {
        val key = in.string()
        if (time.isEmpty && in.isText(key, TimeKey)) {
          in.expect(':')
          time = Some(in.readLong())
        } else if (id.isEmpty && in.isText(key, IdKey)) {
          in.expect(':')
          id = Some(in.readLong())
        } else throw UnsupportedJson
      } while (in.skipSeparator('}'))
      SnapshotLogEntry(time.getOrElse(throw UnsupportedJson), id.getOrElse(throw UnsupportedJson))
    }
  }

  private val SnapshotsKey = Key.Snapshots.getBytes(US_ASCII)
  private val LogKey = Key.SnapshotLog.getBytes(US_ASCII)
  private val TimeKey = Key.TimestampMs.getBytes(US_ASCII)
  private val IdKey = Key.SnapshotId.getBytes(US_ASCII)
}
