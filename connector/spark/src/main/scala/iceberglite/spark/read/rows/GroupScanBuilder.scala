package iceberglite.spark.read.rows

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{Scan, SupportsPushDownRequiredColumns, SupportsPushDownV2Filters}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.read.IcebergScanBuilder

/**
 * Reads files that a statement is going to replace: all the rows of every file that may have one for which its condition
 * holds.
 *
 * @param packing how the files are packed into tasks; asked when Spark runs the scan
 */
final private[spark] class GroupScanBuilder(inner: IcebergScanBuilder, packing: () => Option[RewritePacking])
    extends SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns {
  private var scan: Option[GroupScan] = None

  /**
   * The conditions choose files; which rows of them satisfy a condition is left to Spark, but for those that their
   * partitions decide.
   */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = inner.pushPredicates(predicates)

  override def pushedPredicates(): Array[Predicate] = inner.pushedPredicates()

  override def pruneColumns(required: StructType): Unit = inner.pruneColumns(required)

  override def build(): Scan = {
    val built = new GroupScan(inner.buildPlain(), packing)
    scan = Some(built)
    built
  }

  /** What was read, as soon as Spark has planned the reading. */
  def files: StatementFiles = scan.fold(StatementFiles.Nothing)(_.statementFiles)
}
