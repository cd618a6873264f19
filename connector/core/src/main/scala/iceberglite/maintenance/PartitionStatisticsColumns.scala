package iceberglite.maintenance

import iceberglite.data.{Record, RecordValues}
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue.OfPrimitive
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type.{IntType, LongType, StructType}

/** The columns of a partition statistics file (spec: "Partition Statistics File"). */
private[maintenance] object PartitionStatisticsColumns {

  /**
   * A column of the file.
   *
   * @param requiredFrom the first format version in which the column is required; absent if it is always optional
   * @param since the first format version in which the column exists
   * @param value returns the value to write, or an `Option` of it
   */
  final private case class Column(
      id: Int,
      name: String,
      columnType: Type,
      requiredFrom: Option[FormatVersion],
      since: FormatVersion,
      doc: String,
      value: PartitionStatistics => Any
  ) {
    def field(version: FormatVersion): NestedField = {
      val required = requiredFrom.exists(version >= _)
      // Files of older versions do not have the column. The default is 0, because deletion vectors, which the column
      // counts, do not exist in these versions.
      val default = if (since > V1) Some(OfPrimitive(IntLiteral(0))) else None
      NestedField(id, name, columnType, required, Some(doc), initialDefault = default, writeDefault = default)
    }
  }

  private val PartitionId = 1
  private val PartitionName = "partition"
  private val PartitionDoc = "Partition tuple, by the unified partition type"

  private val measures: Vector[Column] = Vector(
    Column(2, "spec_id", IntType, Some(V1), V1, "Partition spec id", _.specId),
    Column(3, "data_record_count", LongType, Some(V1), V1, "Records in data files", _.dataRecordCount),
    Column(4, "data_file_count", IntType, Some(V1), V1, "Data files", _.dataFileCount),
    Column(
      5,
      "total_data_file_size_in_bytes",
      LongType,
      Some(V1),
      V1,
      "Bytes of data files",
      _.totalDataFileSizeInBytes
    ),
    Column(
      6,
      "position_delete_record_count",
      LongType,
      Some(V3),
      V1,
      "Records in position delete files and deletion vectors",
      _.positionDeleteRecordCount
    ),
    Column(
      7,
      "position_delete_file_count",
      IntType,
      Some(V3),
      V1,
      "Position delete files, without deletion vectors",
      _.positionDeleteFileCount
    ),
    Column(
      8,
      "equality_delete_record_count",
      LongType,
      Some(V3),
      V1,
      "Records in equality delete files",
      _.equalityDeleteRecordCount
    ),
    Column(9, "equality_delete_file_count", IntType, Some(V3), V1, "Equality delete files", _.equalityDeleteFileCount),
    Column(10, "total_record_count", LongType, None, V1, "Records after all deletes", _.totalRecordCount),
    Column(
      11,
      "last_updated_at",
      LongType,
      None,
      V1,
      "When the partition was last updated, in milliseconds since the epoch",
      _.lastUpdatedAt
    ),
    Column(
      12,
      "last_updated_snapshot_id",
      LongType,
      None,
      V1,
      "The snapshot that last updated the partition",
      _.lastUpdatedSnapshotId
    ),
    Column(13, "dv_count", IntType, Some(V3), V3, "Deletion vectors", _.dvCount)
  )

  /** Returns the columns of a file for a table of the given format version. */
  def schema(unified: StructType, version: FormatVersion): Schema = Schema(
    0,
    NestedField.required(PartitionId, PartitionName, unified, PartitionDoc) +: columnsOf(version).map(_.field(version))
  )

  /** Returns the columns to read from a file of any version. */
  def readColumns(unified: StructType): StructType = StructType(
    NestedField.required(PartitionId, PartitionName, unified, PartitionDoc) +:
      measures.map(c => if (c.since > V1) c.field(V3) else c.field(V2))
  )

  private def columnsOf(version: FormatVersion): Vector[Column] = measures.filter(version >= _.since)

  /** Returns a row of a file with the columns of [[schema]]. */
  def record(row: PartitionStatistics, unified: StructType, version: FormatVersion): Record = {
    val partition = row.partition.zip(unified.fields).map {
      case (Some(value), NestedField(_, _, t: PrimitiveType, _, _, _, _)) => RecordValues.primitive(value, t)
      case _ => null
    }
    val values = columnsOf(version).map(_.value(row) match {
      case Some(value) => value
      case None => null
      case value => value
    })
    Record.of(new Record(partition.toArray) +: values: _*)
  }

  /**
   * Converts a row that was read with [[readColumns]].
   *
   * @throws UnreadableFile if the row has no value in a column that is required in all versions
   */
  def statistics(record: Record, unified: StructType, file: String): PartitionStatistics = {
    def int(id: Int): Option[Int] = Option(record(id - 1)).map { case v: Integer => v.intValue }
    def long(id: Int): Option[Long] = Option(record(id - 1)).map { case v: java.lang.Long => v.longValue }
    def requireValue[A](id: Int, value: Option[A]): A = value.getOrElse(
      throw UnreadableFile(file, "partition statistics", s"A row has no ${measures.find(_.id == id).fold("")(_.name)}")
    )
    val partition = record(0) match {
      case tuple: Record => unified.fields.indices.map(i => literal(tuple(i), unified.fields(i))).toVector
      case _ => throw UnreadableFile(file, "partition statistics", s"A row has no $PartitionName")
    }
    PartitionStatistics(
      partition,
      requireValue(2, int(2)),
      requireValue(3, long(3)),
      requireValue(4, int(4)),
      requireValue(5, long(5)),
      long(6),
      int(7),
      long(8),
      int(9),
      long(10),
      long(11),
      long(12),
      int(13).getOrElse(0)
    )
  }

  private def literal(value: AnyRef, field: NestedField): Option[Literal] = field.fieldType match {
    case t: PrimitiveType => RecordValues.literal(value, t)
    case _: NestedType => None
  }
}
