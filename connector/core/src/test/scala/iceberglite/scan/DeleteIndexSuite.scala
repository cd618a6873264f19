package iceberglite.scan

import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ScanRules
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestEntry, MetricMaps, Metrics}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple, Void}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.scan.deletes.{DeleteFile, DeleteIndex, EqualityIdColumns}

/** Tests the specification's rules on which delete files apply to a data file, one rule at a time. */
class DeleteIndexSuite extends AnyFunSuite {
  private val schema = Schema(
    1,
    Vector(
      NestedField.optional(1, "id", LongType),
      NestedField.optional(2, "category", StringType),
      NestedField.optional(3, "weight", DoubleType),
      NestedField.optional(4, "place", StructType(Vector(NestedField.optional(5, "city", StringType)))),
      NestedField.optional(6, "tags", ListType(7, StringType, elementRequired = false))
    )
  )
  private val oldSchema =
    Schema(0, Vector(NestedField.required(9, "gone", IntType), NestedField.optional(1, "id", IntType)))
  private val byCategory = PartitionSpec(0, Vector(PartitionField(2, 1000, "category", Identity)))
  private val unpartitioned = PartitionSpec(1, Vector.empty)
  private val byVoid = PartitionSpec(2, Vector(PartitionField(2, 1000, "category", Void)))
  private val byWeight = PartitionSpec(3, Vector(PartitionField(3, 1001, "weight", Identity)))
  private val byCategoryCopy = byCategory.copy(specId = 4)
  private val specs = Vector(byCategory, unpartitioned, byVoid, byWeight, byCategoryCopy).map(s => s.specId -> s).toMap

  private val a = PartitionTuple(Vector(Some(StringLiteral("a"))))
  private val b = PartitionTuple(Vector(Some(StringLiteral("b"))))

  private def file(name: String, spec: Int, partition: PartitionTuple): ContentFile =
    ContentFile(Content.Data, name, FileFormat.Parquet, spec, partition, 10, 1000, Metrics.Empty)

  private def data(name: String, spec: Int = 0, partition: PartitionTuple = a): ContentFile =
    file(name, spec, partition)

  private def position(name: String, spec: Int = 0, partition: PartitionTuple = a): ContentFile =
    file(name, spec, partition).copy(content = Content.PositionDeletes)

  private def equality(name: String, spec: Int = 0, partition: PartitionTuple = a, ids: Vector[Int] = Vector(1)) =
    file(name, spec, partition).copy(content = Content.EqualityDeletes, equalityIds = ids)

  private def vector(name: String, of: String, offset: Long = 4, spec: Int = 0, partition: PartitionTuple = a) =
    position(name, spec, partition).copy(
      format = FileFormat.Puffin,
      referencedDataFile = Some(of),
      contentOffset = Some(offset),
      contentSizeInBytes = Some(40L)
    )

  private def index(deletes: (Long, ContentFile)*): DeleteIndex = DeleteIndex.of(
    deletes.map { case (n, f) => ManifestEntry(EntryStatus.Added, Some(1), Some(n), Some(n), f) }.toVector,
    specs,
    new EqualityIdColumns(schema, Vector(oldSchema, schema))
  )

  private def deletesOf(in: DeleteIndex, file: ContentFile, number: Long): Vector[DeleteFile] =
    in.lookup(file, number)

  private def names(in: DeleteIndex, file: ContentFile, number: Long): Vector[String] =
    deletesOf(in, file, number).map(_.file.path)

  private def paths(low: String, high: String): Metrics = MetricMaps(
    lowerBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> SingleValue.encode(StringLiteral(low)))),
    upperBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> SingleValue.encode(StringLiteral(high))))
  )

  private def ids(bounds: Option[(Literal, Literal)], nulls: Option[Long], values: Long = 10): Metrics = MetricMaps(
    valueCounts = Some(Map(1 -> values)),
    nullValueCounts = nulls.map(n => Map(1 -> n)),
    lowerBounds = bounds.map(x => Map(1 -> SingleValue.encode(x._1))),
    upperBounds = bounds.map(x => Map(1 -> SingleValue.encode(x._2)))
  )

  test("position deletes apply to data files of the same and of earlier commits", ScanRules.positionSequence) {
    val deletes = index(5L -> position("p5"), 7L -> position("p7"))
    assert(names(deletes, data("f"), 4) == Vector("p5", "p7"))
    assert(names(deletes, data("f"), 5) == Vector("p5", "p7"))
    assert(names(deletes, data("f"), 6) == Vector("p7"))
    assert(names(deletes, data("f"), 8).isEmpty)
  }

  test("equality deletes apply to earlier commits only", ScanRules.equalitySequence) {
    val deletes = index(5L -> equality("e5"), 7L -> equality("e7"))
    assert(names(deletes, data("f"), 4) == Vector("e5", "e7"))
    assert(names(deletes, data("f"), 5) == Vector("e7"))
    assert(names(deletes, data("f"), 7).isEmpty)
  }

  test(
    "deletes apply only to data files of the same partition spec and the same partition values",
    ScanRules.positionPartition,
    ScanRules.equalityPartition
  ) {
    val deletes = index(5L -> position("pa"), 5L -> equality("ea"), 5L -> position("pb", partition = b))
    assert(names(deletes, data("f"), 1) == Vector("ea", "pa"))
    assert(names(deletes, data("f", partition = b), 1) == Vector("pb"))
    assert(names(deletes, data("f", spec = 4), 1).isEmpty)
    assert(names(deletes, data("f", spec = 1, PartitionTuple.Empty), 1).isEmpty)
  }

  test(
    "equality deletes with an unpartitioned partition spec apply to every partition; position deletes do not",
    ScanRules.globalEquality,
    ScanRules.globalEqualityOwnSpec
  ) {
    val nothing = PartitionTuple(Vector(None))
    val deletes = index(
      5L -> equality("everywhere", 1, PartitionTuple.Empty),
      5L -> equality("void", 2, nothing),
      5L -> position("here", 1, PartitionTuple.Empty)
    )
    assert(names(deletes, data("f"), 1) == Vector("everywhere", "void"))
    assert(names(deletes, data("f", 3, PartitionTuple(Vector(Some(DoubleLiteral(1))))), 1) == Vector(
      "everywhere",
      "void"
    ))
    assert(names(deletes, data("f", 1, PartitionTuple.Empty), 1) == Vector("everywhere", "void", "here"))
    // The partition spec of the data file is unpartitioned, but the partition spec of the delete file is not.
    assert(names(index(5L -> equality("e")), data("f", 1, PartitionTuple.Empty), 1).isEmpty)
  }

  test(
    "floating-point partition values are compared by their bits, and all NaNs are equal",
    ScanRules.floatingPartitions
  ) {
    def tupleOf(v: Double): PartitionTuple = PartitionTuple(Vector(Some(DoubleLiteral(v))))
    val otherNan = java.lang.Double.longBitsToDouble(0x7ff8000000000123L)
    val deletes = index(
      5L -> position("nan", 3, tupleOf(Double.NaN)),
      5L -> position("zero", 3, tupleOf(0.0)),
      5L -> position("minus", 3, tupleOf(-0.0))
    )
    assert(names(deletes, data("f", 3, tupleOf(otherNan)), 1) == Vector("nan"))
    assert(names(deletes, data("f", 3, tupleOf(0.0)), 1) == Vector("zero"))
    assert(names(deletes, data("f", 3, tupleOf(-0.0)), 1) == Vector("minus"))
  }

  test(
    "position deletes that reference one data file, or whose path bounds exclude other files, apply only to this file",
    ScanRules.positionsByPath
  ) {
    val deletes = index(
      5L -> position("named").copy(referencedDataFile = Some("f")),
      5L -> position("bounded").copy(metrics = paths("f", "f")),
      5L -> position("range").copy(metrics = paths("e", "g")),
      5L -> position("before").copy(metrics = paths("a", "e")),
      5L -> position("unknown")
    )
    assert(names(deletes, data("f"), 1) == Vector("range", "unknown", "named", "bounded"))
    assert(names(deletes, data("g"), 1) == Vector("range", "unknown"))
    assert(names(deletes, data("h"), 1) == Vector("unknown"))
    assert(names(deletes, data("f"), 6).isEmpty)
    val e = intercept[InvalidMetadata](names(deletes, data("f", partition = b), 1))
    assert(e.file == "named" && e.getMessage.contains("another partition"))
  }

  test("paths are compared with path bounds by their UTF-8 bytes", ScanRules.positionsByPath) {
    val deletes = index(5L -> position("p").copy(metrics = paths("d/\uFFEF", "d/\uD83D\uDE00")))
    assert(names(deletes, data("d/\uD83D\uDE00"), 1) == Vector("p"))
    assert(names(deletes, data("d/\uFFEF"), 1) == Vector("p"))
    assert(names(deletes, data("d/a"), 1).isEmpty)
  }

  test(
    "a deletion vector replaces the position deletes of its data file, but not its equality deletes",
    ScanRules.vectorScope,
    ScanRules.vectorBeforePositions
  ) {
    val deletes = index(
      6L -> vector("v", of = "f"),
      7L -> position("p"),
      7L -> position("named").copy(referencedDataFile = Some("f")),
      7L -> equality("e")
    )
    assert(names(deletes, data("f"), 6) == Vector("e", "v"))
    assert(names(deletes, data("g"), 6) == Vector("e", "p"))
  }

  test(
    "a deletion vector that is older than its data file, or in another partition, is an error",
    ScanRules.vectorScope
  ) {
    val deletes = index(6L -> vector("v", of = "f"))
    val olderVector = intercept[InvalidMetadata](names(deletes, data("f"), 7))
    assert(olderVector.file == "v" && olderVector.getMessage.contains("newer"))
    val otherPartition = intercept[InvalidMetadata](names(deletes, data("f", partition = b), 1))
    assert(otherPartition.file == "v" && otherPartition.path == "$.partition")
  }

  test("entries of deletion vectors must have a data file, an offset and a size", ScanRules.vectorScope) {
    Seq[(String, ContentFile => ContentFile)](
      "referenced_data_file" -> (_.copy(referencedDataFile = None)),
      "content_offset" -> (_.copy(contentOffset = None)),
      "content_size_in_bytes" -> (_.copy(contentSizeInBytes = None))
    ).foreach { case (field, without) =>
      val e = intercept[InvalidMetadata](index(6L -> without(vector("v", of = "f"))))
      assert(e.file == "v" && e.path == s"$$.$field")
    }
  }

  test("one Puffin file may contain the deletion vectors of several data files", ScanRules.vectorIdentity) {
    val deletes = index(6L -> vector("v", "f", offset = 4), 6L -> vector("v", "g", offset = 44))
    assert(deletesOf(deletes, data("f"), 1).map(_.location) == Vector(("v", Some(4L))))
    assert(deletesOf(deletes, data("g"), 1).map(_.location) == Vector(("v", Some(44L))))
  }

  test("two deletion vectors of one data file are an error that contains both locations", ScanRules.oneVector) {
    val e = intercept[InvalidMetadata](index(6L -> vector("v", "f", offset = 4), 7L -> vector("w", "f", offset = 44)))
    Seq("f", "v at 4", "w at 44").foreach(part => assert(e.getMessage.contains(part)))
  }

  test(
    "equality deletes are skipped if the metrics of the data file exclude all their keys",
    ScanRules.deletesByBounds
  ) {
    def long(low: Long, high: Long): Option[(Literal, Literal)] = Some((LongLiteral(low), LongLiteral(high)))
    def applies(deleted: Metrics, existing: Metrics): Boolean =
      deletesOf(index(5L -> equality("e").copy(metrics = deleted)), data("f").copy(metrics = existing), 1).nonEmpty
    val (low, high) = (ids(long(1, 5), Some(0)), ids(long(6, 9), Some(0)))
    assert(!applies(low, high) && !applies(high, low))
    assert(applies(low, ids(long(5, 9), Some(0))))
    // One of the files has no bounds, so the deletes may apply.
    assert(applies(low, Metrics.Empty) && applies(Metrics.Empty, low) && applies(low, ids(None, Some(0))))
    // A null key matches a null value. A file without null counts may contain nulls.
    assert(applies(ids(long(1, 5), Some(1)), ids(long(6, 9), Some(1))))
    assert(applies(ids(long(1, 5), None), ids(long(6, 9), Some(1))))
    assert(applies(ids(long(1, 5), None), ids(long(6, 9), None)))
    assert(!applies(ids(long(1, 5), Some(1)), ids(long(6, 9), Some(0))))
    // One file has only nulls, and the other file has none.
    assert(!applies(ids(None, Some(10)), low) && !applies(low, ids(None, Some(10))))
    assert(applies(ids(None, Some(10)), ids(long(1, 5), Some(1))))
    // Bounds that were written before a type promotion have the length of the old type.
    val ints: Option[(Literal, Literal)] = Some((IntLiteral(1), IntLiteral(5)))
    assert(!applies(ids(ints, Some(0)), high) && applies(ids(ints, Some(0)), ids(long(5, 9), Some(0))))
    // Bounds with an invalid length for the type are ignored.
    val invalidBounds = MetricMaps(
      nullValueCounts = Some(Map(1 -> 0L)),
      lowerBounds = Some(Map(1 -> ByteBuffer.wrap(Array[Byte](1, 2, 3)))),
      upperBounds = Some(Map(1 -> ByteBuffer.wrap(Array[Byte](1, 2, 3))))
    )
    assert(applies(invalidBounds, high) && applies(low, invalidBounds))
  }

  test("equality deletes are not skipped if the bounds of text overlap after truncation", ScanRules.deletesByBounds) {
    def text(low: String, high: String): Metrics = MetricMaps(
      nullValueCounts = Some(Map(2 -> 0L)),
      lowerBounds = Some(Map(2 -> SingleValue.encode(StringLiteral(low)))),
      upperBounds = Some(Map(2 -> SingleValue.encode(StringLiteral(high))))
    )
    def applies(deleted: Metrics, existing: Metrics): Boolean = {
      val deletes = index(5L -> equality("e", ids = Vector(2)).copy(metrics = deleted))
      deletesOf(deletes, data("f").copy(metrics = existing), 1).nonEmpty
    }
    assert(applies(text("abc", "abd"), text("abcx", "abcz")))
    assert(!applies(text("abc", "abd"), text("abe", "abf")))
  }

  test(
    "equality deletes are skipped if the bounds of one delete column do not overlap; nested columns are ignored",
    ScanRules.deletesByBounds
  ) {
    val deleted = MetricMaps(
      nullValueCounts = Some(Map(1 -> 0L, 5 -> 0L)),
      lowerBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(1)), 5 -> SingleValue.encode(StringLiteral("a")))),
      upperBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(5)), 5 -> SingleValue.encode(StringLiteral("b"))))
    )
    val existing = MetricMaps(
      nullValueCounts = Some(Map(1 -> 0L, 5 -> 0L)),
      lowerBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(9)), 5 -> SingleValue.encode(StringLiteral("y")))),
      upperBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(9)), 5 -> SingleValue.encode(StringLiteral("z"))))
    )
    def count(ids: Vector[Int]): Int = {
      val deletes = index(5L -> equality("e", ids = ids).copy(metrics = deleted))
      deletesOf(deletes, data("f").copy(metrics = existing), 1).size
    }
    assert(count(Vector(2, 1)) == 0 && count(Vector(2)) == 1 && count(Vector(5)) == 1)
  }

  test("delete columns have their full path, and dropped columns are found in older schemas", ScanRules.droppedKey) {
    val deletes = index(5L -> equality("e", ids = Vector(5, 9, 1)))
    val keys = deletesOf(deletes, data("f"), 1).head.keys
    assert(keys.map(_.path.map(_.name)) == Vector(Vector("place", "city"), Vector("gone"), Vector("id")))
    assert(keys.map(_.field.fieldType) == Vector(StringType, IntType, LongType))
    assert(keys(1).column.optional, "files written after the drop do not have this column")
  }

  test(
    "invalid delete columns are an error for data files to which the deletes apply, and are ignored otherwise",
    ScanRules.noNestedKeys
  ) {
    Seq(
      Vector(1, 7) -> "tags",
      Vector(4) -> "place",
      Vector(77) -> "77",
      Vector.empty -> "delete columns"
    )
      .foreach { case (ids, part) =>
        val deletes = index(5L -> equality("e", ids = ids))
        assert(names(deletes, data("f"), 5).isEmpty && names(deletes, data("f", partition = b), 1).isEmpty)
        val e = intercept[InvalidMetadata](names(deletes, data("f"), 1))
        assert(e.file == "e" && e.path == "$.equality_ids" && e.getMessage.contains(part))
      }
  }

  test(
    "equality deletes on floating-point columns are never skipped, because bounds do not show NaN and negative zero",
    ScanRules.floatingKeys
  ) {
    def only(value: Double): MetricMaps = MetricMaps(
      nullValueCounts = Some(Map(3 -> 0L)),
      lowerBounds = Some(Map(3 -> SingleValue.encode(DoubleLiteral(value)))),
      upperBounds = Some(Map(3 -> SingleValue.encode(DoubleLiteral(value))))
    )
    val deletes = index(5L -> equality("e", ids = Vector(3)).copy(metrics = only(1)))
    assert(deletesOf(deletes, data("f").copy(metrics = only(2)), 1).size == 1)
  }

  test("data files with the same deletes share one list of deletes") {
    val deletes = index(5L -> equality("e"), 6L -> position("p"))
    assert(deletesOf(index(5L -> equality("e")), data("f"), 1).size == 1 && names(deletes, data("f"), 1).size == 2)
    val in = index(5L -> equality("e"), 6L -> equality("e2"))
    assert(deletesOf(in, data("f"), 1) eq deletesOf(in, data("g"), 1))
  }
}
