package iceberglite.spark.read.rows

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
import iceberglite.spark.read.IcebergScan
import iceberglite.spec.MetadataColumns
import iceberglite.spec.expr.Expression.AlwaysTrue

/**
 * Whole files, for a statement that replaces them. Spark first runs a query for those that have a row to change, where
 * the condition tells, and the others are left alone.
 *
 * @param packing how the files are packed into tasks, known once the write is planned; absent: as those of any scan
 */
final private[rows] class GroupScan(inner: IcebergScan, packing: () => Option[RewritePacking])
    extends Scan
    with SupportsReportStatistics
    with SupportsRuntimeV2Filtering {

  /** Absent: Spark did not ask which files have a row to change. */
  @volatile private var withChanges: Option[Set[String]] = None

  private lazy val candidates: Vector[FileScanTask] = inner.planned.map(_.copy(residual = AlwaysTrue))

  private def tasks: Vector[FileScanTask] =
    withChanges.fold(candidates)(paths => candidates.filter(t => paths(t.file.path)))

  def statementFiles: StatementFiles = StatementFiles(tasks, inner.filter)

  /** What statements carry along from the rows that they read to those that they write are columns like others. */
  override def readSchema(): StructType = StructType(inner.readSchema().map { column =>
    if (CarriedRows.contains(column.name)) column.copy(metadata = Metadata.empty) else column
  })

  override def description(): String =
    s"${inner.describedWith(inner.packing.ofReplaced(tasks, packing()).size)} whole files"

  override def estimateStatistics(): Statistics = inner.estimateStatistics()

  override def columnarSupportMode(): ColumnarSupportMode = inner.columnarSupportMode()

  override def toBatch: Batch = inner.batchOf(tasks, packing())

  override def filterAttributes(): Array[NamedReference] = Array(Expressions.column(MetadataColumns.FilePath.name))

  /**
   * An UPDATE with a subquery reads twice what it replaces, and what is replaced must be what was read: the first answer
   * counts.
   */
  override def filter(predicates: Array[Predicate]): Unit = synchronized {
    if (withChanges.isEmpty) withChanges = Some(predicates.map(pathsOf).reduce(_ intersect _))
  }

  private def pathsOf(predicate: Predicate): Set[String] = predicate.children.toVector match {
    case (column: NamedReference) +: values
        if predicate.name == "IN" && column.fieldNames.sameElements(Array(MetadataColumns.FilePath.name)) =>
      values.collect { case literal: Literal[_] =>
        literal.value match {
          case path: UTF8String => path.toString
          case other => throw new IllegalArgumentException(s"$other is no path of a file")
        }
      }.toSet
    case _ => throw new IllegalArgumentException(s"$predicate does not choose files")
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = inner.supportedCustomMetrics()

  override def reportDriverMetrics(): Array[CustomTaskMetric] = inner.metricsOf(tasks)

  override def toString: String = s"GroupScan($inner)"
}
