package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.analysis.NamedRelation
import org.apache.spark.sql.catalyst.plans.logical.{AppendData, LogicalPlan, ReplaceData, WriteDelta}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.table.SparkTable

/**
 * Lets Spark refresh cached plans after a MERGE that adds columns. After a write, Spark finds the cached plans of the
 * table by the columns of the written relation. Cached plans have the columns that the table had before the MERGE.
 * Therefore, this rule replaces the written relation by a relation with these columns.
 */
object RestoreRelationBeforeMerge extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, _, BeforeMerge(relation), _, _) => write.copy(originalTable = relation)
    case write @ WriteDelta(_, _, _, BeforeMerge(relation), _, _) => write.copy(originalTable = relation)
    case write @ AppendData(BeforeMerge(relation), _, _, _, Some(_), _) => write.copy(table = relation)
    case _ => plan
  }

  private object BeforeMerge {
    def unapply(table: NamedRelation): Option[DataSourceV2Relation] = table match {
      case DataSourceV2Relation(table: SparkTable, _, catalog, ident, options) =>
        table.beforeStatement.map(DataSourceV2Relation.create(_, catalog, ident, options))
      case _ => None
    }
  }
}
