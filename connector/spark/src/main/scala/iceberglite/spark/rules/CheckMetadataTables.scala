package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteFromTable,
  LogicalPlan,
  MergeIntoTable,
  UpdateTable,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.inspect.MetadataSparkTable
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/**
 * Rejects statements that change the rows of a metadata table or a changelog, and streams of metadata tables. Spark's
 * own errors for such statements and streams have no condition.
 */
object CheckMetadataTables extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case write: V2WriteCommand => checkTarget(write.table)
      case delete: DeleteFromTable => checkTarget(delete.table)
      case update: UpdateTable => checkTarget(update.table)
      case merge: MergeIntoTable => checkTarget(merge.targetTable)
      case _ => if (plan.isStreaming) checkStreams(plan)
    }
    plan
  }

  private def checkTarget(target: LogicalPlan): Unit = target.foreach {
    case DataSourceV2Relation(_: SparkTable, _, _, _, _) =>
    case relation @ DataSourceV2Relation(table: PinnableTable, _, _, _, _) => SparkErrors.at(relation.origin) {
        throw SparkErrors.of(table.name, Unsupported.operation(table.name, "changing the rows of", "It is read-only"))
      }
    case _ =>
  }

  private def checkStreams(plan: LogicalPlan): Unit = plan.foreach {
    case StreamingRelationV2(_, _, table: MetadataSparkTable, _, _, _, _, _) =>
      val advice = "Stream the table, or its changes"
      throw SparkErrors.of(table.name, Unsupported.operation(table.name, "a stream of", advice))
    case _ =>
  }
}
