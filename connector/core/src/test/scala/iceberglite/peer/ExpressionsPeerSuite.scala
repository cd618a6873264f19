package iceberglite.peer

import java.nio.ByteBuffer

import scala.util.Try

import org.apache.iceberg.PeerManifests
import org.apache.iceberg.expressions.{
  Evaluator => PeerEvaluator,
  Expression => PeerExpression,
  InclusiveMetricsEvaluator,
  ManifestEvaluator => PeerManifestEvaluator,
  Projections,
  ResidualEvaluator,
  StrictMetricsEvaluator
}
import org.apache.iceberg.{PartitionSpec => PeerSpec}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.expr.{Evaluate, Expression, ExpressionGenerators, PartitionSpecs, Project, Residual}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.expr.ExpressionGenerators.{Row, matches}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  FieldSummary,
  FileFormat,
  InclusiveMetrics,
  ManifestContent,
  ManifestEvaluator,
  ManifestFile,
  MetricMaps,
  StrictMetrics
}
import iceberglite.spec.partition.{PartitionField, PartitionSpec, PartitionTuple, UnknownTransform, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType, SingleValue, Type}
import iceberglite.spec.types.Literal._

/**
 * Compares the pruning of files with Apache Iceberg. If Apache Iceberg skips a file, or finds that all rows of the file
 * match, iceberg-lite must do the same. The result of iceberg-lite must also be correct for the rows of the file. The
 * test cases exclude these known differences:
 *
 *  - Apache Iceberg compares UUIDs as two signed longs, and therefore skips files with matching rows. iceberg-lite
 *    compares their bytes as unsigned numbers.
 *  - In Apache Iceberg, null is less than every value and unequal to every value. In iceberg-lite, a comparison with
 *    null is never true, as in SQL.
 *  - In Apache Iceberg, every comparison with NaN is false, and -0.0 is less than 0.0. In iceberg-lite, NaN is the
 *    greatest value, and the two zeros are equal, as in Spark.
 *  - For values at the limits of a type, the transforms truncate and hour overflow. Only iceberg-lite handles this.
 */
class ExpressionsPeerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 800)

  /**
   * The columns of the test cases. UUIDs are excluded, and also nanosecond timestamps, because Apache Iceberg treats a
   * long that is compared with such a timestamp as microseconds.
   */
  private val columns: Vector[NestedField] = ExpressionGenerators.columns
    .filterNot(c => Seq(Type.UuidType, Type.TimestampNsType, Type.TimestampTzNsType).contains(c.fieldType))
  private val schema = Schema(0, columns)

  private def isExtreme(v: Long, bits: Int): Boolean = v > (1L << bits) || v < -(1L << bits)

  private def isExcluded(v: Literal): Boolean = v match {
    case FloatLiteral(f) => f.isNaN || f == 0.0f
    case DoubleLiteral(d) => d.isNaN || d == 0.0
    case IntLiteral(i) => isExtreme(i.toLong, 30)
    case DateLiteral(i) => isExtreme(i.toLong, 30)
    case LongLiteral(i) => isExtreme(i, 61)
    case TimestampLiteral(i) => isExtreme(i, 61)
    case TimestampTzLiteral(i) => isExtreme(i, 61)
    case _ => false
  }

  private def literals(e: Expression): Seq[Literal] = e match {
    case And(l, r) => literals(l) ++ literals(r)
    case Or(l, r) => literals(l) ++ literals(r)
    case Not(child) => literals(child)
    case LessThan(_, v) => Seq(v)
    case LessThanOrEqual(_, v) => Seq(v)
    case GreaterThan(_, v) => Seq(v)
    case GreaterThanOrEqual(_, v) => Seq(v)
    case Equal(_, v) => Seq(v)
    case NotEqual(_, v) => Seq(v)
    case In(_, values) => values.toSeq
    case NotIn(_, values) => values.toSeq
    case _ => Nil
  }

  /** Returns whether the expression contains a negation. For null, the libraries may then give different results. */
  private def isNegative(e: Expression): Boolean = e match {
    case And(l, r) => isNegative(l) || isNegative(r)
    case Or(l, r) => isNegative(l) || isNegative(r)
    case _: Not | _: NotEqual | _: NotIn | _: NotStartsWith => true
    case _ => false
  }

  private def condition(columns: Seq[NestedField]): Gen[Expression] =
    ExpressionGenerators.condition(columns).filter(!literals(_).exists(isExcluded))

  private def rows(e: Expression): Gen[List[Row]] = {
    val row = Gen.sequence[Vector[(Int, Option[Literal])], (Int, Option[Literal])](columns.map { c =>
      val value = ExpressionGenerators.value(typeOf(c)).filter(!isExcluded(_)).map(Option(_))
      (if (isNegative(e)) value else Gen.frequency(1 -> Gen.const(None), 4 -> value)).map(c.id -> _)
    }).map(_.toMap)
    Gen.choose(1, 4).flatMap(Gen.listOfN(_, row))
  }

  private def typeOf(c: NestedField): PrimitiveType = c.fieldType match {
    case t: PrimitiveType => t
    case t: NestedType => fail(s"$t is nested")
  }

  private val spec: Gen[PartitionSpec] = {
    val field = for {
      column <- Gen.oneOf(columns)
      transform <- Gen.oneOf(ExpressionGenerators.transforms(typeOf(column)).filter {
        case _: UnknownTransform | Void => false
        case _ => true
      })
    } yield (column.id, transform)
    Gen.choose(1, 3).flatMap(Gen.listOfN(_, field)).map { fields =>
      PartitionSpec(
        0,
        fields.toMap.toVector.zipWithIndex.map { case ((id, t), i) => PartitionField(id, 1000 + i, s"p$i", t) }
      )
    }
  }

  private val partitions: Gen[(PartitionSpec, Expression, List[Row])] = for {
    s <- spec
    e <- condition(columns.filter(c => s.fields.exists(_.sourceId == c.id)))
    some <- rows(e)
  } yield (s, e, some)

  test("projections to partitions, and residuals, are at least as precise as in Apache Iceberg") {
    forAll(partitions) { case (s, e, rows) =>
      val (peerSpec, peer) = (PeerFiles.spec(s, schema), JavaExpressions.of(e))
      val inclusive = Evaluate.tuple(Project.inclusive(e, s, schema), s)
      val strict = Evaluate.tuple(Project.strict(e, s, schema), s)
      val theirInclusive = new PeerEvaluator(peerSpec.partitionType, Projections.inclusive(peerSpec).project(peer))
      val theirStrict = new PeerEvaluator(peerSpec.partitionType, Projections.strict(peerSpec).project(peer))
      val (residual, theirResidual) = (new Residual(e, s, schema), ResidualEvaluator.of(peerSpec, peer, true))
      rows.foreach { row =>
        val tuple = PartitionSpecs.tuple(s, row)
        val theirs = PeerManifests.partition(peerSpec.partitionType, tuple.values.map(_.map(Literal.javaValue)))
        assert(inclusive(tuple) || !matches(e, row))
        assert(!strict(tuple) || matches(e, row))
        assert(matches(residual.of(tuple), row) == matches(e, row))
        if (tuple.values.forall(_.isDefined)) {
          assert(theirInclusive.eval(theirs) || !inclusive(tuple))
          assert(!theirStrict.eval(theirs) || strict(tuple))
          theirResidual.residualFor(theirs).op match {
            case PeerExpression.Operation.TRUE => assert(residual.of(tuple) == AlwaysTrue)
            case PeerExpression.Operation.FALSE => assert(residual.of(tuple) == AlwaysFalse)
            case _ => succeed
          }
        }
      }
    }
  }

  private def bounds(values: Seq[Literal]): Option[(ByteBuffer, ByteBuffer)] =
    Try((values.min(Literal.ordering), values.max(Literal.ordering))).toOption.map { case (lower, upper) =>
      (SingleValue.encode(lower), SingleValue.encode(upper))
    }

  private def file(rows: List[Row], ids: Seq[Int]): ContentFile = {
    val ranges = ids.flatMap(id => bounds(rows.flatMap(_(id))).map(id -> _)).toMap
    val metrics = MetricMaps(
      None,
      Some(ids.map(_ -> rows.size.toLong).toMap),
      Some(ids.map(id => id -> rows.count(_(id).isEmpty).toLong).toMap),
      Some(
        ids.filter(id => Seq(Type.FloatType, Type.DoubleType).contains(schema.byId(id).fieldType)).map(_ -> 0L).toMap
      ),
      Some(ranges.map { case (id, (lower, _)) => id -> lower }),
      Some(ranges.map { case (id, (_, upper)) => id -> upper })
    )
    ContentFile(Content.Data, "f", FileFormat.Parquet, 0, PartitionTuple.Empty, rows.size.toLong, 100L, metrics)
  }

  test("file pruning by metrics is at least as precise as in Apache Iceberg") {
    val cases = for {
      among <- Gen.choose(1, 2).flatMap(Gen.pick(_, columns))
      e <- condition(among.toSeq)
      some <- rows(e)
      uncounted <- Gen.frequency(5 -> Gen.const(Seq.empty), 1 -> Gen.someOf(columns.map(_.id)).map(_.toSeq))
    } yield (e, file(some, columns.map(_.id).diff(uncounted)), some.map(matches(e, _)))
    val peerSchema = PeerFiles.schema(schema)
    forAll(cases) { case (e, f, matching) =>
      val (theirs, peer) = (PeerFiles.dataFile(f, PeerSpec.unpartitioned), JavaExpressions.of(e))
      val (might, all) = (new InclusiveMetrics(e).mightMatch(f), new StrictMetrics(e).allMatch(f))
      assert(might || !matching.contains(true))
      assert(!all || !matching.contains(false))
      assert(new InclusiveMetricsEvaluator(peerSchema, peer).eval(theirs) || !might)
      assert(!new StrictMetricsEvaluator(peerSchema, peer).eval(theirs) || all)
    }
  }

  test("manifest pruning by partition summaries is at least as precise as in Apache Iceberg") {
    forAll(partitions) { case (s, e, rows) =>
      val tuples = rows.map(PartitionSpecs.tuple(s, _))
      val summaries = s.fields.indices.toVector.map { i =>
        val range = bounds(tuples.flatMap(_.values(i)))
        FieldSummary(tuples.exists(_.values(i).isEmpty), Some(false), range.map(_._1), range.map(_._2))
      }
      val (files, count) = (Some(rows.size), Some(rows.size.toLong))
      val manifest = ManifestFile(
        "m",
        1L,
        0,
        ManifestContent.Data,
        1L,
        1L,
        1L,
        files,
        Some(0),
        Some(0),
        count,
        Some(0L),
        Some(0L),
        Some(summaries)
      )
      val projected = Project.inclusive(e, s, schema)
      val ours = new ManifestEvaluator(projected, s, s.partitionType(schema)).mightMatch(manifest)
      val peer = PeerManifestEvaluator.forRowFilter(JavaExpressions.of(e), PeerFiles.spec(s, schema), true)
      assert(ours || !rows.exists(matches(e, _)))
      assert(peer.eval(PeerFiles.toPeer(manifest)) || !ours)
    }
  }
}
