package iceberglite.spark.sql

import java.util

import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.plans.logical.{DescribeRelation, LogicalPlan, ShowCreateTable}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, SupportsRead, TableCapability}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.table.SparkTable

/**
 * A table for `DESCRIBE TABLE` and `SHOW CREATE TABLE`. Its columns have the types of the Iceberg table. The columns of
 * a [[SparkTable]] have the types that Spark 3.5 has, for example `binary` for a geometry.
 */
final private class DisplayedTable(table: SparkTable) extends SupportsRead with SupportsMetadataColumns {
  override def name: String = table.name
  override def schema: StructType = table.displayedSchema
  override def partitioning: Array[Transform] = table.partitioning
  override def properties: util.Map[String, String] = table.properties
  override def capabilities: util.Set[TableCapability] = table.capabilities
  override def metadataColumns: Array[MetadataColumn] = table.metadataColumns
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = table.newScanBuilder(options)
}

/** Shows the types of the table in the statements that describe tables. */
object DisplayTableTypes extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DescribeRelation(shown @ ResolvedTable(_, _, table: SparkTable, _), partition, isExtended, output) =>
      DescribeRelation(shown.copy(table = new DisplayedTable(table)), partition, isExtended, output)
    case ShowCreateTable(shown @ ResolvedTable(_, _, table: SparkTable, _), asSerde, output) =>
      ShowCreateTable(shown.copy(table = new DisplayedTable(table)), asSerde, output)
  }
}
