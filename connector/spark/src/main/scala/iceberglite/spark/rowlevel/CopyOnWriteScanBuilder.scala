package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spark.read.planning.{RewritePacking, StatementFiles}

/**
 * Builds a scan of the files that a statement will replace. It reads all rows of every file that may have a row that
 * satisfies the condition.
 *
 * @param packing how the files are packed into tasks; called when Spark runs the scan
 */
final private[iceberglite] class CopyOnWriteScanBuilder(
    inner: IcebergScanBuilder,
    packing: () => Option[RewritePacking]
) extends SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns
    with ErrorBoundary {
  override protected def errorName: String = inner.tableName

  private var scan: Option[CopyOnWriteScan] = None

  /**
   * Pushes conditions down to select files. Spark evaluates the conditions that the partition values of files do not
   * decide for all rows of a file.
   */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = in(inner.pushPredicates(predicates))

  override def pushedPredicates(): Array[Predicate] = in(inner.pushedPredicates())

  override def pruneColumns(required: StructType): Unit = in(inner.pruneColumns(required))

  override def build(): Scan = in {
    val built = new CopyOnWriteScan(inner.buildUngrouped(), packing)
    scan = Some(built)
    built
  }

  /** Returns the files that the statement reads, after Spark has planned the scan. */
  def files: StatementFiles = scan.fold(StatementFiles.Empty)(_.statementFiles)
}
