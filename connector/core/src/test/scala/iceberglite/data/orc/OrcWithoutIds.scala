package iceberglite.data.orc

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.{OrcFile, TypeDescription}

import iceberglite.data.Record
import iceberglite.spec.schema.Schema

/** Writes ORC files without Iceberg field ids. */
object OrcWithoutIds {
  def write(path: String, schema: Schema, rows: Seq[Record]): Unit = {
    val orc = OrcSchemas.of(schema)
    dropIds(orc)
    val options = OrcFile.writerOptions(new Configuration(false)).setSchema(orc).useUTCTimestamp(true)
    val writer = OrcFile.createWriter(new Path(path), options)
    val batch = orc.createRowBatch(math.max(1, rows.size))
    val fields = OrcSinks.of(schema, batch.cols)
    rows.foreach { row =>
      fields.put(row.values, batch.size)
      batch.size += 1
    }
    writer.addRowBatch(batch)
    writer.close()
  }

  private def dropIds(t: TypeDescription): Unit = {
    t.removeAttribute(OrcSchemas.IdKey)
    t.removeAttribute(OrcSchemas.RequiredKey)
    Option(t.getChildren).foreach(_.asScala.foreach(dropIds))
  }
}
