package iceberglite.spark.inspect

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{
  LocalScan,
  Scan,
  ScanBuilder,
  Statistics,
  SupportsPushDownRequiredColumns,
  SupportsReportStatistics
}
import org.apache.spark.sql.types.StructType

import iceberglite.inspect.MetadataTable
import iceberglite.spark.convert.InternalRows
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.partitioning.SizeEstimate
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * Reads a metadata table. The driver produces the rows of the metadata table when the query is planned for execution.
 * Spark filters the rows.
 *
 * @param schema the schema of the metadata table when Spark resolved it
 */
final class MetadataTableScanBuilder(
    name: String,
    table: Table,
    metadataTable: MetadataTable,
    snapshot: Option[Snapshot],
    schema: StructType
) extends ScanBuilder
    with SupportsPushDownRequiredColumns
    with ErrorBoundary {
  override protected def errorName: String = name

  private var requiredSchema: StructType = schema

  /** Prunes top-level columns only. File metrics are decoded only if a column with metrics is requested. */
  override def pruneColumns(required: StructType): Unit = in {
    requiredSchema = StructType(schema.filter(field => required.fieldNames.contains(field.name)))
  }

  override def build(): Scan = in(new MetadataTableScan(name, table, metadataTable, snapshot, requiredSchema))
}

final private class MetadataTableScan(
    name: String,
    table: Table,
    metadataTable: MetadataTable,
    snapshot: Option[Snapshot],
    requiredSchema: StructType
) extends LocalScan
    with SupportsReportStatistics
    with ErrorBoundary {
  override protected def errorName: String = name

  private lazy val outputRows: Array[InternalRow] = in {
    val columns = metadataTable.schema(table)
    val positions = requiredSchema.fieldNames.map(field => columns.fields.indexWhere(_.name == field)).toVector
    val convert = InternalRows.of(Schema(0, positions.map(columns.fields)))
    metadataTable.rows(table, snapshot).map(row => convert(row.copy(values = positions.map(row.values)))).toArray
  }

  override def rows(): Array[InternalRow] = outputRows

  /**
   * Estimates the size of the rows from their number. Spark requests the estimate from the same scan object that it
   * executes later, so the rows are produced only once.
   */
  override def estimateStatistics(): Statistics =
    in(SizeEstimate.of(outputRows.length.toLong, requiredSchema).statistics())

  override def readSchema(): StructType = requiredSchema

  override def description(): String = in(s"$name ${requiredSchema.fieldNames.mkString("[", ", ", "]")}")
}
