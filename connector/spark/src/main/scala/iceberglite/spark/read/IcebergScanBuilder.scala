package iceberglite.spark.read

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

import iceberglite.spark.SparkErrors
import iceberglite.spark.conf.{ReadOptions, ReadSettings}
import iceberglite.spark.convert.SparkFilters
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.{Schema, Snapshot}
import iceberglite.table.Table

/**
 * Takes from Spark what a scan need not bring: columns, fields of structs, and files that no wanted row is in.
 *
 * @param snapshot absent for a table that has none
 * @param schema of that snapshot, or the table's
 */
final class IcebergScanBuilder(
    table: Table,
    snapshot: Option[Snapshot],
    schema: Schema,
    options: CaseInsensitiveStringMap,
    session: SparkSession
) extends ScanBuilder
    with SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns {
  private val settings = SparkErrors.in(table.name) {
    ReadOptions.check(options)
    ReadSettings.of(options, session, table.properties)
  }
  private val caseSensitive = session.sessionState.conf.getConf(SQLConf.CASE_SENSITIVE)

  private var pushed: Array[Predicate] = Array.empty
  private var wanted: WantedColumns = WantedColumns.all(schema)
  private var files: PlannedFiles = filesWith(AlwaysTrue)

  /** @return the filters that Spark has to apply to the rows */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = SparkErrors.in(table.name) {
    val filters = new SparkFilters(schema, caseSensitive)
    val converted = predicates.map(p => p -> filters.convert(p))
    pushed = converted.collect { case (p, Some(_)) => p }
    files = filesWith(converted.flatMap(_._2).map(_.expression).foldLeft[Expression](AlwaysTrue)(Expression.and))
    converted.collect { case (p, c) if !c.exists(f => f.exact && files.isDecidedByPartitions(f.expression)) => p }
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  override def pruneColumns(required: StructType): Unit = SparkErrors.in(table.name) {
    wanted = WantedColumns.of(required, schema, MetadataFields.of(table.metadata), caseSensitive)
  }

  override def build(): Scan = new IcebergScan(files, wanted, settings, caseSensitive, session)

  private def filesWith(filter: Expression): PlannedFiles =
    new PlannedFiles(table, snapshot, schema, filter, caseSensitive)
}
