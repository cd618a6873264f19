package iceberglite.tree.manifestlist

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FileFormat,
  ManifestEntry,
  ManifestFile,
  MetricMaps,
  Metrics
}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Sample schemas, partition specs, files and manifest entries. */
object ManifestSamples {
  val schema: Schema = Schema(
    3,
    Vector(
      NestedField.required(1, "id", LongType),
      NestedField.optional(2, "name", StringType),
      NestedField.optional(3, "price", DoubleType)
    )
  )
  val byId: PartitionSpec = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))

  /** Every type that a partition field may have, each with a sample value. */
  val everyType: Vector[(PrimitiveType, Literal)] = Vector(
    BooleanType -> BooleanLiteral(true),
    IntType -> IntLiteral(-7),
    LongType -> LongLiteral(Long.MinValue),
    FloatType -> FloatLiteral(-0.5f),
    DoubleType -> DoubleLiteral(Double.MaxValue),
    DecimalType(9, 2) -> DecimalLiteral(new java.math.BigDecimal("-14.20")),
    DecimalType(38, 10) -> DecimalLiteral(new java.math.BigDecimal("1234567890123456789012345678.0123456789")),
    DateType -> DateLiteral(-1),
    TimeType -> TimeLiteral(86399999999L),
    TimestampType -> TimestampLiteral(-1L),
    TimestampTzType -> TimestampTzLiteral(1510871468123456L),
    TimestampNsType -> TimestampNsLiteral(1510871468123456789L),
    TimestampTzNsType -> TimestampTzNsLiteral(-1510871468123456789L),
    StringType -> StringLiteral("İ€\uD83E\uDDCA"),
    UuidType -> UuidLiteral(UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")),
    FixedType(3) -> FixedLiteral(bytes(0, 1, 255)),
    BinaryType -> BinaryLiteral(bytes(9))
  )
  val wideSchema: Schema = Schema(
    0,
    everyType.zipWithIndex.map { case ((t, _), i) => NestedField.optional(i + 1, s"c$i", t) }
  )
  val wideSpec: PartitionSpec = PartitionSpec(
    4,
    wideSchema.fields.map(f => PartitionField(f.id, 1000 + f.id, s"p-${f.name}", Identity))
  )

  def bytes(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  def text(value: String): ByteBuffer = ByteBuffer.wrap(value.getBytes(UTF_8))

  val metrics: MetricMaps = MetricMaps(
    columnSizes = Some(Map(1 -> 100L, 2 -> 200L)),
    valueCounts = Some(Map(1 -> 10L, 2 -> 10L, 3 -> 10L)),
    nullValueCounts = Some(Map(1 -> 0L, 2 -> 3L, 3 -> 1L)),
    nanValueCounts = Some(Map(3 -> 2L)),
    lowerBounds = Some(Map(1 -> bytes(1, 0, 0, 0, 0, 0, 0, 0), 2 -> text("a"))),
    upperBounds = Some(Map(1 -> bytes(9, 0, 0, 0, 0, 0, 0, 0), 2 -> text("zz")))
  )

  def dataFile(name: String, id: Option[Long] = Some(1L), rows: Long = 10L): ContentFile = ContentFile(
    Content.Data,
    s"file:/wh/db/t/data/$name.parquet",
    FileFormat.Parquet,
    0,
    PartitionTuple(Vector(id.map(LongLiteral(_)))),
    rows,
    1234L,
    metrics,
    splitOffsets = Vector(4L),
    sortOrderId = Some(0)
  )

  def added(file: ContentFile): ManifestEntry = ManifestEntry(EntryStatus.Added, None, None, None, file)

  def existing(file: ContentFile, snapshotId: Long, sequenceNumber: Long): ManifestEntry =
    ManifestEntry(EntryStatus.Existing, Some(snapshotId), Some(sequenceNumber), Some(sequenceNumber), file)

  def deleted(file: ContentFile, snapshotId: Long, sequenceNumber: Long): ManifestEntry =
    existing(file, snapshotId, sequenceNumber).copy(status = EntryStatus.Deleted)

  /** Returns the file with its metrics converted to maps, so that files can be compared with `==`. */
  def comparable(file: ContentFile): ContentFile = file.copy(metrics = maps(file.metrics))

  def maps(m: Metrics): MetricMaps =
    MetricMaps(m.columnSizes, m.valueCounts, m.nullValueCounts, m.nanValueCounts, m.lowerBounds, m.upperBounds)

  /** Returns the manifest with the sequence numbers and the first row id that a commit assigns to it. */
  def committed(manifest: ManifestFile, sequenceNumber: Long, firstRowId: Option[Long] = None): ManifestFile =
    manifest.copy(
      sequenceNumber = sequenceNumber,
      minSequenceNumber =
        if (manifest.minSequenceNumber == Manifests.Unassigned) sequenceNumber else manifest.minSequenceNumber,
      firstRowId = firstRowId
    )
}
