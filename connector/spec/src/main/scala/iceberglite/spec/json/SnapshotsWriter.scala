package iceberglite.spec.json

import java.io.OutputStream

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.{JsonSlice, Snapshot, SnapshotWithJson}

/**
 * Writes the snapshots of a table as JSON. The JSON of a [[SnapshotWithJson]] is copied instead of serialized again.
 */
private[json] object SnapshotsWriter {

  /** Returns the snapshots as [[SnapshotWithJson]]s. */
  def withJson(snapshots: Vector[Snapshot]): Vector[Snapshot] = {
    // Only snapshots without JSON are replaced. These are usually few, because a commit adds only a few snapshots to
    // the history.
    val missing = snapshots.indices.filterNot(snapshots(_).isInstanceOf[SnapshotWithJson])
    missing.foldLeft(snapshots)((all, i) => all.updated(i, new SnapshotWithJson(all(i), jsonOf(all(i)))))
  }

  /** Writes the snapshots as an array. The caller must already have written the key of the array. */
  def write(snapshots: Vector[Snapshot], out: JsonGenerator): Unit = out.getOutputTarget match {
    case bytes: OutputStream =>
      // Writing an empty value makes the generator write the colon after the key. The array is then written directly to
      // the output stream of the generator.
      out.writeRawValue("")
      out.flush()
      copy(snapshots, bytes)
    case _ =>
      out.writeStartArray()
      snapshots.foreach(SnapshotJson.write(_, out))
      out.writeEndArray()
  }

  private def copy(snapshots: Vector[Snapshot], out: OutputStream): Unit = {
    out.write('[')
    var first = true
    snapshots.foreach { s =>
      if (!first) out.write(',')
      first = false
      val json = jsonOf(s)
      out.write(json.bytes, json.from, json.until - json.from)
    }
    out.write(']')
  }

  private def jsonOf(snapshot: Snapshot): JsonSlice = snapshot match {
    case s: SnapshotWithJson => s.json
    case s =>
      val bytes = SnapshotJson.toBytes(s)
      JsonSlice(bytes, 0, bytes.length)
  }
}
