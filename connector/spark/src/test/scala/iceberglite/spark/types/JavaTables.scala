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

/** Tables created and filled with Apache Iceberg's Java library, because SQL has no names for some types. */
trait JavaTables extends SharedSession { self: Suite =>

  /** @param table the name in our catalog `lite` */
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

  /** @param partition the partition of the rows; none if the table is unpartitioned */
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
