package iceberglite.inspect

import java.util.Locale

import iceberglite.spec.file.ContentFile
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/** The columns of metadata tables that describe a data or delete file (spec: `data_file`). */
final private[inspect] class ContentFileColumns(partition: PartitionStruct) {
  import ContentFileColumns._

  private val columns: Vector[Column] =
    if (partition.isEmpty) head ++ measures
    else {
      val struct = NestedField.required(102, "partition", partition.structType, "Partition, with fields of all specs")
      (head :+ Column(struct, f => partition.row(f.specId, f.partition))) ++ measures
    }

  val fields: Vector[NestedField] = columns.map(_.field)

  def values(file: ContentFile): Vector[Any] = columns.map(_.value(file))
}

private[inspect] object ContentFileColumns {
  final private case class Column(field: NestedField, value: ContentFile => Any)

  private val head: Vector[Column] = Vector(
    Column(
      NestedField.optional(134, "content", IntType, "0: data, 1: position deletes, 2: equality deletes"),
      f => Some(f.content.code)
    ),
    Column(NestedField.required(100, "file_path", StringType, "Location, with scheme"), _.path),
    // The format is in upper case, as in the metadata tables of Apache Iceberg.
    Column(
      NestedField.required(101, "file_format", StringType, "avro, orc, parquet or puffin"),
      _.format.name.toUpperCase(Locale.ROOT)
    ),
    Column(NestedField.optional(141, "spec_id", IntType, "Id of the partition spec"), f => Some(f.specId))
  )

  private val measures: Vector[Column] = Vector(
    Column(NestedField.required(103, "record_count", LongType, "Number of rows"), _.recordCount),
    Column(NestedField.required(104, "file_size_in_bytes", LongType, "Size of the file in bytes"), _.fileSizeInBytes),
    counts(108, "column_sizes", 117, 118, "Size on disk in bytes, by column id")(_.metrics.columnSizes),
    counts(109, "value_counts", 119, 120, "Number of values, including including null and NaN, by column id")(
      _.metrics.valueCounts
    ),
    counts(110, "null_value_counts", 121, 122, "Number of null values, by column id")(_.metrics.nullValueCounts),
    counts(137, "nan_value_counts", 138, 139, "Number of NaN values, by column id")(_.metrics.nanValueCounts),
    Column(bytesById(125, "lower_bounds", 126, 127, "Lower bounds by column id"), _.metrics.lowerBounds),
    Column(bytesById(128, "upper_bounds", 129, 130, "Upper bounds by column id"), _.metrics.upperBounds),
    Column(NestedField.optional(131, "key_metadata", BinaryType, "Encryption key metadata"), _.keyMetadata),
    Column(
      listOf(132, "split_offsets", 133, LongType, "Offsets at which the file can be split"),
      f => Some(f.splitOffsets).filter(_.nonEmpty)
    ),
    Column(
      listOf(135, "equality_ids", 136, IntType, "Columns that equality deletes compare"),
      f => Some(f.equalityIds).filter(_.nonEmpty)
    ),
    Column(NestedField.optional(140, "sort_order_id", IntType, "Id of the sort order"), _.sortOrderId),
    Column(NestedField.optional(142, "first_row_id", LongType, "Row id of the first row"), _.firstRowId),
    Column(
      NestedField.optional(
        143,
        "referenced_data_file",
        StringType,
        "The data file to which all deletes in the file apply"
      ),
      _.referencedDataFile
    ),
    Column(
      NestedField.optional(144, "content_offset", LongType, "Offset at which the content begins"),
      _.contentOffset
    ),
    Column(
      NestedField.optional(145, "content_size_in_bytes", LongType, "Size of the content in bytes"),
      _.contentSizeInBytes
    )
  )

  private def listOf(id: Int, name: String, elementId: Int, element: PrimitiveType, doc: String): NestedField =
    NestedField.optional(id, name, ListType(elementId, element, elementRequired = true), doc)

  private def counts(id: Int, name: String, key: Int, value: Int, doc: String)(get: ContentFile => Any): Column =
    Column(NestedField.optional(id, name, MapType(key, IntType, value, LongType, valueRequired = true), doc), get)

  private def bytesById(id: Int, name: String, key: Int, value: Int, doc: String): NestedField =
    NestedField.optional(id, name, MapType(key, IntType, value, BinaryType, valueRequired = true), doc)

  /** Returns a generator of field ids that are greater than the ids of all given fields. */
  def idsAbove(fields: Vector[NestedField]): () => Int = {
    var last = Schema.fieldsOf(StructType(fields)).map(_.id).max
    () => {
      last += 1
      last
    }
  }
}
