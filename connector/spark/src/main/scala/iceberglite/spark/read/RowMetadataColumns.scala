package iceberglite.spark.read

import org.apache.spark.sql.connector.catalog.MetadataColumn
import org.apache.spark.sql.types.DataType

import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.files.MetadataFields
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.types.NestedField

/**
 * Converts metadata columns to the form that Spark expects from a table. A query can select metadata columns in
 * addition to the table's columns.
 */
object RowMetadataColumns {

  final private case class Column(
      override val name: String,
      override val dataType: DataType,
      override val isNullable: Boolean,
      override val comment: String
  ) extends MetadataColumn

  def of(table: TableMetadata): Array[MetadataColumn] = of(MetadataFields.of(table))

  def of(fields: Vector[NestedField]): Array[MetadataColumn] = fields.map { field =>
    Column(field.name, SparkTypes.toSpark(field.fieldType), field.optional, field.doc.getOrElse(field.name))
  }.toArray
}
