package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.errors.QueryCompilationErrors
import org.apache.spark.sql.execution.command.ViewHelper
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.util.SchemaUtils

/** Spark's own checks and errors for views, which are accessible only in Spark's packages. */
object ViewChecks {

  /**
   * Checks the query and the column names of a permanent view.
   *
   * @param names the names of the view's columns in the statement; empty if the statement has no list of columns
   * @param temporaryFunctions the temporary functions that the query uses
   * @throws org.apache.spark.sql.AnalysisException if the numbers of columns differ, if two columns have the same name,
   *   or if the query uses temporary objects
   */
  def check(
      view: TableIdentifier,
      query: LogicalPlan,
      names: Seq[String],
      temporaryFunctions: Seq[String],
      caseSensitive: Boolean
  ): Unit = {
    if (names.nonEmpty && names.size > query.output.size) {
      throw QueryCompilationErrors.cannotCreateViewNotEnoughColumnsError(view, names, query)
    }
    if (names.nonEmpty && names.size < query.output.size) {
      throw QueryCompilationErrors.cannotCreateViewTooManyColumnsError(view, names, query)
    }
    val columns = if (names.isEmpty) query.output.map(_.name) else names
    SchemaUtils.checkColumnNameDuplication(columns, caseSensitive)
    ViewHelper.verifyTemporaryObjectsNotExists(isTemporary = false, view, query, temporaryFunctions)
  }

  /** Returns the type with nullable fields, elements and values. */
  def nullable(dataType: DataType): DataType = dataType.asNullable

  /** Returns the error for a view that refers to itself. @param path the views from the first to the repeated view */
  def cycle(view: TableIdentifier, path: Seq[TableIdentifier]): Throwable =
    QueryCompilationErrors.recursiveViewDetectedError(view, path)

  def tooDeep(view: TableIdentifier, maxDepth: Int, at: LogicalPlan): Throwable =
    QueryCompilationErrors.viewDepthExceedsMaxResolutionDepthError(view, maxDepth, at)

  /** Returns the error for a view's query that is not valid SQL. */
  def invalidText(view: String, text: String): Throwable = QueryCompilationErrors.invalidViewText(text, view)

  /** Returns the error for time travel. @param view the name in SQL */
  def timeTravel(view: String): Throwable = QueryCompilationErrors.timeTravelUnsupportedError(view)
}
