package iceberglite.spark.rules

import java.time.temporal.ChronoUnit
import java.time.{Instant, ZoneId}

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types.{DataType, DateType, TimestampNTZType, TimestampType}

import iceberglite.spark.rules.OrderedExpression._

/**
 * An expression over one column of dates or timestamps, such as `date_trunc('month', ts)` or `year(d)`. If the column
 * increases, the expression increases or stays the same.
 *
 * There is one exception: when clocks are set back, the local time decreases, and the value of the expression may
 * decrease too. For example, the local time 00:00:30 in St. John's may be followed by 23:01 of the previous day. Near
 * such clock changes, the smallest column value for a value of the expression is known only within a margin.
 *
 * @param column a column of type date, timestamp or timestamp without time zone
 * @param expression the whole expression, which contains the column
 */
final private[rules] class OrderedExpression(val column: Expression, expression: Expression) {
  private val input = BoundReference(0, column.dataType, nullable = false)
  private val function = expression.transform { case e if e eq column => input }
  private val zones = expression.collect { case e: TimeZoneAwareExpression => e.timeZoneId }.flatten.distinct
    .map(DateTimeUtils.getZoneId)

  /**
   * Returns the smallest column value for which the expression is at least a given value.
   *
   * @return absent if the expression is always less, or never less, than the given value, or if it cannot be evaluated
   */
  def thresholdFor(value: Long): Option[Threshold] =
    try {
      val (below, from) = limits(column.dataType)
      if (evaluate(below) >= value || evaluate(from) < value) None
      else {
        val first = firstReaching(value, below, from)
        Some(Threshold(first, marginAt(first)))
      }
    } catch { case NonFatal(_) => None }

  /** Finds the threshold by bisection. The expression is less than `value` at `below`, and not less at `from`. */
  @tailrec private def firstReaching(value: Long, below: Long, from: Long): Long =
    if (below + 1 >= from) from
    else {
      // Compute the middle without the difference of the two values, which may overflow a long.
      val middle = (below >> 1) + (from >> 1) + (below & from & 1)
      if (evaluate(middle) < value) firstReaching(value, middle, from) else firstReaching(value, below, middle)
    }

  private def evaluate(value: Long): Long = {
    val typed: Any = if (column.dataType == DateType) value.toInt else value
    function.eval(InternalRow(typed)).asInstanceOf[Number].longValue
  }

  /** Returns the margin of a threshold at a column value, in units of the column. */
  private def marginAt(value: Long): Long = {
    val unit = if (column.dataType == DateType) MicrosPerDay else 1L
    val moment = Instant.EPOCH.plus(value * unit, ChronoUnit.MICROS)
    val days = zones.map(uncertainDays(_, moment)).foldLeft(0L)(math.max)
    days * MicrosPerDay / unit
  }
}

/**
 * The column value at which the expression reaches a given value.
 *
 * @param from the first column value at which the expression is at least the given value
 * @param margin the distance from `from`, in units of the column, within which clock changes can make the expression
 *   reach the given value earlier or fall below it again
 */
final private[rules] case class Threshold(from: Long, margin: Long) {
  def isExact: Boolean = margin == 0
}

private[rules] object OrderedExpression {
  private val MicrosPerDay = 86400L * 1000 * 1000
  private val MicrosPerYear = 365 * MicrosPerDay

  /** The number of days before and after a moment within which clock changes are taken into account. */
  private val ClockChangeDays = 14L

  def of(e: Expression): Option[OrderedExpression] = columnOf(e).filter(_ ne e).map(new OrderedExpression(_, e))

  private def columnOf(e: Expression): Option[Expression] = e match {
    case PushableColumn(column) if isDateOrTimestamp(column.dataType) => Some(column)
    case Cast(child, t, _, _) if isDateOrTimestamp(t) && isDateOrTimestamp(child.dataType) => columnOf(child)
    case TruncTimestamp(unit, child, _) if unit.foldable => columnOf(child)
    case TruncDate(child, unit) if unit.foldable => columnOf(child)
    case Year(child) => columnOf(child)
    case LastDay(child) => columnOf(child)
    case _ => None
  }

  private def isDateOrTimestamp(t: DataType): Boolean = t match {
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /** Returns column values before and after all valid dates or timestamps. Calculations with them do not overflow. */
  private def limits(t: DataType): (Long, Long) =
    if (t == DateType) (-280000 * 365L, 280000 * 365L) else (-280000 * MicrosPerYear, 280000 * MicrosPerYear)

  /**
   * Returns the number of days before and after a moment within which clock changes make the threshold uncertain. At a
   * clock change, clocks are set forward or back, or skip a whole day.
   */
  private def uncertainDays(zone: ZoneId, moment: Instant): Long = {
    val rules = zone.getRules
    val until = moment.plus(ClockChangeDays, ChronoUnit.DAYS)
    val changes = Iterator.iterate(Option(rules.nextTransition(moment.minus(ClockChangeDays, ChronoUnit.DAYS))))(
      _.flatMap(t => Option(rules.nextTransition(t.getInstant)))
    ).takeWhile(_.exists(!_.getInstant.isAfter(until))).flatten.map(_.getDuration.abs.toHours).toVector
    if (changes.isEmpty) 0L else if (changes.max <= 1) 1L else 7L
  }
}

/** Matches a column or struct field that Spark can name in a filter for a data source. */
private[rules] object PushableColumn {
  def unapply(e: Expression): Option[Expression] = if (isColumn(e)) Some(e) else None

  private def isColumn(e: Expression): Boolean = e match {
    case _: AttributeReference => true
    case GetStructField(child, _, _) => isColumn(child)
    case _ => false
  }
}
