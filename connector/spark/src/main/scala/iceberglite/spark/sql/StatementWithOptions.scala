package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteFromTable,
  LogicalPlan,
  MergeIntoTable,
  SubqueryAlias,
  UnaryCommand,
  UpdateTable,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.conf.StatementOptions
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/** A statement whose options have not been passed to its table yet. */
final private[iceberglite] case class StatementWithOptions(child: LogicalPlan, options: StatementOptions)
    extends UnaryCommand {
  override lazy val resolved: Boolean = false
  override protected def withNewChildInternal(newChild: LogicalPlan): StatementWithOptions = copy(child = newChild)
}

/**
 * Passes the options of a statement to its table as soon as the table is resolved. The options of Spark's relation
 * cannot be used: Spark 3.5 does not pass them to the operation and the write. With such options, the relation would
 * also differ from other relations of the same table in the statement and in cached queries.
 */
object StatementWithOptions extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case StatementWithOptions(d: DeleteFromTable, options) if d.table.resolved =>
      d.copy(table = changed(d.table, options))
    case StatementWithOptions(u: UpdateTable, options) if u.table.resolved => u.copy(table = changed(u.table, options))
    case StatementWithOptions(m: MergeIntoTable, options) if m.targetTable.resolved =>
      m.copy(targetTable = changed(m.targetTable, options))
    case StatementWithOptions(w: V2WriteCommand, options) if w.table.resolved =>
      changed(w.table, options) match {
        case relation: DataSourceV2Relation => w.withNewTable(relation)
        case _ => w
      }
  }

  /**
   * Replaces the table in a plan. Spark's own methods would keep the old plan, because the new table is equal to the
   * old one.
   */
  private def changed(target: LogicalPlan, options: StatementOptions): LogicalPlan = target match {
    case alias: SubqueryAlias => alias.copy(child = changed(alias.child, options))
    case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) =>
      relation.copy(table = table.changedWith(options))
    case other =>
      val name = other match {
        case relation: DataSourceV2Relation => relation.name
        case plan => plan.nodeName
      }
      throw SparkErrors.of(
        name,
        Unsupported(
          s"options of a statement that changes $name",
          "Only iceberg-lite tables support them; remove WITH (...)"
        )
      )
  }
}
