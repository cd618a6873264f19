package iceberglite.spec.json

import java.nio.charset.StandardCharsets.US_ASCII

import iceberglite.spec.{Snapshot, SnapshotLogEntry}
import iceberglite.spec.json.FastJson.NotPlain
import iceberglite.spec.json.{TableMetadataKey => Key}

/**
 * What a long history makes of a metadata file: its snapshots and its snapshot log, read past the parser.
 *
 * @param rest the document with the two arrays empty
 */
final private[json] case class FastSnapshots(
    snapshots: Vector[Snapshot],
    log: Vector[SnapshotLogEntry],
    rest: Array[Byte]
)

/**
 * Reads a history without making a tree of it: numbers and places are taken, summaries left until somebody asks. It
 * reads what is in order and nothing else; whoever gets nothing from here has the parser read all of it, and say what is
 * wrong.
 */
private[json] object FastSnapshots {

  /** `None` for a document with anything unusual in its history, or without one. */
  def of(document: Array[Byte]): Option[FastSnapshots] =
    try Some(new Reader(document).read())
    catch {
      case NotPlain => None
      // An escape at the very end.
      case _: IndexOutOfBoundsException => None
    }

  final private class Reader(document: Array[Byte]) {
    private val in = new FastJson(document)
    private val snapshot = new FastSnapshot(in)
    private val rest = new java.io.ByteArrayOutputStream(1 << 14)
    private var copied = 0
    private var snapshots: Option[Vector[Snapshot]] = None
    private var log = Vector.empty[SnapshotLogEntry]

    /** Stops where both are found: what comes after is the parser's, a second array of the name too. */
    def read(): FastSnapshots = {
      in.expect('{')
      var logged = false
      var going = true
      while (going) {
        val key = in.string()
        val (isSnapshots, isLog) = (in.isText(key, SnapshotsKey), in.isText(key, LogKey))
        in.expect(':')
        if (isSnapshots) {
          if (snapshots.isDefined) throw NotPlain
          snapshots = Some(cut(snapshot.read()))
        } else if (isLog) {
          if (logged) throw NotPlain
          logged = true
          log = cut(entry())
        } else in.skipValue()
        going = !(logged && snapshots.isDefined) && in.more('}')
      }
      rest.write(document, copied, document.length - copied)
      FastSnapshots(snapshots.getOrElse(throw NotPlain), log, rest.toByteArray)
    }

    /** Reads an array, and leaves an empty one in what the parser gets. */
    private def cut[A](element: => A): Vector[A] = {
      in.expect('[')
      rest.write(document, copied, in.position - copied)
      val made = Vector.newBuilder[A]
      if (!in.isClosed(']')) do made += element while (in.more(']'))
      copied = in.position - 1
      made.result()
    }

    private def entry(): SnapshotLogEntry = {
      in.expect('{')
      var time, id = Option.empty[Long]
      do {
        val key = in.string()
        if (time.isEmpty && in.isText(key, TimeKey)) {
          in.expect(':')
          time = Some(in.whole())
        } else if (id.isEmpty && in.isText(key, IdKey)) {
          in.expect(':')
          id = Some(in.whole())
        } else throw NotPlain
      } while (in.more('}'))
      SnapshotLogEntry(time.getOrElse(throw NotPlain), id.getOrElse(throw NotPlain))
    }
  }

  private val SnapshotsKey = Key.Snapshots.getBytes(US_ASCII)
  private val LogKey = Key.SnapshotLog.getBytes(US_ASCII)
  private val TimeKey = Key.TimestampMs.getBytes(US_ASCII)
  private val IdKey = Key.SnapshotId.getBytes(US_ASCII)
}
