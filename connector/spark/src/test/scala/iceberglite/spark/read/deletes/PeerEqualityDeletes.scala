package iceberglite.spark.read.deletes

import scala.collection.JavaConverters._

import org.apache.iceberg.{FileFormat, PartitionSpec, StructLike, Table}
import org.apache.iceberg.data.{GenericFileWriterFactory, GenericRecord, Record}
import org.apache.iceberg.io.OutputFileFactory
import org.apache.iceberg.spark.Spark3Util
import org.apache.iceberg.types.Types
import org.apache.spark.sql.SparkSession

/**
 * Commits equality deletes with Apache Iceberg's generic writers, as Flink does, because no statement of Apache Iceberg
 * in Spark writes equality deletes.
 */
final class PeerEqualityDeletes(spark: SparkSession, name: String) {
  private val table: Table = Spark3Util.loadIcebergTable(spark, name)

  /**
   * Commits one equality delete file.
   *
   * @param columns full names of the columns, for example `a.b` for the field `b` of the struct `a`
   * @param partition the values of the partition fields; empty for an unpartitioned table
   * @param rows the values of the columns, with the Java classes that Apache Iceberg's generic records use
   */
  def commit(
      columns: Seq[String],
      format: FileFormat = FileFormat.PARQUET,
      specId: Int = table.spec.specId,
      partition: Seq[Any] = Nil
  )(rows: Seq[Any]*): Unit = {
    val spec = table.specs.get(specId)
    val ids = columns.map(table.schema.findField(_).fieldId)
    val schema = table.schema.select(columns.asJava)
    val factory = new GenericFileWriterFactory.Builder(table).dataSchema(table.schema).dataFileFormat(format)
      .deleteFileFormat(format).equalityFieldIds(ids.toArray).equalityDeleteRowSchema(schema).build()
    val output = OutputFileFactory.builderFor(table, 1, System.nanoTime()).format(format).build()
    val key = keyOf(spec, partition)
    val file = if (partition.isEmpty) output.newOutputFile() else output.newOutputFile(spec, key)
    val writer = factory.newEqualityDeleteWriter(file, spec, key)
    try rows.foreach(row => writer.write(record(schema.asStruct, columns.zip(row))))
    finally writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile).commit()
  }

  private def keyOf(spec: PartitionSpec, values: Seq[Any]): StructLike =
    if (values.isEmpty) null
    else {
      val key = GenericRecord.create(spec.partitionType)
      values.zipWithIndex.foreach { case (value, i) => key.set(i, value) }
      key
    }

  private def record(struct: Types.StructType, values: Seq[(String, Any)]): Record = {
    val record = GenericRecord.create(struct)
    values.groupBy(_._1.takeWhile(_ != '.')).foreach { case (column, columnValues) =>
      val t = struct.field(column).`type`
      if (t.isPrimitiveType) record.setField(column, columnValues.head._2)
      else {
        val parts = columnValues.map { case (name, value) => name.drop(column.length + 1) -> value }
        record.setField(column, this.record(t.asStructType, parts))
      }
    }
    record
  }
}
