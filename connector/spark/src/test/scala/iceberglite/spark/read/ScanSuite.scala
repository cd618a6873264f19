package iceberglite.spark.read

import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.spark.SparkException
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks the statistics and metrics that a scan reports to Spark, and which files, columns and rows it skips. */
class ScanSuite extends AnyFunSuite with SharedSession with AdaptiveSparkPlanHelper {

  /**
   * A table with the rows of 30 days. There is a file for each day and a manifest for each month. Each month has the
   * ids 0 to 149.
   */
  private lazy val days: String = {
    val table = newTable("days")
    val columns = "id bigint, ts timestamp, s struct<a: int, b: string>, x double"
    sql(s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg PARTITIONED BY (days(ts))")
    for (month <- Seq(1, 2)) sql(
      s"""INSERT INTO ${inApacheIceberg(table)}
         |SELECT id, TIMESTAMP'2013-0$month-01 06:00:00' + make_interval(0, 0, 0, CAST(id % 15 AS int)),
         |named_struct('a', CAST(id AS int), 'b', 'text'), id / 2 FROM range(150)""".stripMargin
    )
    table
  }

  private def scan(df: DataFrame): BatchScanExec =
    collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.get

  private def sparkFilters(df: DataFrame): Seq[String] =
    collect(df.queryExecution.executedPlan) { case f: FilterExec => f.condition.toString }

  test("EXPLAIN shows the snapshot, the filters and the number of planned files and manifests", Slow) {
    val newest = s"SELECT snapshot_id FROM ${inApacheIceberg(days)}.snapshots ORDER BY committed_at DESC LIMIT 1"
    val snapshot = rows(newest).head.getLong(0)
    val query = s"SELECT * FROM $days WHERE ts >= TIMESTAMP'2013-02-10 00:00:00'"
    for (mode <- Seq("", "FORMATTED")) {
      val plan = rows(s"EXPLAIN $mode $query").head.getString(0)
      assert(plan.contains(s"iceberg-lite $days (snapshot $snapshot)"), plan)
      assert(plan.contains("filters=") && plan.contains("ts >= TIMESTAMP"), plan)
      assert(plan.contains("files=6 of 30, manifests=1 of 2, tasks=2]"), plan)
    }
    assert(scan(sql(s"SELECT * FROM $days")).scan.description.endsWith("[files=30 of 30, manifests=2 of 2, tasks=2]"))
  }

  test("Spark evaluates a filter on rows only if partition values do not decide the filter") {
    assert(sparkFilters(sql(s"SELECT id FROM $days WHERE ts >= TIMESTAMP'2013-02-10 00:00:00'")).isEmpty)
    assert(sparkFilters(sql(s"SELECT id FROM $days WHERE ts >= TIMESTAMP'2013-02-10 06:00:00'")).size == 1)
    val mixed = sparkFilters(sql(s"SELECT id FROM $days WHERE ts < TIMESTAMP'2013-01-05 00:00:00' AND x > 3"))
    assert(mixed.size == 1 && !mixed.head.contains("ts") && mixed.head.contains("x"))
    assert(rows(s"SELECT count(*) FROM $days WHERE ts >= TIMESTAMP'2013-02-10 00:00:00'").head.getLong(0) == 60)
  }

  test("a filter on a partition transform skips the files of other partitions") {
    val df = sql(s"SELECT id FROM $days WHERE lite.system.days(ts) = DATE'2013-02-03'")
    assert(scan(df).scan.description.contains("filters=day(ts) = DATE '2013-02-03', files=1 of 30"))
    assert(sparkFilters(df).isEmpty && df.collect().length == 10)
  }

  test("only the columns and struct fields of a query are read") {
    assert(scan(sql(s"SELECT s.a FROM $days")).scan.readSchema().simpleString == "struct<s:struct<a:int>>")
    val counted = spark.read.option("aggregate-push-down-enabled", "false").table(days).groupBy().count()
    assert(scan(counted).scan.readSchema().isEmpty)
    assert(scan(sql(s"SELECT _pos, id FROM $days")).scan.readSchema().fieldNames.toSet == Set("_pos", "id"))
  }

  test("a scan returns batches to Spark, or rows if vectorization is disabled") {
    assert(scan(sql(s"SELECT * FROM $days")).supportsColumnar)
    assert(!scan(spark.read.option("vectorization-enabled", "false").table(days)).supportsColumnar)
    withConf("spark.sql.iceberg.vectorization.enabled" -> "false") {
      assert(!scan(sql(s"SELECT * FROM $days")).supportsColumnar)
    }
  }

  test("a null field of a struct is also null if Spark reads rows and interprets expressions") {
    val table = newTable("nulls")
    sql(s"CREATE TABLE $table (s STRUCT<a: BOOLEAN, b: INT>) USING iceberg")
    sql(s"INSERT INTO $table SELECT named_struct('a', IF(id < 5, NULL, true), 'b', int(id)) FROM range(10)")
    val interpreted = Seq(
      "spark.sql.iceberg.vectorization.enabled" -> "false",
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    )
    withConf(interpreted: _*) {
      assert(sql(s"SELECT s.a FROM $table").collect().count(_.isNullAt(0)) == 5)
    }
  }

  test("statistics report the number of rows, and bytes in proportion to the columns that are read") {
    def statistics(query: String) = sql(query).queryExecution.optimizedPlan.collectLeaves().head.stats
    val all = statistics(s"SELECT * FROM $days")
    assert(all.rowCount.contains(BigInt(300)))
    assert(statistics(s"SELECT id FROM $days").sizeInBytes < all.sizeInBytes / 2)
    assert(statistics(s"SELECT * FROM $days WHERE ts < TIMESTAMP'2013-01-02 00:00:00'").rowCount.contains(BigInt(10)))
  }

  test("the metrics of a scan report the numbers of planned and skipped files and manifests") {
    val df = sql(s"SELECT id FROM $days WHERE ts < TIMESTAMP'2013-01-04 00:00:00'")
    assert(df.collect().length == 30)
    val metrics = scan(df).metrics
    assert(metrics("resultDataFiles").value == 3 && metrics("skippedDataFiles").value == 27)
    assert(metrics("scannedDataManifests").value == 1 && metrics("skippedDataManifests").value == 1)
    assert(metrics("totalDataFileSize").value > 0 && metrics.contains("totalPlanningDuration"))
  }

  test("if a query contains the same subquery twice, Spark reads the table once") {
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      val half = s"(SELECT s.a AS k, count(*) AS n FROM $days GROUP BY s.a)"
      val df = sql(s"SELECT * FROM $half a JOIN $half b ON a.n = b.n")
      df.collect()
      assert(collect(df.queryExecution.executedPlan) { case r: ReusedExchangeExec => r }.nonEmpty)
    }
  }

  test("a join with a small table reads only the partitions of the small table's join keys") {
    val smallTable = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(smallTable)} (ts timestamp, word string) USING iceberg")
    val values = "(TIMESTAMP'2013-01-03 06:00:00', 'a'), (TIMESTAMP'2013-02-07 06:00:00', 'b')"
    sql(s"INSERT INTO ${inApacheIceberg(smallTable)} VALUES $values")
    val df = sql(s"SELECT d.id FROM $days d JOIN $smallTable f ON d.ts = f.ts WHERE f.word = 'b'")
    assert(df.collect().length == 10)
    val scans = collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }
    val largeScan = scans.find(_.scan.description.contains(days)).get
    assert(largeScan.runtimeFilters.nonEmpty && largeScan.inputRDD.getNumPartitions == 1)
    assert(largeScan.inputRDD.partitions.length == 1 && largeScan.metrics("numOutputRows").value == 10)
  }

  test("rows that Apache Iceberg deleted in merge-on-read mode are not returned", Slow) {
    val table = newTable()
    sql(
      s"CREATE TABLE ${inApacheIceberg(table)} (id int) USING iceberg TBLPROPERTIES ('write.delete.mode' = " +
        "'merge-on-read')"
    )
    sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id FROM range(0, 10, 1, 1)")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id = 3")
    assert(rows(s"SELECT * FROM $table").map(_.getInt(0)).sorted == (0 until 10).filterNot(_ == 3))
    assert(rows(s"SELECT count(*) FROM $table").head.getLong(0) == 9)
  }

  test("small files are combined into tasks according to the split options") {
    def tasks(options: (String, String)*) = spark.read.options(options.toMap).table(days).rdd.getNumPartitions
    assert(tasks() < 30)
    assert(tasks("split-size" -> "1000", "file-open-cost" -> "0") == 30)
    assert(tasks("file-open-cost" -> (64L << 20).toString) == 15)
  }

  test("a missing or truncated data file is reported with its name and its table") {
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} (id int) USING iceberg")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1)")
    val file =
      Paths.get(URI.create(rows(s"SELECT file_path FROM ${inApacheIceberg(table)}.files").head.getString(0) match {
        case path if path.startsWith("file:") => path
        case path => s"file:$path"
      }))
    def message: String = {
      val failure = intercept[SparkException](rows(s"SELECT * FROM $table"))
      Iterator.iterate[Throwable](failure)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
    }
    val content = Files.readAllBytes(file)
    Files.write(file, content.take(content.length / 2))
    Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
    assert(message.contains(file.getFileName.toString) && message.contains(s"data file of table $table"))
    assert(message.contains("not a Parquet file"))
    Files.delete(file)
    assert(message.contains(s"Cannot read data file of table $table"))
    assert(message.contains(file.getFileName.toString) && message.contains("The file does not exist"))
  }

  test("EXPLAIN shows if a scan reads rows one by one because vectorization is disabled") {
    val table = newTable()
    sql(
      s"CREATE TABLE ${inApacheIceberg(table)} (id int) USING iceberg TBLPROPERTIES ('write.format.default' = 'avro')"
    )
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1)")
    assert(rows(s"SELECT * FROM $table").map(_.getInt(0)) == Seq(1))
    def explained: String = rows(s"EXPLAIN SELECT * FROM $table").head.getString(0)
    assert(!explained.contains("rows one by one"))
    sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('read.parquet.vectorization.enabled' = 'false')")
    sql(s"REFRESH TABLE $table")
    assert(explained.contains("rows one by one"))
    assert(rows(s"SELECT * FROM $table").map(_.getInt(0)) == Seq(1))
  }

  test("misspelled and unsupported read options are rejected") {
    def errorOf(key: String, value: String): String =
      intercept[Exception](spark.read.option(key, value).table(days).collect()).getMessage
    assert(errorOf("split-sise", "1").contains("did you mean split-size?"))
    assert(errorOf("split-size", "many").contains("option split-size: many"))
    assert(errorOf("scan-task-set-id", "1").contains("Staged scan tasks are not supported"))
  }

  test("a filter that no row can satisfy reads nothing") {
    val df = sql(s"SELECT * FROM $days WHERE ts < TIMESTAMP'2000-01-01 00:00:00'")
    assert(df.collect().isEmpty)
    assert(df.queryExecution.optimizedPlan.isInstanceOf[LocalRelation] || df.rdd.getNumPartitions == 0)
  }
}
