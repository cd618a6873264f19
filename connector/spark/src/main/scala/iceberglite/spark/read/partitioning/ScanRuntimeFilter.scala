package iceberglite.spark.read.partitioning

import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Literal => SparkLiteral,
  NamedReference
}
import org.apache.spark.sql.connector.expressions.filter.{And => SparkAnd, Predicate}

import iceberglite.scan.FileScanTask
import iceberglite.spark.convert.SparkFilters
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.expr.{Evaluate, Expression}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.Literal

/**
 * A runtime filter and its effect on a scan. Spark creates the filter from the rows of the other join side. The filter
 * is converted and bound only once, and files are planned with it only once, because it may contain many thousands of
 * values.
 *
 * @param bound the filter, bound to the columns of the scan
 */
final private[read] class ScanRuntimeFilter private (val bound: Expression, files: ScanFiles) {

  /** The planned files that may have rows that satisfy the filter. */
  lazy val tasks: Vector[FileScanTask] = files.tasksWith(bound)

  /** The filter for the rows of [[tasks]], in which ranges replace long lists of values. */
  lazy val forRows: Expression = ScanRuntimeFilter.forRows(bound)

  def isEmpty: Boolean = bound == AlwaysTrue
}

private[read] object ScanRuntimeFilter {

  /**
   * The maximum number of values in the filter for rows. A longer list is replaced by its range, because each task
   * contains the filter and tests it for every row group and page.
   */
  private val MaxValues = 100

  /**
   * The maximum number of values in the filter for files; scans of many files use a higher maximum. A longer list is
   * replaced by its range, because the list would skip only a few more files.
   */
  private val MaxValuesForFiles = 10000

  /** The higher maximum for scans of many files, in values per planned file. */
  private val MaxValuesForEachFile = 10

  def none(files: ScanFiles): ScanRuntimeFilter = new ScanRuntimeFilter(AlwaysTrue, files)

  def of(predicates: Array[Predicate], files: ScanFiles, caseSensitive: Boolean): ScanRuntimeFilter = {
    val limit = math.max(MaxValuesForFiles.toLong, MaxValuesForEachFile.toLong * files.plan.tasks.size)
    val filters = new SparkFilters(files.schema, caseSensitive)
    val converted = predicates.map(withShortList(_, limit)).flatMap(filters.convert(_)).map(_.expression)
    new ScanRuntimeFilter(files.bind(converted.foldLeft[Expression](AlwaysTrue)(and)), files)
  }

  /**
   * Replaces a list with more than `limit` values by its range, before the conversion creates an Iceberg literal for
   * each value.
   */
  private[partitioning] def withShortList(predicate: Predicate, limit: Long): Predicate =
    predicate.children.toVector match {
      case (column: NamedReference) +: values if predicate.name == "IN" && values.size > limit =>
        range(column, values).getOrElse(predicate)
      case _ => predicate
    }

  private def range(column: NamedReference, values: Vector[SparkExpression]): Option[Predicate] = {
    val literals = values.collect { case literal: SparkLiteral[_] if literal.value != null => literal }
    literals.headOption.map { first =>
      val ordering = TypeUtils.getInterpretedOrdering(first.dataType).on[SparkLiteral[_]](_.value)
      new SparkAnd(
        new Predicate(">=", Array(column, literals.min(ordering))),
        new Predicate("<=", Array(column, literals.max(ordering)))
      )
    }
  }

  /**
   * Replaces long lists of values by their ranges. The returned condition is true for every row for which the filter is
   * true.
   */
  def forRows(bound: Expression): Expression = bound match {
    case In(term, values) if values.size > MaxValues =>
      implicit val ordering: Ordering[Literal] = Evaluate.ordering
      And(GreaterThanOrEqual(term, values.min), LessThanOrEqual(term, values.max))
    case And(l, r) => and(forRows(l), forRows(r))
    case Or(l, r) => or(forRows(l), forRows(r))
    case other => other
  }
}
