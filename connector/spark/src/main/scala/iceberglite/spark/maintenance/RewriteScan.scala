package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes
import org.apache.spark.sql.connector.read.{Batch, Scan}
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.types.{Metadata, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.convert.VariantForm
import iceberglite.spark.read.{IcebergScan, IcebergScanBuilder, RewriteParts, SnapshotRead}
import iceberglite.spark.read.planning.{FixedPacking, ScanFiles}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * Reads the files of a rewrite.
 *
 * @param inner an ordinary scan of the table; this scan has the same columns and settings
 * @param table the name of the table
 * @param taskFiles the files, or splits of files, of each Spark task
 */
final private[maintenance] class RewriteScan(
    inner: IcebergScan,
    table: String,
    taskFiles: Vector[Vector[FileScanTask]]
) extends Scan
    with SnapshotRead {
  override private[iceberglite] def scanFiles: ScanFiles = inner.files

  /** Returns the schema. Row ids and sequence numbers are ordinary columns, because the write stores them. */
  override def readSchema(): StructType = StructType(inner.readSchema().map(_.copy(metadata = Metadata.empty)))

  override def columnarSupportMode(): ColumnarSupportMode = inner.columnarSupportMode()

  override def toBatch: Batch = inner.batchOf(taskFiles.flatten, Some(FixedPacking(taskFiles)))

  /** Describes the scan. The description does not plan the whole table, which may have many more files. */
  override def description(): String =
    s"iceberg-lite $table [files=${taskFiles.iterator.flatten.map(_.file.path).toSet.size}, tasks=${taskFiles.size}]"

  override def toString: String = s"RewriteScan($table)"
}

private[maintenance] object RewriteScan {

  /**
   * Returns a scan of files.
   *
   * @param snapshot the snapshot that the rewrite has read
   * @param columns selects the columns to read from all columns of the table
   */
  def of(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      taskFiles: Vector[Vector[FileScanTask]]
  )(columns: StructType => StructType): RewriteScan = {
    val builder = new IcebergScanBuilder(
      table,
      Some(snapshot),
      table.schema,
      CaseInsensitiveStringMap.empty,
      session,
      rewrite = RewriteParts(wholeFiles = false, VariantForm.Exact)
    )
    builder.pruneColumns(columns(sparkTable(table).schema))
    new RewriteScan(builder.buildUngrouped(), table.name, taskFiles)
  }

  /** Returns a plan that reads files. The parameters are the same as in [[of]]. */
  def plan(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      taskFiles: Vector[Vector[FileScanTask]]
  )(columns: StructType => StructType): LogicalPlan = {
    val scan = of(session, table, snapshot, taskFiles)(columns)
    val relation = DataSourceV2Relation.create(sparkTable(table), None, None, CaseInsensitiveStringMap.empty)
    DataSourceV2ScanRelation(relation, scan, toAttributes(scan.readSchema()))
  }

  private def sparkTable(table: Table): SparkTable = new SparkTable(() => table, TimeTravel.Latest)
}
