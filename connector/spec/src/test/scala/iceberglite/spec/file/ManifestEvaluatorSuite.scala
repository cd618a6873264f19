package iceberglite.spec.file

import java.nio.ByteBuffer
import java.util.UUID

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ManifestRules
import iceberglite.spec.expr.{Bind, Evaluate, Expression, ExpressionGenerators, PartitionSpecs, Project, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Bucket, Day, Identity, PartitionField, PartitionSpec, Truncate}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class ManifestEvaluatorSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import ExpressionGenerators._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 5000)

  private def manifest(partitions: Option[Vector[FieldSummary]]): ManifestFile = ManifestFile(
    "m.avro",
    length = 1L,
    partitionSpecId = 0,
    ManifestContent.Data,
    sequenceNumber = 1L,
    minSequenceNumber = 1L,
    addedSnapshotId = 1L,
    addedFilesCount = Some(1),
    existingFilesCount = Some(0),
    deletedFilesCount = Some(0),
    addedRowsCount = Some(1L),
    existingRowsCount = Some(0L),
    deletedRowsCount = Some(0L),
    partitions
  )

  /** Creates the summary of a field. @param knowsNan whether the writer stores `contains_nan` */
  private def summary(values: Seq[Option[Literal]], knowsNan: Boolean): FieldSummary = {
    val ordinary = values.flatten.filterNot(Evaluate.isNan)
    FieldSummary(
      containsNull = values.contains(None),
      containsNan = if (knowsNan) Some(values.flatten.exists(Evaluate.isNan)) else None,
      lowerBound = if (ordinary.isEmpty) None else Some(SingleValue.encode(ordinary.min(Literal.ordering))),
      upperBound = if (ordinary.isEmpty) None else Some(SingleValue.encode(ordinary.max(Literal.ordering)))
    )
  }

  private val cases = for {
    used <- Gen.pick(2, columns).map(_.toVector)
    spec <- PartitionSpecs.random(used)
    filter <- condition(used, Seq(Bucket(3), Truncate(7), Day))
    rows <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, row(used)))
    knowsNan <- Gen.oneOf(true, false)
  } yield (Schema(0, used), spec, filter, rows, knowsNan)

  test("a manifest that lists a partition with a matching row is never skipped", ManifestRules.unknownSummaries) {
    forAll(cases) { case (schema, spec, filter, rows, knowsNan) =>
      val tuples = rows.map(PartitionSpecs.tuple(spec, _))
      val summaries = spec.fields.indices.map(i => summary(tuples.map(_.values(i)), knowsNan)).toVector
      val projected = Project.inclusive(filter, spec, schema)
      val evaluator = new ManifestEvaluator(projected, spec, spec.partitionType(schema))
      if (tuples.exists(Evaluate.tuple(projected, spec))) assert(evaluator.mightMatch(manifest(Some(summaries))))
      assert(evaluator.mightMatch(manifest(None)))
    }
  }

  private def evaluator(t: PrimitiveType, test: Term => Expression): ManifestEvaluator = {
    val schema = Schema(0, Vector(NestedField.optional(1, "c", t)))
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Identity)))
    val bound = Bind(test(Term.Named("c")), schema, caseSensitive = true)
    new ManifestEvaluator(Project.inclusive(bound, spec, schema), spec, spec.partitionType(schema))
  }

  private def bytes(value: Literal): Option[ByteBuffer] = Some(SingleValue.encode(value))

  private def mightMatch(t: PrimitiveType, summary: FieldSummary, test: Term => Expression): Boolean =
    evaluator(t, test).mightMatch(manifest(Some(Vector(summary))))

  test("a manifest is skipped when the bounds of a field rule out a match") {
    val fiveToTen = FieldSummary(containsNull = false, None, bytes(IntLiteral(5)), bytes(IntLiteral(10)))
    assert(!mightMatch(IntType, fiveToTen, Equal(_, IntLiteral(4))))
    assert(mightMatch(IntType, fiveToTen, Equal(_, IntLiteral(5))))
    assert(!mightMatch(IntType, fiveToTen, LessThan(_, IntLiteral(5))))
    assert(!mightMatch(IntType, fiveToTen, GreaterThan(_, IntLiteral(10))))
    assert(!mightMatch(IntType, fiveToTen, In(_, Set(IntLiteral(4), IntLiteral(11)))))
    assert(mightMatch(IntType, fiveToTen, In(_, Set(IntLiteral(4), IntLiteral(7)))))
    assert(!mightMatch(IntType, fiveToTen, IsNull(_)))
  }

  test("a field without bounds contains only nulls and NaNs") {
    val nulls = FieldSummary(containsNull = true, Some(false), None, None)
    assert(!mightMatch(IntType, nulls, NotNull(_)))
    assert(!mightMatch(IntType, nulls, NotEqual(_, IntLiteral(1))))
    assert(mightMatch(IntType, nulls, IsNull(_)))
    val nans = FieldSummary(containsNull = false, Some(true), None, None)
    assert(mightMatch(DoubleType, nans, GreaterThan(_, DoubleLiteral(1.0))))
    assert(!mightMatch(DoubleType, nans, LessThan(_, DoubleLiteral(1.0))))
    assert(!mightMatch(DoubleType, nans, NotNan(_)))
  }

  test("if a field may contain NaN, a manifest is not skipped by the upper bound", ManifestRules.unknownSummaries) {
    def known(nan: Option[Boolean]) =
      FieldSummary(containsNull = false, nan, bytes(DoubleLiteral(0.0)), bytes(DoubleLiteral(1.0)))
    assert(mightMatch(DoubleType, known(None), GreaterThan(_, DoubleLiteral(5.0))))
    assert(mightMatch(DoubleType, known(Some(true)), GreaterThan(_, DoubleLiteral(5.0))))
    assert(!mightMatch(DoubleType, known(Some(false)), GreaterThan(_, DoubleLiteral(5.0))))
    assert(!mightMatch(DoubleType, known(None), Equal(_, DoubleLiteral(5.0))))
  }

  test("summaries whose number differs from the number of fields are ignored") {
    val e = evaluator(IntType, Equal(_, IntLiteral(4)))
    assert(e.mightMatch(manifest(Some(Vector.empty))))
  }

  test("UUID bounds in Java's signed order are ignored") {
    val (low, high) = (new UUID(Long.MinValue, 0L), new UUID(1L, 0L))
    val signed = FieldSummary(containsNull = false, None, bytes(UuidLiteral(low)), bytes(UuidLiteral(high)))
    assert(mightMatch(UuidType, signed, Equal(_, UuidLiteral(new UUID(0L, 5L)))))
    val unsigned = FieldSummary(containsNull = false, None, bytes(UuidLiteral(high)), bytes(UuidLiteral(low)))
    assert(!mightMatch(UuidType, unsigned, Equal(_, UuidLiteral(new UUID(0L, 5L)))))
  }

  test("the partition summaries of a part are not computed if the condition is true for all partitions") {
    object Unread extends PartSummary {
      override def path: String = "m"
      override def content: ManifestContent = ManifestContent.Data
      override def specId: Int = 0
      override def length: Long = 1L
      override def liveFiles: Option[Long] = None
      override def sequenceNumber: Long = 1L
      override def minSequenceNumber: Long = 1L
      override def recordCount: Long = ContentFile.UnknownRecords
      override def metrics: Metrics = Metrics.Empty
      override def partitions: Option[Vector[FieldSummary]] = fail("the summaries are not needed")
    }
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Identity)))
    val partitionType = StructType(Vector(NestedField.optional(1000, "p", LongType)))
    assert(new ManifestEvaluator(AlwaysTrue, spec, partitionType).mightMatch(Unread))
  }
}
