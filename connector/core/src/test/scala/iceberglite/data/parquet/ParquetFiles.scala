package iceberglite.data.parquet

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.schema.MessageTypeParser

import iceberglite.data.{DataSource, DataTarget, Record, WrittenFile}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}

/** Reads and writes Parquet files with this library, and writes files of other writers with Parquet's own writer. */
trait ParquetFiles { self: TemporaryDirectory =>
  protected val io = new HadoopFileIO(new Configuration(false))

  protected def newPath(): String = s"$directory/${UUID.randomUUID}.parquet"

  protected def schemaOf(fields: NestedField*): Schema = Schema(0, fields.toVector)

  protected def full(schema: Schema): MetricsModes = MetricsModes(schema.byId.map { case (id, _) =>
    id -> MetricsMode.Full
  })

  protected def write(schema: Schema, rows: Seq[Record], properties: Map[String, String] = Map.empty): WrittenFile = {
    val writer = ParquetData.write(DataTarget(io, newPath(), schema, properties, full(schema)))
    rows.foreach(writer.write)
    writer.close()
  }

  protected def read(
      path: String,
      projection: Schema,
      constants: Map[Int, AnyRef] = Map.empty,
      mapping: Option[NameMapping] = None
  ): Vector[Record] = readStruct(DataSource(io, path, 0, mapping, constants), projection.asStruct)

  protected def readStruct(source: DataSource, projection: StructType): Vector[Record] = {
    val rows = ParquetData.read(source, projection)
    try rows.toVector
    finally rows.close()
  }

  /** Writes a file with Parquet's own writer, and returns its path. Each function fills the fields of one row. */
  protected def writeForeign(schema: String)(rows: (Group => Any)*): String = {
    val path = newPath()
    val message = MessageTypeParser.parseMessageType(s"message m { $schema }")
    val writer =
      ExampleParquetWriter.builder(new Path(path)).withType(message).withConf(new Configuration(false)).build()
    val groups = new SimpleGroupFactory(message)
    rows.foreach { fill =>
      val group = groups.newGroup()
      fill(group)
      writer.write(group)
    }
    writer.close()
    path
  }
}
