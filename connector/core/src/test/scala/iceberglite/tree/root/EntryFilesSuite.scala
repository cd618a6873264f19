package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._
import iceberglite.tree.manifestlist.ManifestSamples
import iceberglite.tree.root.RootSamples.{columnsOf, existing}

/** Tests [[EntryFiles]], which converts manifest entries of versions 1 to 3 to entries of version 4 and back. */
class EntryFilesSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(
      optional(1, "id", LongType),
      optional(2, "name", StringType),
      optional(3, "price", DoubleType),
      optional(4, "day", TimestampType)
    )
  )
  private val spec = PartitionSpec(
    3,
    Vector(
      PartitionField(2, 1000, "name", Identity),
      PartitionField(3, 1001, "price", Identity),
      PartitionField(1, 1002, "id_bucket", Bucket(16)),
      PartitionField(4, 1003, "gone", Void),
      PartitionField(4, 1004, "day_day", Day)
    )
  )
  private val files = new EntryFiles(columnsOf(schema, PartitionSpec.Unpartitioned, spec))

  private def file(values: Option[Literal]*): ContentFile = ContentFile(
    Content.Data,
    "mem:/t/data/a.parquet",
    FileFormat.Parquet,
    spec.specId,
    PartitionTuple(values.toVector),
    10L,
    1234L,
    Metrics.Empty
  )

  private def mapsOf(m: Metrics): MetricMaps = MetricMaps(
    m.columnSizes,
    m.valueCounts,
    m.nullValueCounts,
    m.nanValueCounts,
    m.lowerBounds,
    m.upperBounds
  )

  private def roundTrip(file: ContentFile): ContentFile = {
    val entry = existing(file)
    val back = files.toEntry(files.toContent(entry))
    assert(back.copy(file = file) == entry)
    back.file
  }

  test(
    "partition values are restored from statistics: null, NaN, -0.0, empty and long strings, and derived values"
  ) {
    val long = StringLiteral("0123456789abcdefghij")
    val tuples = Seq(
      Seq(Some(long), Some(DoubleLiteral(-0.0)), Some(IntLiteral(3)), None, Some(DateLiteral(5))),
      Seq(Some(StringLiteral("")), Some(DoubleLiteral(Double.NaN)), Some(IntLiteral(0)), None, None),
      Seq(None, None, None, None, None)
    )
    tuples.foreach(t => assert(roundTrip(file(t: _*)).partition == PartitionTuple(t.toVector)))
  }

  test("the exact partition value replaces a truncated bound of a column that is partitioned by identity") {
    val name = StringLiteral("0123456789abcdefghij")
    val truncated = MetricMaps(
      lowerBounds = Some(Map(2 -> SingleValue.encode(StringLiteral("0123456789abcdef")))),
      upperBounds = Some(Map(2 -> SingleValue.encode(StringLiteral("0123456789abcdeg"))))
    )
    val values = Seq(Some(name), None, None, None, None)
    val metrics = roundTrip(file(values: _*).copy(metrics = truncated)).metrics
    assert(metrics.lowerBound(2).contains(SingleValue.encode(name)))
    assert(metrics.upperBound(2).contains(SingleValue.encode(name)))
  }

  test("if a column that is partitioned by identity has no upper bound, its lower bound is also its upper bound") {
    val entry = files.toContent(existing(file(Some(StringLiteral("x")), None, None, None, None)))
    val name = entry.stats.byId(2).copy(upper = None)
    val foreign = entry.copy(stats = ContentStats(entry.stats.byId.updated(2, name)))
    assert(files.toEntry(foreign).file.metrics.upperBound(2).contains(SingleValue.encode(StringLiteral("x"))))
  }

  test("the error for an entry without the statistics of a partition field names the file and its partition spec") {
    val entry = files.toContent(existing(file(None, None, None, None, None)))
    val error = intercept[EntryFault](files.toEntry(entry.copy(stats = ContentStats.Empty)))
    assert(error.reason.contains("mem:/t/data/a.parquet") && error.reason.contains("partition spec 3"))
  }

  test("a derived partition value is stored as a lower bound only, and is not part of the file's metrics") {
    val entry = files.toContent(existing(file(None, None, Some(IntLiteral(3)), None, Some(DateLiteral(5)))))
    val expressions = entry.stats.byId.filterKeys(_ > 4)
    assert(expressions.values.flatMap(_.lower).toSet == Set(IntLiteral(3), DateLiteral(5)))
    assert(expressions.values.forall(_.upper.isEmpty))
    assert(files.toEntry(entry).file.metrics.valueCounts.forall(_.keySet.subsetOf(Set(1, 2, 3, 4))))
  }

  test("counts and bounds of every type, and the other values of a file, are preserved") {
    val columns = columnsOf(ManifestSamples.wideSchema)
    val converted = new EntryFiles(columns)
    val bounds =
      ManifestSamples.everyType.zipWithIndex.map { case ((_, v), i) => (i + 1) -> SingleValue.encode(v) }.toMap
    val counts = bounds.mapValues(_ => 10L).map(identity)
    val metrics = MetricMaps(
      valueCounts = Some(counts),
      nullValueCounts = Some(counts.mapValues(_ => 1L).map(identity)),
      nanValueCounts = Some(Map(4 -> 2L, 5 -> 0L)),
      lowerBounds = Some(bounds),
      upperBounds = Some(bounds)
    )
    val all = ManifestSamples.dataFile("a").copy(
      partition = PartitionTuple.Empty,
      metrics = metrics,
      splitOffsets = Vector(4L, 100L),
      keyMetadata = Some(ManifestSamples.bytes(1, 2)),
      firstRowId = Some(77L)
    )
    val back = converted.toEntry(converted.toContent(existing(all)))
    assert(back.copy(file = all) == existing(all))
    assert(back.file.copy(metrics = all.metrics) == all && mapsOf(back.file.metrics) == metrics)
    assert(mapsOf(back.file.metrics.only(Set(4))) == mapsOf(metrics.only(Set(4))))
  }

  test("bounds that are not values of the column's type are omitted") {
    val columns = columnsOf(Schema(0, Vector(optional(1, "f", FixedType(3)), optional(2, "d", DoubleType))))
    val bounds = Some(Map(1 -> ManifestSamples.bytes(1, 2), 2 -> SingleValue.encode(DoubleLiteral(Double.NaN))))
    val wrong = ManifestSamples.dataFile("a").copy(
      partition = PartitionTuple.Empty,
      metrics = MetricMaps(lowerBounds = bounds, upperBounds = bounds)
    )
    assert(new EntryFiles(columns).toContent(existing(wrong)).stats == ContentStats.Empty)
  }

  test("a partition value that was written before its column was promoted gets the new type of the column") {
    val promoted = new EntryFiles(columnsOf(ManifestSamples.schema, ManifestSamples.byId))
    val old = ManifestSamples.dataFile("a").copy(partition = PartitionTuple(Vector(Some(IntLiteral(7)))))
    val stats = promoted.toContent(existing(old)).stats.byId(1)
    assert(stats.lower.contains(LongLiteral(7L)) && stats.upper.contains(LongLiteral(7L)))
  }

  test("bounds that were read before their column was promoted get the new type of the column") {
    def columns(number: PrimitiveType, float: PrimitiveType, time: PrimitiveType) = columnsOf(
      Schema(0, Vector(optional(1, "n", number), optional(2, "f", float), optional(3, "t", time)))
    )
    def stats(value: Literal) =
      FieldStats(lower = Some(value), upper = Some(value), valueCount = Some(10L), nullCount = Some(0L))
    val old = EntryMetrics.of(
      Map(1 -> IntLiteral(7), 2 -> FloatLiteral(0.5f), 3 -> DateLiteral(1), 9 -> IntLiteral(1))
        .map { case (id, value) => id -> stats(value) }
    )
    val unpartitioned = ManifestSamples.dataFile("a").copy(partition = PartitionTuple.Empty, metrics = old)
    def boundsIn(target: StatsColumns) =
      new EntryFiles(target).toContent(existing(unpartitioned)).stats.byId.mapValues(s => (s.lower, s.upper)).toMap
    def both(value: Literal): (Option[Literal], Option[Literal]) = (Some(value), Some(value))
    val promoted = boundsIn(columns(LongType, DoubleType, TimestampType))
    val time = TimestampLiteral(86400000000L)
    assert(promoted == Map(1 -> both(LongLiteral(7L)), 2 -> both(DoubleLiteral(0.5)), 3 -> both(time)))
    val same = boundsIn(columns(IntType, FloatType, DateType))
    assert(same == Map(1 -> both(IntLiteral(7)), 2 -> both(FloatLiteral(0.5f)), 3 -> both(DateLiteral(1))))
  }
}
