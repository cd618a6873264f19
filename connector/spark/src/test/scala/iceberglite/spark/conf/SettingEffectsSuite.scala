package iceberglite.spark.conf

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileReader
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.avro.mapred.FsInput
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.CommandResult
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.read.deletes.DeleteCacheSettings
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.storage.{CacheBounds, LruCache}
import iceberglite.tree.ManifestCache

/** Shows the effects of settings that no other suite shows; `foreign-settings.tsv` refers to these tests. */
class SettingEffectsSuite extends AnyFunSuite with StatementFixture with AdaptiveSparkPlanHelper {

  /** Creates a table with 8 data files of 1000 rows each. */
  private def withFiles(properties: (String, String)*): String = {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write", properties: _*)
    sql(s"INSERT INTO $t SELECT id, id % 10 FROM range(0, 8000, 1, 8)")
    assert(count(s"$t.files") == 8)
    t
  }

  private def tasks(df: DataFrame): Int =
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.map(_.inputPartitions.size).sum

  private def batchSizes(df: DataFrame): Seq[Int] =
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.head.executeColumnar().map(_.numRows)
      .collect().toSeq

  private def dataFile(t: String): Path = new Path(rows(s"SELECT file_path FROM $t.files").head.getString(0))

  /** The settings that give each file of `withFiles` its own task. */
  private val oneFileEach =
    Seq("adaptive-size.enabled" -> "false", "open-file-cost" -> "1000000", "target-size" -> "1000000")

  test("the table properties read.split.* determine the number of tasks, and the options take precedence") {
    val t = withFiles(oneFileEach.map { case (key, value) => s"read.split.$key" -> value }: _*)
    assert(tasks(spark.table(t)) == 8)
    def withOption(key: String, value: String): Int = tasks(spark.read.option(key, value).table(t))
    assert(withOption("split-size", "4000000") == 2)
    assert(withOption("file-open-cost", "500000") == 4)
    withConf("spark.sql.iceberg.read.split-size" -> "2000000")(assert(tasks(spark.table(t)) == 4))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.target-size' = '8000000')")
    assert(tasks(spark.table(t)) == 1)
  }

  test("the lookback of the table property and of the option limits the tasks that a scan fills at the same time") {
    // Three large files, then three small ones. A task has space for one large and one small file.
    val t = create("text STRING", 2, "copy-on-write", "read.split.planning-lookback" -> "1")
    sql(s"INSERT INTO $t SELECT md5(CAST(id AS STRING)) FROM range(0, 6000, 1, 6) WHERE id < 3000 OR id % 4 = 0")
    val sizes = rows(s"SELECT file_size_in_bytes FROM $t.files ORDER BY 1").map(_.getLong(0))
    val target = sizes.last + sizes.head * 3 / 2
    assert(sizes(2) < sizes(3) / 2)
    def tasksWith(options: (String, String)*): Int = {
      val read = spark.read.option("split-size", target.toString).option("file-open-cost", "1")
      tasks(read.options(options.toMap).table(t))
    }
    assert(tasksWith() == 4 && tasksWith("lookback" -> "10") == 3)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.planning-lookback' = '10')")
    assert(tasksWith() == 3 && tasksWith("lookback" -> "1") == 4)
  }

  test("the adaptive split size gives a small table several tasks, unless the session or the table disables it") {
    val t = withFiles()
    assert(tasks(spark.table(t)) > 1)
    withConf("spark.sql.iceberg.read.adaptive-split-size.enabled" -> "false")(assert(tasks(spark.table(t)) == 1))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.adaptive-size.enabled' = 'false')")
    assert(tasks(spark.table(t)) == 1)
  }

  test("the table property and the option for the batch size limit the rows of a batch") {
    val t = withFiles("read.parquet.vectorization.batch-size" -> "100")
    assert(batchSizes(spark.table(t)).forall(_ == 100))
    assert(batchSizes(spark.read.option("batch-size", "250").table(t)).forall(_ == 250))
  }

  test("manifests are merged unless commit.manifest-merge.enabled is false") {
    def manifests(enabled: String): Long = {
      val t = create(
        "id BIGINT",
        2,
        "copy-on-write",
        "commit.manifest-merge.enabled" -> enabled,
        "commit.manifest.min-count-to-merge" -> "2"
      )
      (1 to 3).foreach(i => sql(s"INSERT INTO $t VALUES ($i)"))
      count(s"$t.manifests")
    }
    assert(manifests("false") == 3 && manifests("true") < 3)
  }

  test("write.manifest.compression-codec is the codec of manifests") {
    for ((codec, inAvro) <- Seq("snappy" -> "snappy", "gzip" -> "deflate")) {
      val t = create("id BIGINT", 2, "copy-on-write", "write.manifest.compression-codec" -> codec)
      sql(s"INSERT INTO $t VALUES (1)")
      val manifest = new Path(rows(s"SELECT path FROM $t.manifests").head.getString(0))
      val input = new FsInput(manifest, new Configuration)
      val reader = new DataFileReader[GenericRecord](input, new GenericDatumReader[GenericRecord])
      try assert(reader.getMetaString("avro.codec") == inAvro)
      finally reader.close()
    }
  }

  test("write.manifest.compression-level is the compression level of manifests") {
    def length(level: String): Long = {
      val t = create("id BIGINT", 2, "copy-on-write", "write.manifest.compression-level" -> level)
      sql(s"INSERT INTO $t SELECT id FROM range(0, 8, 1, 8)")
      rows(s"SELECT length FROM $t.manifests").head.getLong(0)
    }
    assert(length("0") > length("9") + 1000)
  }

  test("write.parquet.page-row-limit is the maximum number of rows of a page") {
    val t = create("id BIGINT", 2, "copy-on-write", "write.parquet.page-row-limit" -> "100")
    sql(s"INSERT INTO $t SELECT id FROM range(0, 1000, 1, 1)")
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(dataFile(t), new Configuration))
    try {
      val column = reader.getFooter.getBlocks.get(0).getColumns.get(0)
      assert(reader.readOffsetIndex(column).getPageCount >= 10)
    } finally reader.close()
  }

  test("write.parquet.dict-size-bytes limits the dictionary of a column") {
    def encodings(size: String): Set[String] = {
      val t = create("s STRING", 2, "copy-on-write", "write.parquet.dict-size-bytes" -> size)
      sql(s"INSERT INTO $t SELECT concat('value ', id % 100) FROM range(0, 10000, 1, 1)")
      val reader = ParquetFileReader.open(HadoopInputFile.fromPath(dataFile(t), new Configuration))
      try reader.getFooter.getBlocks.get(0).getColumns.get(0).getEncodings.asScala.map(_.toString).toSet
      finally reader.close()
    }
    assert(encodings("1048576").exists(_.contains("DICTIONARY")))
    assert(!encodings("16").exists(_.contains("DICTIONARY")))
  }

  test("the configuration of the executor cache determines its use and its limits") {
    val table = live(withFiles())
    def settings = DeleteCacheSettings.of(spark, table, new Configuration)
    val prefix = "spark.sql.iceberg.executor-cache"
    assert(settings.enabled)
    withConf(s"$prefix.enabled" -> "false")(assert(!settings.enabled))
    withConf(s"$prefix.delete-files.enabled" -> "false")(assert(!settings.enabled))
    withConf(s"$prefix.timeout" -> "5s", s"$prefix.max-entry-size" -> "1000", s"$prefix.max-total-size" -> "2000") {
      assert(settings.limits == LruCache.Limits(1000L, 2000L, 5000L))
    }
  }

  /** Runs a statement, and returns its plan. */
  private def planOf(statement: String): SparkPlan = sql(statement).queryExecution.commandExecuted.collectFirst {
    case result: CommandResult => result.commandPhysicalPlan
  }.get

  private def partitioned(properties: (String, String)*): String = {
    val t = newTable()
    val list = (properties :+ ("format-version" -> "2")).map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")
    sql(s"CREATE TABLE $t (id BIGINT, p BIGINT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ($list)")
    t
  }

  for (command <- Seq("update", "merge"))
    test(s"write.$command.distribution-mode determines whether rows are shuffled", Slow) {
      def shuffles(mode: String): Int = {
        val t = partitioned(s"write.$command.mode" -> "copy-on-write", s"write.$command.distribution-mode" -> mode)
        sql(s"INSERT INTO $t SELECT id, id % 3 FROM range(0, 90, 1, 3)")
        val plan = planOf(
          if (command == "update") s"UPDATE $t SET id = id + 1"
          else s"MERGE INTO $t t USING (SELECT 3L AS k) s ON t.id = s.k WHEN MATCHED THEN UPDATE SET id = 100"
        )
        collect(plan) { case s: ShuffleExchangeExec => s }.size
      }
      assert(shuffles("hash") > shuffles("none"))
    }

  test("the session and the table property set the advisory size of the partitions of a write") {
    def advised(t: String): Seq[Long] =
      collect(planOf(s"INSERT INTO $t SELECT id, id % 3 FROM range(0, 90, 1, 3)")) { case s: ShuffleExchangeExec =>
        s.advisoryPartitionSize
      }.flatten
    val t = partitioned("write.spark.advisory-partition-size-bytes" -> "1234567")
    assert(advised(t) == Seq(1234567L))
    withConf("spark.sql.iceberg.advisory-partition-size" -> "7654321")(assert(advised(t) == Seq(7654321L)))
  }

  test("without fanout-enabled, the rows of a write are sorted by partition") {
    def sorts(enabled: String): Int = {
      val t = partitioned("write.distribution-mode" -> "none")
      val insert = s"INSERT INTO $t WITH ('fanout-enabled' = '$enabled') SELECT id, id % 3 FROM range(0, 90, 1, 3)"
      collect(planOf(insert)) { case s: SortExec => s }.size
    }
    assert(sorts("true") == 0 && sorts("false") == 1)
  }

  test("with an adaptive split size and adaptive-split-size.parallelism = 1, a scan of a small table has one task") {
    val t = withFiles()
    withConf("spark.sql.iceberg.read.adaptive-split-size.parallelism" -> "1")(assert(tasks(spark.table(t)) == 1))
    assert(tasks(spark.table(t)) > 1)
  }

  test("the manifest cache of a catalog has the limits of the properties io.manifest.cache") {
    def cacheOf(properties: (String, String)*): ManifestCache = {
      val name = s"caching${SharedSession.counter.incrementAndGet()}"
      val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory(name).toUri.toString) ++
        properties.map { case (key, value) => s"io.manifest.cache$key" -> value }
      withConf(SharedSession.catalogConf(name, classOf[SparkCatalog].getName, settings: _*).toSeq: _*) {
        sql(s"CREATE NAMESPACE $name.db")
        sql(s"CREATE TABLE $name.db.t (id BIGINT) USING iceberg")
        val io = live(s"$name.db.t").io
        if (properties.size == 3) assert(io.cacheBounds == CacheBounds(Some(1000000L), Some(2000L), Some(3000L)))
        ManifestCache.of(io)
      }
    }
    assert(cacheOf("-enabled" -> "false") eq ManifestCache.Disabled)
    assert(cacheOf() eq ManifestCache.shared)
    val limits =
      Seq(".max-total-bytes" -> "1000000", ".max-content-length" -> "2000", ".expiration-interval-ms" -> "3000")
    assert(!Seq(ManifestCache.shared, ManifestCache.Disabled).contains(cacheOf(limits: _*)))
  }

  for (command <- Seq("delete", "merge")) test(
    s"write.$command.isolation-level determines whether rows that are added concurrently are a conflict",
    Slow
  ) {
    val statement = (t: String) =>
      if (command == "delete") s"DELETE FROM $t WHERE n = 3 AND commit_and_return(n) = 3"
      else
        s"MERGE INTO $t t USING (SELECT 3L AS n) s ON t.n = s.n WHEN MATCHED THEN UPDATE SET n = commit_and_return(7)"
    for (level <- Seq("serializable", "snapshot")) {
      val t = filled(2, "merge-on-read", s"write.$command.isolation-level" -> level)
      val commits = commitWhenCalled(t)(addCopy(_))
      val result = scala.util.Try(sql(statement(t)))
      assert(commits() == 1 && result.isSuccess == (level == "snapshot"), level)
      assert(count(t) == (if (level == "snapshot" && command == "delete") 1400 else 1500), level)
    }
  }

  test("the option output-sort-order-id selects the sort order of new files") {
    val t = withFiles()
    sql(s"ALTER TABLE $t WRITE ORDERED BY n")
    spark.range(10).selectExpr("10 - id AS id", "id AS n").writeTo(t).option("output-sort-order-id", "0").append()
    spark.range(10).selectExpr("10 - id AS id", "id AS n").writeTo(t).append()
    assert(rows(s"SELECT DISTINCT sort_order_id FROM $t.files ORDER BY 1").map(_.getInt(0)) == Seq(0, 1))
  }

  test("with spark.sql.iceberg.check-nullability=false a write of nullable values fails only if a value is null") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT NOT NULL) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    def append(nullFor: Int): Unit =
      spark.range(1).selectExpr(s"nullif(CAST(id AS INT), $nullFor) AS id").writeTo(t).append()
    intercept[Exception](append(1))
    withConf("spark.sql.iceberg.check-nullability" -> "false") {
      append(1)
      intercept[Exception](append(0))
    }
    assert(count(t) == 1)
  }

  test("with spark.sql.iceberg.merge-schema=true writes add columns to a table that accepts any schema") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    def append(): Unit = spark.range(1).selectExpr("id", "'new' AS added").writeTo(t).append()
    intercept[Exception](append())
    withConf("spark.sql.iceberg.merge-schema" -> "true")(append())
    assert(rows(s"SELECT added FROM $t").map(_.getString(0)) == Seq("new"))
  }

  test("COMMENT sets the table property comment") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg COMMENT 'first'")
    assert(live(t).properties.get("comment").contains("first"))
    sql(s"COMMENT ON TABLE $t IS 'second'")
    assert(rows(s"DESCRIBE EXTENDED $t").exists(r => r.getString(0) == "Comment" && r.getString(1) == "second"))
  }

  test("catalog properties set defaults of table properties, and the nullability of CREATE TABLE AS SELECT") {
    val settings = SharedSession.catalogConf(
      "settings",
      classOf[SparkCatalog].getName,
      "type" -> "hadoop",
      "warehouse" -> newDirectory("settings").toUri.toString,
      "table-default.write.format.default" -> "orc",
      "table-override.write.delete.format.default" -> "avro",
      "use-nullable-query-schema" -> "false"
    )
    withConf(settings.toSeq: _*) {
      sql("CREATE NAMESPACE settings.db")
      sql(
        "CREATE TABLE settings.db.t USING iceberg TBLPROPERTIES ('write.delete.format.default' = 'orc') " +
          "AS SELECT 1L AS id"
      )
      assert(live("settings.db.t").properties("write.format.default") == "orc")
      assert(live("settings.db.t").properties("write.delete.format.default") == "avro")
      assert(!spark.table("settings.db.t").schema("id").nullable)
    }
  }
}
