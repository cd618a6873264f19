package iceberglite.bench

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.partition.{Day, PartitionField, PartitionSpec, PartitionTuple, SortOrder}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.DateLiteral
import iceberglite.spec.types.Type._
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate._

/**
 * The table that the benchmarks of both libraries use: events that are partitioned by day. Each file has metrics of
 * twelve columns.
 */
object Sample {
  val schema: Schema = Schema(
    0,
    Vector(
      NestedField.required(1, "id", LongType),
      NestedField.required(2, "ts", TimestampTzType),
      NestedField.optional(3, "name", StringType),
      NestedField.optional(4, "price", DoubleType)
    ) ++ (5 to 12).map(i => NestedField.optional(i, s"c$i", if (i % 2 == 0) LongType else StringType))
  )
  val spec: PartitionSpec = PartitionSpec(0, Vector(PartitionField(2, 1000, "ts_day", Day)))

  private val MicrosPerDay = 86400L * 1000000
  val FilesPerDay = 100
  private val RowsPerFile = 100000L

  def day(file: Int): Int = 18000 + file / FilesPerDay

  /** Returns the beginning of the day of the file with the given number, in microseconds since 1970. */
  def micros(file: Int): Long = day(file) * MicrosPerDay

  def path(file: Int): String =
    f"s3://warehouse/db/events/data/ts_day=${day(file)}/" +
      f"00000-$file%07d-6a2b5e5c-3f0e-4b0e-9a51-2f6d1c0e8b7a-00001.parquet"

  def lower(column: NestedField, file: Int): ByteBuffer = bound(column, file, 0L)

  def upper(column: NestedField, file: Int): ByteBuffer = bound(column, file, RowsPerFile - 1)

  private def bound(column: NestedField, file: Int, offset: Long): ByteBuffer = column.fieldType match {
    case TimestampTzType => long(micros(file) + offset)
    case DoubleType => long(java.lang.Double.doubleToLongBits(file + offset.toDouble / RowsPerFile))
    case StringType => ByteBuffer.wrap(f"name-$file%08d-$offset".take(16).getBytes(UTF_8))
    case _ => long(file * RowsPerFile + offset)
  }

  private def long(value: Long): ByteBuffer = {
    val bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN)
    bytes.putLong(0, value)
    bytes
  }

  /** Returns the updates that create a version 2 table. The schema and the partition spec keep their field ids. */
  def creation(
      uuid: UUID,
      location: String,
      schema: Schema = schema,
      spec: PartitionSpec = spec
  ): Vector[MetadataUpdate] = Vector(
    AssignUuid(uuid),
    UpgradeFormatVersion(FormatVersion.V2),
    AddSchema(schema, schema.highestFieldId),
    SetCurrentSchema(LastAdded),
    AddPartitionSpec(spec),
    SetDefaultSpec(LastAdded),
    AddSortOrder(SortOrder.Unsorted),
    SetDefaultSortOrder(LastAdded),
    SetLocation(location)
  )

  val rows: Long = RowsPerFile

  val length: Long = 48L << 20

  val columnSize: Long = 4L << 20

  def file(i: Int): ContentFile = {
    val counts = schema.fields.map(_.id -> RowsPerFile).toMap
    ContentFile(
      Content.Data,
      path(i),
      FileFormat.Parquet,
      spec.specId,
      PartitionTuple(Vector(Some(DateLiteral(day(i))))),
      RowsPerFile,
      length,
      MetricMaps(
        columnSizes = Some(schema.fields.map(_.id -> columnSize).toMap),
        valueCounts = Some(counts),
        nullValueCounts = Some(counts.map { case (id, _) => id -> 0L }),
        nanValueCounts = Some(Map(4 -> 0L)),
        lowerBounds = Some(schema.fields.map(f => f.id -> lower(f, i)).toMap),
        upperBounds = Some(schema.fields.map(f => f.id -> upper(f, i)).toMap)
      ),
      splitOffsets = Vector(4L, 4L + (24L << 20))
    )
  }
}
