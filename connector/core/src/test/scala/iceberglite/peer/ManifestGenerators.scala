package iceberglite.peer

import java.nio.ByteBuffer

import org.scalacheck.Gen

import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.ExpressionGenerators
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FieldSummary,
  FileFormat,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  MetricMaps
}
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  PartitionField,
  PartitionSpec,
  PartitionTuple,
  Transform,
  Truncate,
  Void,
  Year
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type._

/** Generates random partition specs, files, manifest entries and manifests. */
object ManifestGenerators {
  val SnapshotId = 4711L
  val schema: Schema = Schema(3, ExpressionGenerators.columns)

  /**
   * Returns the transforms that accept the type. Identity on `fixed` is excluded: Apache Iceberg 1.12 writes a length
   * before such a partition value, which contradicts the Avro schema of the manifest.
   */
  private def transforms(t: PrimitiveType): Seq[Transform] = Seq(Void) ++ identity(t) ++ (t match {
    case BooleanType | FloatType | DoubleType => Seq.empty
    case DateType => Seq(Bucket(7), Year, Month, Day)
    case TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      Seq(Bucket(7), Year, Month, Day, Hour)
    case IntType | LongType | _: DecimalType | StringType | BinaryType => Seq(Bucket(7), Truncate(3))
    case _ => Seq(Bucket(7))
  })

  private def identity(t: PrimitiveType): Seq[Transform] = t match {
    case _: FixedType => Seq.empty
    case _ => Seq(Identity)
  }

  private val partitionField: Gen[(Int, Transform)] = for {
    (t, column) <- Gen.oneOf(ExpressionGenerators.types.zip(ExpressionGenerators.columns))
    transform <- Gen.oneOf(transforms(t))
  } yield (column.id, transform)

  /**
   * Generates partition specs with at most one field per column. The names of the fields contain characters that are
   * invalid in Avro names.
   */
  def spec(id: Int): Gen[PartitionSpec] = Gen.choose(0, 4).flatMap(Gen.listOfN(_, partitionField)).map { parts =>
    val fields = parts.groupBy(_._1).map(_._2.head).toVector.zipWithIndex.map { case ((source, transform), i) =>
      PartitionField(source, 1000 + i * 2, s"$i.c$source/${transform.toString.take(3)}é", transform)
    }
    PartitionSpec(id, fields)
  }

  private def tuple(spec: PartitionSpec): Gen[PartitionTuple] = {
    val values = spec.partitionType(schema).fields.zip(spec.fields).map { case (f, p) =>
      f.fieldType match {
        case _ if p.transform == Void => Gen.const(Option.empty[Literal])
        case t: PrimitiveType => Gen.option(ExpressionGenerators.value(t))
        case other => throw new IllegalStateException(other.toString)
      }
    }
    values.foldLeft(Gen.const(Vector.empty[Option[Literal]]))((all, g) => Gen.zip(all, g).map { case (a, v) => a :+ v })
      .map(PartitionTuple(_))
  }

  private val count: Gen[Long] = Gen.oneOf(Gen.choose(0L, 100L), Gen.choose(0L, Long.MaxValue))
  private val bytes: Gen[ByteBuffer] =
    Gen.choose(0, 20).flatMap(Gen.listOfN(_, Gen.choose(-128, 127))).map(b => ByteBuffer.wrap(b.map(_.toByte).toArray))

  private def map[V](value: Gen[V]): Gen[Option[Map[Int, V]]] = {
    val key = Gen.oneOf(Gen.choose(1, 40), Gen.oneOf(2147483546, 2147483545))
    Gen.option(Gen.choose(1, 20).flatMap(Gen.listOfN(_, Gen.zip(key, value))).map(_.toMap))
  }

  private val metrics: Gen[MetricMaps] = for {
    sizes <- map(count)
    values <- map(count)
    nulls <- map(count)
    nans <- map(count)
    lower <- map(bytes)
    upper <- map(bytes)
  } yield MetricMaps(sizes, values, nulls, nans, lower, upper)

  private def anyFile(spec: PartitionSpec): Gen[ContentFile] =
    for {
      name <- Gen.identifier
      format <- Gen.oneOf[FileFormat](FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro)
      partition <- tuple(spec)
      rows <- Gen.choose(0L, 1000000L)
      size <- Gen.choose(1000L, 1L << 40)
      fileMetrics <- metrics
      key <- Gen.option(bytes.suchThat(_.hasRemaining))
      offsets <- Gen.oneOf(Vector.empty[Long], Vector(4L), Vector(4L, 500L), Vector(3L, 17L, 999L))
    } yield ContentFile(
      Content.Data,
      s"s3://bucket/data/$name-é.${format.name}",
      format,
      spec.specId,
      partition,
      rows,
      size,
      fileMetrics,
      keyMetadata = key,
      splitOffsets = offsets
    )

  def dataFile(spec: PartitionSpec): Gen[ContentFile] =
    Gen.zip(anyFile(spec), Gen.choose(0, 5)).map { case (file, order) => file.copy(sortOrderId = Some(order)) }

  def deleteFile(spec: PartitionSpec, version: FormatVersion): Gen[ContentFile] = for {
    file <- anyFile(spec)
    equality <- Gen.oneOf(true, false)
    ids <- Gen.choose(1, 3).flatMap(Gen.pick(_, 1 to 16))
    target <- Gen.option(Gen.identifier.map(n => s"s3://bucket/data/$n.parquet"))
    blob <- Gen.zip(Gen.choose(4L, 1L << 40), Gen.choose(1L, 1L << 30))
  } yield {
    if (equality) file.copy(content = Content.EqualityDeletes, equalityIds = ids.toVector, sortOrderId = Some(0))
    else if (version < FormatVersion.V3) file.copy(content = Content.PositionDeletes, referencedDataFile = target)
    else file.copy(
      content = Content.PositionDeletes,
      format = FileFormat.Puffin,
      path = file.path + ".puffin",
      splitOffsets = Vector.empty,
      referencedDataFile = Some(target.getOrElse("s3://bucket/data/a.parquet")),
      contentOffset = Some(blob._1),
      contentSizeInBytes = Some(blob._2)
    )
  }

  /**
   * Generates entries as they are before a manifest is written. Numbers that a reader will inherit (specification,
   * "Sequence Number Inheritance") are absent. Entries with the status EXISTING or DELETED have both sequence numbers.
   */
  def entry(file: ContentFile, version: FormatVersion): Gen[ManifestEntry] = for {
    status <- Gen.oneOf(EntryStatus.all)
    snapshot <- Gen.choose(1L, 9000L)
    numbers <- Gen.zip(Gen.choose(0L, 20L), Gen.choose(0L, 20L))
    olderNumber <- Gen.option(Gen.choose(0L, 20L))
    rowId <- if (version >= FormatVersion.V3 && file.content == Content.Data) Gen.option(Gen.choose(0L, 5000L))
    else Gen.const(None)
  } yield {
    val numbered = version > FormatVersion.V1
    status match {
      case EntryStatus.Added =>
        ManifestEntry(status, Some(SnapshotId), olderNumber.filter(_ => numbered), None, file)
      case EntryStatus.Existing | EntryStatus.Deleted =>
        val snapshotId = if (status == EntryStatus.Deleted) SnapshotId else snapshot
        val (dataNumber, fileNumber) = if (numbered) (numbers._1, numbers._2) else (0L, 0L)
        ManifestEntry(status, Some(snapshotId), Some(dataNumber), Some(fileNumber), file.copy(firstRowId = rowId))
    }
  }

  def entries(spec: PartitionSpec, content: ManifestContent, version: FormatVersion): Gen[Vector[ManifestEntry]] = {
    val file = if (content == ManifestContent.Data) dataFile(spec) else deleteFile(spec, version)
    Gen.choose(0, 12).flatMap(Gen.listOfN(_, file.flatMap(entry(_, version)))).map(_.toVector)
  }

  private val summary: Gen[FieldSummary] = for {
    nulls <- Gen.oneOf(true, false)
    nan <- Gen.option(Gen.oneOf(true, false))
    lower <- Gen.option(bytes)
    upper <- Gen.option(bytes)
  } yield FieldSummary(nulls, nan, lower, upper)

  /** Generates entries of a manifest list, with sequence numbers and row ids only if the format version has them. */
  def manifest(version: FormatVersion): Gen[ManifestFile] = for {
    name <- Gen.identifier
    specId <- Gen.choose(0, 9)
    deletes <- Gen.oneOf(true, false)
    numbers <- Gen.zip(Gen.choose(0L, 50L), Gen.choose(0L, 50L))
    snapshot <- Gen.choose(1L, Long.MaxValue)
    files <- Gen.listOfN(3, Gen.choose(0, 1000))
    rows <- Gen.listOfN(3, Gen.choose(0L, 1000000L))
    partitions <- Gen.option(Gen.choose(0, 3).flatMap(Gen.listOfN(_, summary)).map(_.toVector))
    rowId <- Gen.option(Gen.choose(0L, 100000L))
  } yield {
    val isData = version == FormatVersion.V1 || !deletes
    ManifestFile(
      s"s3://bucket/metadata/$name.avro",
      rows.sum,
      specId,
      if (isData) ManifestContent.Data else ManifestContent.Deletes,
      if (version == FormatVersion.V1) 0L else math.max(numbers._1, numbers._2),
      if (version == FormatVersion.V1) 0L else math.min(numbers._1, numbers._2),
      snapshot,
      Some(files(0)),
      Some(files(1)),
      Some(files(2)),
      Some(rows(0)),
      Some(rows(1)),
      Some(rows(2)),
      partitions,
      firstRowId = rowId.filter(_ => version >= FormatVersion.V3 && isData)
    )
  }
}
