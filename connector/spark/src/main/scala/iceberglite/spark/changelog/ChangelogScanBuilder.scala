package iceberglite.spark.changelog

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{
  Scan,
  ScanBuilder,
  SupportsPushDownRequiredColumns,
  SupportsPushDownV2Filters
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.SnapshotRange
import iceberglite.spark.conf.{ReadOptions, ReadSettings}
import iceberglite.spark.convert.{ConvertedFilter, SparkFilters}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{IcebergScan, StreamSource}
import iceberglite.spark.read.files.{CommitScan, MetadataFields, ScanColumns}
import iceberglite.spark.read.planning.{ScanFiles, ScanSource}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.table.Table

/**
 * Builds a scan of a changelog. The scan reads only the requested columns, files that may have matching rows, and
 * commits that may match the filters.
 *
 * @param schema the schema of the table, without the changelog's columns
 * @param streams creates the stream of the scan
 */
final class ChangelogScanBuilder(
    table: Table,
    range: SnapshotRange,
    schema: Schema,
    options: CaseInsensitiveStringMap,
    session: SparkSession,
    streams: StreamSource
) extends ScanBuilder
    with SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns
    with ErrorBoundary {
  private val settings = {
    ReadOptions.check(options, session)
    ReadSettings.of(options, session, table.properties)
  }
  private val caseSensitive = session.sessionState.conf.getConf(SQLConf.CASE_SENSITIVE)
  private val changelogSchema = Schema(schema.schemaId, schema.fields ++ CommitScan.changelogColumns)

  private var pushed: Array[Predicate] = Array.empty
  private var scanColumns: ScanColumns =
    ScanColumns(changelogSchema.fields, CommitScan.changelogColumns.map(_.id).toSet)
  private var files: ScanFiles = filesWith(Vector.empty, Vector.empty)

  /**
   * Pushes filters down. A filter on the changelog's columns selects commits, and a filter on the table's columns
   * selects files. A filter on columns of the changelog and of the table is left to Spark.
   *
   * @return the filters that Spark has to apply to the rows
   */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = in {
    val filters = new SparkFilters(changelogSchema, caseSensitive)
    val converted = predicates.toVector.map { p =>
      p -> (if (files.widened.areUsedIn(p)) None else filters.convert(p).flatMap(ChangelogFilter.of))
    }
    val rowFilters = converted.collect { case (_, Some(ChangelogFilter.OnTableColumns(filter))) => filter }
    val changeFilters = converted.collect { case (_, Some(ChangelogFilter.OnChangelogColumns(filter))) => filter }
    pushed = converted.collect { case (p, Some(_)) => p }.toArray
    files = filesWith(rowFilters, changeFilters)
    converted.collect { case (p, c) if !c.exists(isFullyApplied) => p }.toArray
  }

  /** Whether all rows that the scan returns satisfy a filter. In this case, Spark need not apply the filter. */
  private def isFullyApplied(filter: ChangelogFilter): Boolean = filter match {
    case ChangelogFilter.OnChangelogColumns(f) => f.exact
    case ChangelogFilter.OnTableColumns(f) => f.exact && files.isTrueForAllRows(f.expression)
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  override def pruneColumns(required: StructType): Unit = in {
    val metadataColumns = CommitScan.changelogColumns ++ ChangelogScanBuilder.metadata(table)
    scanColumns = ScanColumns.of(required, schema, metadataColumns, caseSensitive)
  }

  override def build(): Scan = in {
    new IcebergScan(files, scanColumns, settings, caseSensitive, session, streams = Some(streams))
  }

  override protected def errorName: String = table.name

  private def filesWith(rowFilters: Vector[ConvertedFilter], changeFilters: Vector[ConvertedFilter]): ScanFiles = {
    def conjunction(filters: Vector[ConvertedFilter]): Expression =
      filters.map(_.expression).foldLeft[Expression](AlwaysTrue)(Expression.and)
    val commits = Some(CommitScan.Changes(range, conjunction(changeFilters)))
    ScanFiles(ScanSource(table, range.end, schema, caseSensitive, commits), conjunction(rowFilters))
  }
}

object ChangelogScanBuilder {

  /**
   * The metadata columns of a changelog's rows. `_deleted` is omitted, because `_change_type` has the same information.
   */
  def metadata(table: Table): Vector[NestedField] =
    MetadataFields.of(table.metadata).filterNot(_.id == MetadataColumns.Deleted.id)
}
