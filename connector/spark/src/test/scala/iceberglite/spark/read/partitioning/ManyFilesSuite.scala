package iceberglite.spark.read.partitioning

import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.conf.{PlanningMode, PlanningModes}
import iceberglite.spark.read.planning.{ScanFiles, ScanPlanning, ScanSource}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, GreaterThan, In}
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.table.Table

/**
 * Compares scans for which the driver keeps the column metrics of all files in memory with scans for which it does not,
 * because their manifests are larger than a limit. The tests set this limit.
 */
class ManyFilesSuite extends AnyFunSuite with SharedSession {

  private lazy val table: Table = {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT, v BIGINT) USING iceberg")
    (0 until 6).foreach { i =>
      sql(s"INSERT INTO $name SELECT /*+ COALESCE(1) */ id, id FROM range(${i * 10}, ${i * 10 + 10})")
    }
    val Array(catalog, namespace, last) = name.split('.')
    spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[TableCatalog]
      .loadTable(Identifier.of(Array(namespace), last)).asInstanceOf[SparkTable].table
  }

  private def files(filter: Expression, manifestBytes: Long): ScanFiles = {
    val modes = PlanningModes(PlanningMode.Local, PlanningMode.Local)
    val planning = new ScanPlanning(spark, modes, manifestBytes)
    val metadata = table.metadata
    val source =
      ScanSource(table, metadata.currentSnapshot, metadata.schema, caseSensitive = true, planning = Some(planning))
    ScanFiles(source, filter)
  }

  private val keyFilter = In(Term.Named("id"), Set(13L, 44L, 1000L).map(LongLiteral(_)))

  for ((filter, expected) <- Seq(AlwaysTrue -> 2, GreaterThan(Term.Named("v"), LongLiteral(20)) -> 1))
    test(s"a runtime filter skips the same files whether or not the driver keeps metrics; scan filter: $filter") {
      val (withMetrics, withoutMetrics) = (files(filter, Long.MaxValue), files(filter, 0L))
      assert(withMetrics.plan.statsToKeep.hasAll(Set(1)) && !withoutMetrics.plan.statsToKeep.hasAll(Set(1)))
      val paths = withMetrics.tasksWith(withMetrics.bind(keyFilter)).map(_.file.path)
      assert(paths.size == expected)
      assert(withoutMetrics.tasksWith(withoutMetrics.bind(keyFilter)).map(_.file.path) == paths)
    }

  test("columns are offered for runtime filters whether or not the driver keeps their metrics") {
    val columns = table.metadata.schema.fields
    assert(RuntimeFilterColumns.of(files(AlwaysTrue, 0L), columns) == columns)
    assert(RuntimeFilterColumns.of(files(AlwaysTrue, Long.MaxValue), columns) == columns)
  }
}
