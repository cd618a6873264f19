package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, ReplaceData, WriteDelta}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.FILTER
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{DateType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.rowlevel.{CopyOnWriteOperation, MergeOnReadOperation}
import iceberglite.spark.table.SparkTable

/**
 * Derives filters on columns from filters on expressions that Spark does not push down: `date_trunc('day', ts) =
 * TIMESTAMP '2024-02-29'` becomes `ts >= TIMESTAMP '2024-02-29' AND ts < TIMESTAMP '2024-03-01'`, in the session's time
 * zone, and `left(s, 2) = 'ab'` becomes `s LIKE 'ab%'`.
 *
 * A filter on a column replaces the original filter only if it is true, false and null for the same values. If there is
 * no such filter, for example because clocks are set back near one of the bounds, the original filter remains, and a
 * wider range is added to it.
 *
 * The rule also applies to the conditions of DELETE, UPDATE and MERGE, so that these statements skip the same files as
 * queries.
 */
private[iceberglite] object RewriteFunctionsToRanges extends Rule[LogicalPlan] {

  /** Marks conditions whose range has already been added. */
  private val HasRange = TreeNodeTag[Unit]("iceberglite.ranged")

  override def apply(plan: LogicalPlan): LogicalPlan =
    inFilters(ofStatement(plan))(_.table.isInstanceOf[SparkTable])

  /** Adds ranges to the condition with which Spark plans the scan of a statement that changes rows. */
  private def ofStatement(plan: LogicalPlan): LogicalPlan = plan match {
    // This condition selects the files of copy-on-write. The filter of the query selects the rows to keep.
    case write: ReplaceData if write.operation.isInstanceOf[CopyOnWriteOperation] =>
      write.copy(condition = withRanges(write.condition))
    case write @ WriteDelta(table: DataSourceV2Relation, _, query, _, _, _)
        if write.operation.isInstanceOf[MergeOnReadOperation] =>
      write.copy(query = inFilters(query)(_.table eq table.table))
    case other => other
  }

  /** Adds ranges to the conditions of filters that are directly above certain relations. */
  private def inFilters(plan: LogicalPlan)(isRead: DataSourceV2Relation => Boolean): LogicalPlan =
    plan.transformWithPruning(_.containsPattern(FILTER)) {
      case filter @ Filter(condition, relation: DataSourceV2Relation) if isRead(relation) =>
        filter.copy(condition = withRanges(condition))
    }

  private def withRanges(condition: Expression): Expression =
    if (!condition.deterministic) condition
    else {
      val result = conjuncts(condition).flatMap(withRange).reduceLeft(And)
      if (result.fastEquals(condition)) condition else result
    }

  private def conjuncts(e: Expression): Seq[Expression] = e match {
    case And(l, r) => conjuncts(l) ++ conjuncts(r)
    case other => Seq(other)
  }

  private def withRange(conjunct: Expression): Seq[Expression] = {
    val exact = conjunct.transformUp { case e => ColumnTest.of(e).filter(_.isExact).map(_.range).getOrElse(e) }
    if (exact.getTagValue(HasRange).isDefined || SubqueryExpression.hasSubquery(exact)) Seq(exact)
    else
      implied(exact).filter(_._2).fold(Seq(exact)) { case (range, _) =>
        // A copy is marked, because the same expression object may be part of other plans, which do not have the range.
        val marked = exact.clone()
        marked.setTagValue(HasRange, ())
        Seq(marked, range)
      }
  }

  /**
   * Returns a condition on columns that is true whenever the given condition is true. Also returns whether this
   * condition tests columns that the given condition does not test directly.
   */
  private def implied(e: Expression): Option[(Expression, Boolean)] = e match {
    case And(l, r) => (implied(l), implied(r)) match {
        case (Some((a, isNewA)), Some((b, isNewB))) => Some((And(a, b), isNewA || isNewB))
        case (a, b) => a.orElse(b)
      }
    case Or(l, r) =>
      for ((a, isNewA) <- implied(l); (b, isNewB) <- implied(r)) yield (Or(a, b), isNewA || isNewB)
    case leaf => ColumnTest.of(leaf).map(test => (test.range, true))
        .orElse(if (RepeatableCondition(leaf)) Some((leaf, false)) else None)
  }
}

/**
 * The test of an expression over a column, converted to a test of the column. The converted test is equivalent
 * (`isExact`), or true for more values.
 */
final private[rules] case class ColumnTest(range: Expression, isExact: Boolean)

private[rules] object ColumnTest {

  /**
   * The maximum number of values of an IN list for which the column is tested one by one. A longer list of dates or
   * timestamps becomes the range from its minimum to its maximum. Longer lists of strings are not converted.
   */
  private val MaxRanges = 20

  def of(e: Expression): Option[ColumnTest] = e match {
    case VariantCondition(test) => Some(ColumnTest(test, isExact = false))
    case comparison: BinaryComparison => compared(comparison)
    case InList(Increasing(t), values) => anyOf(t, values.map(long))
    case InList(PaddedColumn(text, length), values) => padded(text, length, values)
    case SpatialCondition(column, box) => Some(ColumnTest(SpatialCondition.test(column, box), isExact = false))
    case InList(TextPrefix(start), values) if values.size <= MaxRanges => disjunction(values.map(start.equalTo))
    case _ => None
  }

  private object Increasing {
    def unapply(e: Expression): Option[OrderedExpression] = OrderedExpression.of(e)
  }

  private object TextPrefix {
    def unapply(e: Expression): Option[StartOfText] = e match {
      case Substring(PushableColumn(text), Literal(from: Int, _), Literal(length: Int, _))
          if (from == 0 || from == 1) && length > 0 && text.dataType == StringType =>
        Some(new StartOfText(text, length))
      case _ => None
    }
  }

  private def long(value: Any): Long = value.asInstanceOf[Number].longValue

  private def compared(e: BinaryComparison): Option[ColumnTest] = e match {
    case EqualTo(TextPrefix(start), Literal(value: UTF8String, _)) => start.equalTo(value)
    case EqualTo(Literal(value: UTF8String, _), TextPrefix(start)) => start.equalTo(value)
    case EqualNullSafe(TextPrefix(start), Literal(value: UTF8String, _)) =>
      start.equalTo(value).map(notNull(start.text, _))
    case BinaryComparison(PaddedColumn(text, length), Literal(value: UTF8String, _)) =>
      PaddedColumn.test(e, text, length, value)
    case BinaryComparison(Literal(value: UTF8String, _), PaddedColumn(text, length)) =>
      swapped(e).flatMap(PaddedColumn.test(_, text, length, value))
    case BinaryComparison(Increasing(t), Literal(value: Number, _)) => compared(e, t, value.longValue)
    case BinaryComparison(Literal(value: Number, _), Increasing(t)) =>
      swapped(e).flatMap(compared(_, t, value.longValue))
    case _ => None
  }

  private def compared(operator: BinaryComparison, t: OrderedExpression, value: Long): Option[ColumnTest] =
    operator match {
      case _: GreaterThanOrEqual => t.thresholdFor(value).map(atLeast(t.column, _))
      case _: GreaterThan => t.thresholdFor(value + 1).map(atLeast(t.column, _))
      case _: LessThan => t.thresholdFor(value).map(below(t.column, _))
      case _: LessThanOrEqual => t.thresholdFor(value + 1).map(below(t.column, _))
      case _: EqualTo => equal(t, value)
      case _: EqualNullSafe => equal(t, value).map(notNull(t.column, _))
      case _ => None
    }

  private def swapped(e: BinaryComparison): Option[BinaryComparison] = e match {
    case GreaterThanOrEqual(l, r) => Some(LessThanOrEqual(r, l))
    case GreaterThan(l, r) => Some(LessThan(r, l))
    case LessThan(l, r) => Some(GreaterThan(r, l))
    case LessThanOrEqual(l, r) => Some(GreaterThanOrEqual(r, l))
    case _: EqualTo | _: EqualNullSafe => Some(e)
    case _ => None
  }

  private def atLeast(column: Expression, t: Threshold): ColumnTest =
    ColumnTest(GreaterThanOrEqual(column, literal(column, t.from - t.margin)), t.isExact)

  private def below(column: Expression, t: Threshold): ColumnTest =
    ColumnTest(LessThan(column, literal(column, t.from + t.margin)), t.isExact)

  private def literal(column: Expression, value: Long): Literal =
    if (column.dataType == DateType) Literal(value.toInt, DateType) else Literal(value, column.dataType)

  private def equal(t: OrderedExpression, value: Long): Option[ColumnTest] = between(t, value, value)

  private def between(t: OrderedExpression, least: Long, greatest: Long): Option[ColumnTest] =
    for (from <- t.thresholdFor(least); until <- t.thresholdFor(greatest + 1))
      yield conjunction(atLeast(t.column, from), below(t.column, until))

  private def conjunction(a: ColumnTest, b: ColumnTest): ColumnTest =
    ColumnTest(And(a.range, b.range), a.isExact && b.isExact)

  /** Makes the test of a `<=>` comparison false if the column is null, because `<=>` never returns null. */
  private def notNull(column: Expression, test: ColumnTest): ColumnTest =
    test.copy(range = And(IsNotNull(column), test.range))

  private def anyOf(t: OrderedExpression, values: Seq[Long]): Option[ColumnTest] =
    if (values.size <= MaxRanges) disjunction(values.distinct.map(equal(t, _)))
    else between(t, values.min, values.max).map(_.copy(isExact = false))

  private def padded(text: Expression, length: Int, values: Seq[Any]): Option[ColumnTest] =
    if (values.size > MaxRanges) None
    else disjunction(values.collect { case value: UTF8String =>
      PaddedColumn.test(EqualTo(text, Literal(value, StringType)), text, length, value)
    })

  private def disjunction(tests: Seq[Option[ColumnTest]]): Option[ColumnTest] =
    if (tests.exists(_.isEmpty)) None
    else Some(tests.flatten.reduceLeft((a, b) => ColumnTest(Or(a.range, b.range), a.isExact && b.isExact)))

  /** The expression for the prefix of a text column. The prefix has a given length in characters. */
  final private class StartOfText(val text: Expression, length: Int) {

    /**
     * Returns the test of the column that is equivalent to a comparison of the prefix with a value for equality. If the
     * value is shorter than the prefix, the whole text must be equal to it. A longer value never matches.
     */
    def equalTo(prefix: Any): Option[ColumnTest] = {
      val value = prefix.asInstanceOf[UTF8String]
      val test = Literal(value, StringType)
      if (value.numChars == length) Some(ColumnTest(StartsWith(text, test), isExact = true))
      else if (value.numChars < length) Some(ColumnTest(EqualTo(text, test), isExact = true))
      else None
    }
  }
}
