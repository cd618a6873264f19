package iceberglite.tree

import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/**
 * The fields of the structs `manifest_entry` and `data_file` (spec: "Manifests"). Manifests and metadata tables have
 * these fields. In manifests, the format version determines which fields are present and which are required. In
 * metadata tables, a field is required if every row has a value.
 */
private[iceberglite] object DataFileFields {

  /** The field id of the elements of [[SplitOffsets]]. */
  val SplitOffsetId = 133

  /** The field id of the elements of [[EqualityIds]]. */
  val EqualityIdId = 136

  /** A map of metrics by field id. @param keyId the field id of the keys @param valueId the field id of the values */
  final case class ByColumn(id: Int, name: String, keyId: Int, valueId: Int, value: PrimitiveType, doc: String) {
    def field: NestedField = optional(id, name, MapType(keyId, IntType, valueId, value, valueRequired = true), doc)
  }

  val Status: NestedField = required(0, "status", IntType, "0: existing, 1: added, 2: deleted")
  val SnapshotId: NestedField = optional(1, "snapshot_id", LongType, "The snapshot that added or deleted the file")
  val SequenceNumber: NestedField = optional(3, "sequence_number", LongType, "Data sequence number")
  val FileSequenceNumber: NestedField = optional(4, "file_sequence_number", LongType, "File sequence number")

  /** Returns the field `data_file` of `manifest_entry`. @param file the fields of `data_file` */
  def dataFile(file: StructType): NestedField = required(2, "data_file", file, "The file")

  val Content: NestedField = optional(134, "content", IntType, "0: data, 1: position deletes, 2: equality deletes")
  val FilePath: NestedField = required(100, "file_path", StringType, "Location, with scheme")
  val FileFormat: NestedField = required(101, "file_format", StringType, "avro, orc, parquet or puffin")

  /**
   * Returns the field `partition` of `data_file`.
   *
   * @param tuple the partition type of one partition spec, or the unified partition type of all partition specs
   */
  def partition(tuple: StructType): NestedField = required(102, "partition", tuple, "Partition tuple")

  val RecordCount: NestedField = required(103, "record_count", LongType, "Number of rows")
  val FileSize: NestedField = required(104, "file_size_in_bytes", LongType, "Size of the file in bytes")
  val ColumnSizes: ByColumn = ByColumn(108, "column_sizes", 117, 118, LongType, "Size on disk in bytes, by column id")
  val ValueCounts: ByColumn =
    ByColumn(109, "value_counts", 119, 120, LongType, "Number of values, including null and NaN, by column id")
  val NullValueCounts: ByColumn =
    ByColumn(110, "null_value_counts", 121, 122, LongType, "Number of null values, by column id")
  val NanValueCounts: ByColumn =
    ByColumn(137, "nan_value_counts", 138, 139, LongType, "Number of NaN values, by column id")
  val LowerBounds: ByColumn = ByColumn(125, "lower_bounds", 126, 127, BinaryType, "Lower bounds by column id")
  val UpperBounds: ByColumn = ByColumn(128, "upper_bounds", 129, 130, BinaryType, "Upper bounds by column id")
  val KeyMetadata: NestedField = optional(131, "key_metadata", BinaryType, "Encryption key metadata")
  val SplitOffsets: NestedField =
    optional(132, "split_offsets", listOf(SplitOffsetId, LongType), "Offsets at which the file can be split")
  val EqualityIds: NestedField =
    optional(135, "equality_ids", listOf(EqualityIdId, IntType), "Columns that equality deletes compare")
  val SortOrderId: NestedField = optional(140, "sort_order_id", IntType, "Id of the sort order")
  val FirstRowId: NestedField = optional(142, "first_row_id", LongType, "Row id of the first row")
  val ReferencedDataFile: NestedField =
    optional(143, "referenced_data_file", StringType, "The data file to which all deletes in the file apply")
  val ContentOffset: NestedField = optional(144, "content_offset", LongType, "Offset at which the content begins")
  val ContentSize: NestedField = optional(145, "content_size_in_bytes", LongType, "Size of the content in bytes")

  /**
   * The field with the id of the partition spec. Only metadata tables have this field. The specification reserves the
   * field id 141 for it, and manifests do not contain it.
   */
  val SpecId: NestedField = optional(141, "spec_id", IntType, "Id of the partition spec")

  private def listOf(elementId: Int, element: PrimitiveType): ListType =
    ListType(elementId, element, elementRequired = true)
}
