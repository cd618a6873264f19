package iceberglite.spark.types

import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.catalog.TableIdentifier
import org.apache.iceberg.data.{GenericRecord, Record => PeerRecord}
import org.apache.iceberg.data.parquet.GenericParquetWriter
import org.apache.iceberg.hadoop.HadoopCatalog
import org.apache.iceberg.parquet.{Parquet, VariantShreddingFunction}
import org.apache.iceberg.{DataFile => PeerDataFile}
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema, StructLike, Table => PeerTable}
import org.apache.parquet.schema.{MessageType => _}
import org.scalatest.Suite

import iceberglite.spark.SharedSession

/** Creates and fills tables with Apache Iceberg's Java library, for columns whose types have no name in SQL. */
trait JavaTables extends SharedSession { self: Suite =>

  /** Creates a table. @param table the table name in the catalog `lite`, with catalog and namespace */
  protected def javaTable(
      table: String,
      schema: PeerSchema,
      spec: PeerSchema => PeerSpec = _ => PeerSpec.unpartitioned,
      properties: Map[String, String] = Map("format-version" -> "3")
  ): PeerTable = {
    val parts = table.split('.')
    val id = TableIdentifier.of(parts(1), parts(2))
    JavaTables.catalog.createTable(id, schema, spec(schema), properties.asJava)
  }

  protected def loaded(table: String): PeerTable = {
    val parts = table.split('.')
    JavaTables.catalog.loadTable(TableIdentifier.of(parts(1), parts(2)))
  }

  /** Appends rows in one file. @param partition the partition of the rows, or `None` for an unpartitioned table */
  protected def append(
      table: PeerTable,
      rows: Seq[Seq[Any]],
      partition: Option[StructLike] = None,
      shredding: Option[VariantShreddingFunction] = None
  ): PeerDataFile = {
    val output = table.io.newOutputFile(s"${table.location}/data/${UUID.randomUUID}.parquet")
    val builder = Parquet.writeData(output).schema(table.schema).withSpec(table.spec).createWriterFunc((schema, file) =>
      GenericParquetWriter.create(schema, file)
    )
    partition.foreach(builder.withPartition)
    shredding.foreach(builder.variantShreddingFunc)
    val writer = builder.build[PeerRecord]()
    try rows.foreach(row => writer.write(record(table.schema, row)))
    finally writer.close()
    table.newAppend().appendFile(writer.toDataFile).commit()
    writer.toDataFile
  }

  protected def record(schema: PeerSchema, values: Seq[Any]): PeerRecord = {
    val record = GenericRecord.create(schema)
    values.zipWithIndex.foreach { case (value, i) => record.set(i, value) }
    record
  }
}

private[iceberglite] object JavaTables {
  lazy val catalog = new HadoopCatalog(new Configuration(), SharedSession.warehouse.toUri.toString)
}
