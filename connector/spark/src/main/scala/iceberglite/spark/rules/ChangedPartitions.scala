package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EqualNullSafe, EqualTo, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.Assignment

import iceberglite.spark.table.SparkTable

/** Determines whether new values of columns can move rows to other partitions. */
private[rules] object ChangedPartitions extends PredicateHelper {

  /**
   * Returns whether the assignments of an UPDATE or MERGE can move a row to another partition.
   *
   * @param assignments one assignment for each column of the table; an unchanged column is assigned to itself
   * @param condition a condition that all changed rows satisfy; the condition can imply that a column already has its
   *   new value
   */
  def mayResultFrom(assignments: Seq[Assignment], condition: Option[Expression], table: SparkTable): Boolean = {
    val partitioning = table.partitionColumns
    val equalities = condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(left, right) => (left, right)
      case EqualNullSafe(left, right) => (left, right)
    }
    assignments.exists {
      case Assignment(column: Attribute, value) =>
        partitioning(column.name) && !isUnchanged(column, withoutCasts(value), equalities)
      case _ => partitioning.nonEmpty
    }
  }

  private def isUnchanged(column: Attribute, value: Expression, equalities: Seq[(Expression, Expression)]): Boolean =
    value.semanticEquals(column) || equalities.exists { case (left, right) =>
      left.semanticEquals(column) && right.semanticEquals(value) ||
      right.semanticEquals(column) && left.semanticEquals(value)
    }

  /** Removes casts to the type that the value already has, which Spark adds to assigned values. */
  private def withoutCasts(value: Expression): Expression = value match {
    case Cast(child, target, _, _) if child.dataType == target => withoutCasts(child)
    case other => other
  }
}
