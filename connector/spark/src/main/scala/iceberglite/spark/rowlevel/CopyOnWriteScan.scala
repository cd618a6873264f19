package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.expressions.{Expressions, Literal, NamedReference}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.connector.read.{
  Batch,
  Scan,
  Statistics,
  SupportsReportStatistics,
  SupportsRuntimeV2Filtering
}
import org.apache.spark.sql.types.{Metadata, StructType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.scan.FileScanTask
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{IcebergScan, SnapshotRead}
import iceberglite.spark.read.planning.{ScanFiles, StatementFiles}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.schema.MetadataColumns

/**
 * Reads whole files for a statement that replaces these files. If the condition of the statement allows it, Spark first
 * runs a query that finds the files with a row to change. All other files are neither read nor replaced.
 *
 * @param context the state of the statement. It contains the packing of the files into tasks after the write is
 *   planned, and the selected files after the first query
 */
final private[rowlevel] class CopyOnWriteScan(inner: IcebergScan, context: StatementContext)
    extends Scan
    with SnapshotRead
    with StatementRead
    with SupportsReportStatistics
    with SupportsRuntimeV2Filtering
    with ErrorBoundary {
  override protected def errorName: String = inner.files.table.name

  override private[iceberglite] def scanFiles: ScanFiles = inner.files

  private lazy val candidates: Vector[FileScanTask] = inner.plannedTasks.map(_.copy(residual = AlwaysTrue))

  private def tasks: Vector[FileScanTask] =
    context.selectedPaths.fold(candidates)(paths => candidates.filter(t => paths(t.file.path)))

  override def files: StatementFiles = in(StatementFiles(tasks, inner.filter))

  override def isOneTask: Boolean = in(taskCount <= 1)

  private def taskCount: Int = inner.packing.packForRewrite(tasks, context.packing).size

  /**
   * Returns the schema. Metadata columns that the plan passes from the scan to the write are not marked as metadata
   * columns.
   */
  override def readSchema(): StructType = in(StructType(inner.readSchema().map { column =>
    if (CarryOverColumns.contains(column.name)) column.copy(metadata = Metadata.empty) else column
  }))

  override def description(): String =
    in(s"${inner.descriptionWith(taskCount)} whole files")

  override def estimateStatistics(): Statistics = in(inner.estimateStatistics())

  override def columnarSupportMode(): ColumnarSupportMode = in(inner.columnarSupportMode())

  override def toBatch: Batch = in(inner.batchOf(tasks, context.packing))

  override def filterAttributes(): Array[NamedReference] = in(Array(Expressions.column(MetadataColumns.FilePath.name)))

  /** Restricts the statement to the files with a row to change. Spark passes their paths as a runtime filter. */
  override def filter(predicates: Array[Predicate]): Unit =
    in(context.restrictTo(predicates.map(pathsOf).reduce(_ intersect _)))

  private def pathsOf(predicate: Predicate): Set[String] = predicate.children.toVector match {
    case (column: NamedReference) +: values
        if predicate.name == "IN" && column.fieldNames.sameElements(Array(MetadataColumns.FilePath.name)) =>
      values.collect { case literal: Literal[_] =>
        literal.value match {
          case path: UTF8String => path.toString
          case other =>
            throw new IllegalArgumentException(s"$other in the runtime filter $predicate is not a file path")
        }
      }.toSet
    case _ => throw new IllegalArgumentException(s"The runtime filter $predicate does not compare file paths")
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = in(inner.supportedCustomMetrics())

  override def reportDriverMetrics(): Array[CustomTaskMetric] = in(inner.metricsOf(tasks))

  override def toString: String = s"CopyOnWriteScan($inner)"
}
