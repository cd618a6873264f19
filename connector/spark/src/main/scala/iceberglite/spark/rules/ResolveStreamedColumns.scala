package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.StreamOptions
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.stream.source.{SchemaTracking, StreamedColumns}
import iceberglite.spark.table.SparkTable

/**
 * Applies the options of a streaming read that select columns: replaces the columns of the table by the columns of the
 * schema with the id in `streaming-schema-id`, or by the columns that the query has recorded (`schema-tracking`). Only
 * methods of `DataStreamReader` can set the options. Therefore, when this rule runs, no other operator refers to the
 * columns yet.
 */
final class ResolveStreamedColumns(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case relation: StreamingRelationV2 => relation.table match {
        case table: SparkTable if table.streamed == StreamedColumns.Current =>
          SparkErrors.in(table.name)(columnsOf(table, relation.extraOptions)).fold(relation) { columns =>
            val fixed = table.withColumns(columns)
            relation.copy(table = fixed, output = DataTypeUtils.toAttributes(fixed.schema))
          }
        case _ => relation
      }
  }

  private def columnsOf(table: SparkTable, options: CaseInsensitiveStringMap): Option[StreamedColumns] =
    StreamOptions.schemaTracking(options).map { location =>
      val tracking = new SchemaTracking(location, session.sessionState.newHadoopConf())
      StreamedColumns.Tracked(tracking.recorded(table.table.name, table.table.metadata).map(_.columns.schema))
    }.orElse(StreamOptions.schemaId(options).map(StreamedColumns.OfSchema))
}
