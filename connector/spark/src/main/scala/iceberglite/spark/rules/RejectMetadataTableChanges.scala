package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteFromTable,
  LogicalPlan,
  MergeIntoTable,
  UpdateTable,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/** Rejects statements that change a metadata table or a changelog. Spark's own errors for them have no condition. */
object RejectMetadataTableChanges extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case write: V2WriteCommand => check(write.table)
      case delete: DeleteFromTable => check(delete.table)
      case update: UpdateTable => check(update.table)
      case merge: MergeIntoTable => check(merge.targetTable)
      case _ =>
    }
    plan
  }

  private def check(target: LogicalPlan): Unit = target.foreach {
    case DataSourceV2Relation(_: SparkTable, _, _, _, _) =>
    case DataSourceV2Relation(table: PinnableTable, _, _, _, _) =>
      throw SparkErrors.of(table.name, Unsupported(s"changing the rows of ${table.name}", "It is read-only"))
    case _ =>
  }
}
