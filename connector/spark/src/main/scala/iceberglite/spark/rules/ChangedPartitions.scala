package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, EqualNullSafe, EqualTo, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.Assignment

import iceberglite.spark.SparkTable

/** Tells whether new values of columns may put rows into other partitions. */
private[rules] object ChangedPartitions extends PredicateHelper {

  /**
   * @param assignments one for each column of the table; a column that keeps its value has itself as value
   * @param condition what holds for the rows that are changed: a column that equals its new value keeps it
   */
  def by(assignments: Seq[Assignment], condition: Option[Expression], table: SparkTable): Boolean = {
    val partitioning = table.partitionColumns
    val equal = condition.toSeq.flatMap(splitConjunctivePredicates).collect {
      case EqualTo(left, right) => (left, right)
      case EqualNullSafe(left, right) => (left, right)
    }
    assignments.exists {
      case Assignment(column: Attribute, value) => partitioning(column.name) && !keeps(column, plain(value), equal)
      case _ => partitioning.nonEmpty
    }
  }

  private def keeps(column: Attribute, value: Expression, equal: Seq[(Expression, Expression)]): Boolean =
    value.semanticEquals(column) || equal.exists { case (left, right) =>
      left.semanticEquals(column) && right.semanticEquals(value) ||
      right.semanticEquals(column) && left.semanticEquals(value)
    }

  /** Spark casts values to the type of their column, also where they have it. */
  private def plain(value: Expression): Expression = value match {
    case Cast(child, target, _, _) if child.dataType == target => plain(child)
    case other => other
  }
}
