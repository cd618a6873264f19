package iceberglite.spec.json

import java.io.OutputStream

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.Snapshot

/** Writes the snapshots of a table as JSON. Each snapshot is serialized once. Later writes copy the cached bytes. */
private[json] object SnapshotsWriter {

  /** Writes the snapshots as an array. The caller must already have written the key of the array. */
  def write(snapshots: Vector[Snapshot], out: JsonGenerator): Unit = out.getOutputTarget match {
    case bytes: OutputStream =>
      // An empty value makes the generator write the colon after the key. Then the array is written directly to the
      // output of the generator.
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
      val json = s.cachedJson.getOrRender(SnapshotJson.toBytes(s))
      out.write(json.bytes, json.from, json.until - json.from)
    }
    out.write(']')
  }
}
