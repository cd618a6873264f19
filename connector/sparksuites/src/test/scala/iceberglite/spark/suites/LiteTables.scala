package iceberglite.spark.suites

import java.nio.file.Files
import java.util.Collections

import scala.util.hashing.MurmurHash3

import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression
import org.apache.spark.sql.connector.RowLevelOperationSuiteBase
import org.apache.spark.sql.connector.catalog.{Column, TableCatalog}
import org.apache.spark.sql.connector.expressions.{Expressions, Transform}
import org.apache.spark.sql.execution.{InSubqueryExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.types.StructType
import org.scalactic.source.Position
import org.scalatest.Tag

import iceberglite.Sampling
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spark.rules.ReportedWriteExec

/**
 * Runs one of Spark's suites of row-level statements with an iceberg-lite catalog, which has the name `cat`. If
 * `ICEBERG_LITE_ALL` is set in the environment, each test runs on tables of version 2 and of version 3, except tests of
 * default values, which need version 3. Otherwise, `Sampling.seed` selects about half of the tests, and one version for
 * each selected test.
 *
 * Spark's tests expect that certain columns are read and that certain groups are replaced. These expectations are
 * checked on the plans and snapshots of iceberg-lite.
 */
trait LiteTables extends RowLevelOperationSuiteBase {

  /** The row-level mode, as in `write.delete.mode`. */
  protected def mode: String

  /** Names of tests that do not apply to iceberg-lite tables, with the reasons. */
  protected def skippedTests: Map[String, String]

  private var version = 2

  /** The number of pairs of a test and a possible version, and the number of such pairs that the sample omits. */
  private var (total, omitted) = (0, 0)

  override protected def sparkConf: SparkConf =
    super.sparkConf.set("spark.sql.extensions", classOf[iceberglite.spark.SparkSessionExtensions].getName)

  override protected def test(name: String, tags: Tag*)(body: => Any)(implicit position: Position): Unit =
    skippedTests.get(name) match {
      case Some(reason) => ignore(s"$name: $reason", tags: _*)(body)
      case None => versions(name).foreach { v =>
          super.test(s"$name, version $v", tags: _*) {
            attach(v)
            body
          }
        }
    }

  /** Returns the format versions with which a test runs. Tests of default values need version 3. */
  private def versions(name: String): Seq[Int] = {
    val possible = if (name.contains("default values")) Seq(3) else Seq(2, 3)
    // Half of the choices select no version.
    val choices = 2 * possible.size
    val choice = Math.floorMod(MurmurHash3.stringHash(getClass.getName + name) ^ Sampling.seed.toInt, choices)
    val selected = if (Sampling.isOff) possible else possible.drop(choice).take(1)
    total += possible.size
    omitted += possible.size - selected.size
    if (!Sampling.isFast) Sampling.recordSkipped(omitted, total, s"tests of Spark's ${getClass.getSimpleName}")
    selected
  }

  /**
   * Configures `cat` as an iceberg-lite catalog with an empty warehouse. Spark's suites configure another catalog
   * before each test.
   */
  private def attach(tableVersion: Int): Unit = {
    version = tableVersion
    val settings = Map(
      "" -> classOf[SparkCatalog].getName,
      ".type" -> "hadoop",
      ".warehouse" -> Files.createTempDirectory(SharedSession.root, "cat").toUri.toString
    ) ++ properties.map { case (key, value) => s".table-default.$key" -> value }
    settings.foreach { case (key, value) => spark.conf.set(s"spark.sql.catalog.cat$key", value) }
    sql(s"CREATE NAMESPACE cat.${namespace.head}")
    ()
  }

  private def properties: Map[String, String] =
    Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode).toMap + ("format-version" -> version.toString)

  override protected def createTable(columns: Array[Column]): Unit =
    spark.sessionState.catalogManager.catalog("cat") match {
      case catalog: TableCatalog =>
        catalog.createTable(
          ident,
          columns,
          Array[Transform](Expressions.identity("dep")),
          Collections.emptyMap[String, String]
        )
        ()
      case other => fail(s"${other.name} has no tables")
    }

  private def dataColumns(schema: StructType): Set[String] = schema.fieldNames.filterNot(_.startsWith("_")).toSet

  private def firstScan(query: String): BatchScanExec = {
    val scans = collect(executeAndKeepPlan(sql(query))) { case scan: BatchScanExec => scan }
    scans.headOption.getOrElse(fail(s"the plan of the query has no scan: $query"))
  }

  /** Returns the plan without the node that iceberg-lite adds around a write. */
  override protected def executeAndKeepPlan(func: => Unit): SparkPlan = super.executeAndKeepPlan(func) match {
    case ReportedWriteExec(write) => write
    case plan => plan
  }

  /** Checks that the scan reads only columns that Spark's test expects. */
  override protected def executeAndCheckScan(query: String, expectedScanSchema: String): Unit = {
    val read = dataColumns(firstScan(query).schema)
    assert(read.subsetOf(dataColumns(StructType.fromDDL(expectedScanSchema))))
    ()
  }

  /**
   * Checks the columns of the main scan, and of the scan that finds the groups to rewrite. The groups of iceberg-lite
   * are data files.
   */
  override protected def executeAndCheckScans(
      query: String,
      primaryScanSchema: String,
      groupFilterScanSchema: Option[String]
  ): Unit = {
    val primary = firstScan(query)
    assert(dataColumns(primary.schema) == dataColumns(StructType.fromDDL(primaryScanSchema)))
    val groups = primary.runtimeFilters.collect { case DynamicPruningExpression(in: InSubqueryExec) =>
      collect(in.plan) { case scan: BatchScanExec => scan }
    }.flatten.headOption
    assert(groups.isDefined == groupFilterScanSchema.isDefined)
    for (scan <- groups; expected <- groupFilterScanSchema)
      assert(dataColumns(scan.schema).subsetOf(dataColumns(StructType.fromDDL(expected))))
  }

  /** Checks the partitions of the replaced files. Each partition of the tables has one file. */
  override protected def checkReplacedPartitions(expectedPartitions: Seq[Any]): Unit = {
    val replaced = sql(
      s"SELECT data_file.partition.dep FROM $tableNameAsString.entries WHERE status = 2 ORDER BY 1"
    ).collect().map(_.get(0)).toSeq
    assert(replaced == expectedPartitions)
    ()
  }
}
