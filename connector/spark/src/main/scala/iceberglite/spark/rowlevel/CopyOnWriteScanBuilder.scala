package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{SupportsPushDownRequiredColumns, SupportsPushDownV2Filters}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.IcebergScanBuilder

/**
 * Builds a scan of the files that a statement will replace. It reads all rows of every file that may have a row that
 * satisfies the condition.
 *
 * @param context receives the scan
 */
final private[rowlevel] class CopyOnWriteScanBuilder(inner: IcebergScanBuilder, context: StatementContext)
    extends SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns
    with ErrorBoundary {
  override protected def errorName: String = inner.tableName

  /**
   * Pushes conditions down. They select the files to read. Spark still evaluates a condition for each row, unless the
   * partition values show that the condition is true for all rows of the files.
   */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = in(inner.pushPredicates(predicates))

  override def pushedPredicates(): Array[Predicate] = in(inner.pushedPredicates())

  override def pruneColumns(required: StructType): Unit = in(inner.pruneColumns(required))

  override def build(): CopyOnWriteScan = in {
    val scan = new CopyOnWriteScan(inner.buildUngrouped(), context)
    context.publishRead(scan)
    scan
  }
}
