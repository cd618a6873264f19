package iceberglite.spark.read.partitioning

import org.apache.spark.sql.connector.expressions.{Expression => SparkExpression, Expressions, Literal => SparkLiteral}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.{DataType, LongType => SparkLong}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.ReadSettings
import iceberglite.spark.rules.GroupMatch
import iceberglite.spec.expr.Term
import iceberglite.spec.expr.Expression._
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.{DoubleLiteral, LongLiteral}
import iceberglite.spec.types.Type.LongType

/** Unit tests of runtime filters, and of the decision whether to group the scans of a join by partition. */
class ScanRuntimeFilterSuite extends AnyFunSuite {
  private val column = Term.Bound(NestedField.optional(1, "id", LongType), "id")

  test("an IN list with up to 100 values is unchanged; a longer list becomes a range, even inside AND and OR") {
    val shortList = In(column, (1 to 100).map(i => LongLiteral(i.toLong)).toSet)
    assert(ScanRuntimeFilter.forRows(shortList) == shortList)
    val longList = In(column, (1 to 101).map(i => LongLiteral(i.toLong)).toSet)
    val range = And(GreaterThanOrEqual(column, LongLiteral(1)), LessThanOrEqual(column, LongLiteral(101)))
    assert(ScanRuntimeFilter.forRows(longList) == range)
    val nested = And(Or(IsNan(column), longList), shortList)
    assert(ScanRuntimeFilter.forRows(nested) == And(Or(IsNan(column), range), shortList))
    assert(ScanRuntimeFilter.forRows(AlwaysTrue) == AlwaysTrue)
  }

  test("the range of an IN list with negative and positive zero contains both zeros") {
    val values = (0 to 101).map(i => DoubleLiteral(i.toDouble)).toSet ++ Set(DoubleLiteral(-0.0))
    ScanRuntimeFilter.forRows(In(column, values.map(identity))) match {
      case And(GreaterThanOrEqual(_, DoubleLiteral(low)), LessThanOrEqual(_, DoubleLiteral(high))) =>
        assert(low == 0.0 && high == 101.0)
      case other => fail(other.toString)
    }
  }

  final private class LongValue(override val value: Any) extends SparkLiteral[Any] {
    override def dataType(): DataType = SparkLong
    override def toString: String = String.valueOf(value)
  }

  private def list(values: Any*): Predicate = {
    val reference: SparkExpression = Expressions.column("id")
    new Predicate("IN", (reference +: values.map(new LongValue(_))).toArray)
  }

  test("an IN predicate of Spark with more values than the limit becomes a range") {
    val predicate = list(5L, null, 3L, 9L)
    assert(ScanRuntimeFilter.withShortList(predicate, 4) eq predicate)
    val range = ScanRuntimeFilter.withShortList(predicate, 3)
    assert(range.children.map(p => p.children.mkString(s" ${p.asInstanceOf[Predicate].name} ")).toSeq ==
      Seq("id >= 3", "id <= 9"))
    val nullList = list(null, null)
    assert(ScanRuntimeFilter.withShortList(nullList, 1) eq nullList)
    val equality = new Predicate("=", list(1L).children)
    assert(ScanRuntimeFilter.withShortList(equality, 0) eq equality)
  }

  private val mb = 1L << 20
  private val settings = ReadSettings(128 * mb, adaptive = true, 8, 2, 10, 4 * mb, vectorized = true, 5000, true, None)

  private def file(bytes: Long): FileScanTask = FileScanTask.whole(
    ContentFile(Content.Data, s"f$bytes", FileFormat.Parquet, 0, PartitionTuple.Empty, 1, bytes, Metrics.Empty),
    1L,
    PartitionSpec.Unpartitioned,
    AlwaysTrue
  )

  private def groups(bytes: Long*) = Some(bytes.map(b => Vector(file(b))).toVector)

  test("the scans of a join are grouped unless a task would become too large, or tasks would be many and small") {
    def paysOff(left: Seq[Long], right: Seq[Long]) =
      GroupMatch.paysOff(groups(left: _*), groups(right: _*), settings, 100)
    assert(paysOff(Seq.fill(4)(10L), Seq.fill(4)(10L)))
    assert(paysOff(Seq.fill(100)(1024 * mb), Seq.fill(100)(1024 * mb)))
    assert(paysOff(Seq(512 * mb, mb), Seq(mb, mb)))
    assert(!paysOff(Seq(513 * mb, mb), Seq(mb, mb)))
    assert(!paysOff(Seq(mb, mb), Seq.fill(2)(600 * mb)))
    assert(paysOff(Seq.fill(8)(10L), Seq(10L)))
    assert(!paysOff(Seq.fill(9)(10L), Seq(10L)))
    assert(paysOff(Seq.fill(2000)(mb), Seq(10L)))
    assert(!paysOff(Seq.fill(2000)(mb / 2), Seq.fill(500)(mb / 2)))
    assert(!paysOff(Seq.empty, Seq(10L)))
    assert(!GroupMatch.paysOff(None, groups(1), settings, 100))
  }
}
