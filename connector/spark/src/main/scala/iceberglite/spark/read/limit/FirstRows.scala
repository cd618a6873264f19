package iceberglite.spark.read.limit

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.facts.ColumnFacts
import iceberglite.spec.Literal
import iceberglite.spec.expr.Expression.{GreaterThanOrEqual, IsNull, LessThanOrEqual, and, or}
import iceberglite.spec.expr.{Expression, Term}

/**
 * Leaves out the files that by their bounds hold none of the first rows in an order.
 *
 * There are enough rows up to the bound that so many rows for certain do not lie beyond. A file whose values all lie
 * beyond that bound is not needed; one whose values may be equal to it is, for ties go by other columns. What is wanted
 * of the other files is part of their residual, so that parts of them are skipped too.
 *
 * @param rows how many rows are wanted; all rows of the files are candidates
 */
final private[limit] class FirstRows(order: RowOrder, rows: Long) {

  /** From the view of an ascending order: what comes last and first in a file. */
  private val before: Ordering[Literal] = if (order.isAscending) Literal.ordering else Literal.ordering.reverse

  private def nearest(facts: ColumnFacts): Option[Literal] = if (order.isAscending) facts.lower else facts.upper

  private def farthest(facts: ColumnFacts): Option[Literal] = if (order.isAscending) facts.upper else facts.lower

  def of(tasks: Vector[FileScanTask]): Vector[FileScanTask] = {
    val factsOf = order.facts
    val facts = tasks.map(factsOf)
    val nulls = facts.iterator.map(_.nullsAtLeast).sum
    val end = if (order.nullsFirst && nulls >= rows) Some(AmongNulls) else endAmongValues(facts, nulls)
    end.fold(tasks) { last =>
      tasks.zip(facts).collect {
        case (task, f) if last.mayHold(f) =>
          task.copy(residual = and(task.residual, last.condition))
      }
    }
  }

  /** The bound up to which there are rows enough; absent where there may be fewer in all. */
  private def endAmongValues(facts: Vector[ColumnFacts], nulls: Long): Option[End] = {
    var sure = if (order.nullsFirst) nulls else 0L
    facts.flatMap(f => farthest(f).map(_ -> f.valuesAtLeast)).sortBy(_._1)(before).iterator
      .find { case (_, values) =>
        sure += values
        sure >= rows
      }
      .map { case (bound, _) => new UpTo(bound) }
  }

  /** Where the wanted rows end. */
  sealed private trait End {

    /** What the wanted rows satisfy. */
    def condition: Expression

    /** Whether a file may hold one of them. */
    def mayHold(facts: ColumnFacts): Boolean
  }

  private object AmongNulls extends End {
    override val condition: Expression = IsNull(term)
    override def mayHold(facts: ColumnFacts): Boolean = facts.mayBeNull
  }

  final private class UpTo(bound: Literal) extends End {
    override val condition: Expression = {
      val values = if (order.isAscending) LessThanOrEqual(term, bound) else GreaterThanOrEqual(term, bound)
      if (order.nullsFirst) or(IsNull(term), values) else values
    }

    override def mayHold(facts: ColumnFacts): Boolean =
      order.nullsFirst && facts.mayBeNull || !facts.hasNoValue && nearest(facts).forall(before.lteq(_, bound))
  }

  private def term: Term = Term.Bound(order.column.field, order.column.name)
}
