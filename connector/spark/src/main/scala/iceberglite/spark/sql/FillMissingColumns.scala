package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.ValidationFailed

/**
 * Adds the omitted columns to an INSERT with a list of columns or with BY NAME. Their values are the defaults of the
 * columns, or null. For tables in catalogs other than its session catalog, Spark 3.5 adds omitted columns only if the
 * statement contains DEFAULT.
 */
object FillMissingColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case insert @ InsertIntoStatement(relation: DataSourceV2Relation, _, _, query, _, _, _)
        if query.resolved && namesColumns(insert) =>
      val filled = relation.table match {
        case table: SparkTable => missing(insert, relation).flatMap(valueOf(_, table))
        case _ => Nil
      }
      if (filled.isEmpty) insert
      else {
        val names = if (insert.byName) Nil else insert.userSpecifiedCols ++ filled.map(_.name)
        insert.copy(userSpecifiedCols = names, query = Project(query.output ++ filled, query))
      }
  }

  /**
   * Whether omitted columns can be added. They are not added if the list of columns is longer or shorter than the rows,
   * so that Spark reports its error.
   */
  private def namesColumns(insert: InsertIntoStatement): Boolean =
    insert.byName || insert.userSpecifiedCols.nonEmpty && insert.userSpecifiedCols.size == insert.query.output.size

  private def missing(insert: InsertIntoStatement, relation: DataSourceV2Relation): Seq[Attribute] = {
    val namedColumns = if (insert.byName) insert.query.output.map(_.name) else insert.userSpecifiedCols
    val writtenNames = namedColumns ++ insert.partitionSpec.collect { case (name, Some(_)) => name }
    relation.output.filterNot(column => writtenNames.exists(conf.resolver(_, column.name)))
  }

  /** Returns null for a generated column, because the rule ComputeGeneratedColumns replaces null by the value. */
  private def valueOf(column: Attribute, table: SparkTable): Option[NamedExpression] =
    if (table.generatedColumns.exists(_.target.name == column.name))
      Some(Alias(Literal(null, column.dataType), column.name)())
    else defaultOf(column, table.name)

  private def defaultOf(column: Attribute, table: String): Option[NamedExpression] = {
    val value = ResolveDefaultColumns.getDefaultValueExprOrNullLit(column, conf.useNullsForMissingDefaultColumnValues)
    if (value.isEmpty && !column.nullable) throw SparkErrors.of(
      table,
      ValidationFailed(
        s"Cannot write to $table: the rows lack the column ${column.name}, which is NOT NULL and has no default. Add " +
          "the column"
      )
    )
    value
  }
}
