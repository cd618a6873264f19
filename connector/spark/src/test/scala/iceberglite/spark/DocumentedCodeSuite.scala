package iceberglite.spark

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.util.Try

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.functions.days
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/**
 * Runs the DataFrame, streaming and configuration samples of Apache Iceberg's documentation, and checks that
 * `docs/spark-checklist.md` lists the same code: the lines between `// begin` and `// end` in this file. It does the
 * same for the code in other pages that no other suite runs. If the environment variable `UPDATE` is `1`, the suite
 * writes the lists to the pages instead.
 */
class DocumentedCodeSuite extends AnyFunSuite with SharedSession {
  private val checklist: Path = Paths.get("docs", "spark-checklist.md")
  private val source: Path = Paths.get("connector/spark/src/test/scala/iceberglite/spark/DocumentedCodeSuite.scala")

  /**
   * Registers two tests. One runs the body in a new session with the catalog `prod`, which has the namespace `db`; the
   * other compares the page with the code of the sample.
   */
  private def documented(name: String, page: Path = checklist)(body: SparkSession => Unit): Unit = {
    test(s"the documented code of $name has the expected results", Slow) {
      val directory = newDirectory("documented")
      val session = SharedSession.liteExtensions.newSession()
      val settings =
        Seq("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/c.db", "warehouse" -> directory.toUri.toString)
      SharedSession.catalogConf("prod", classOf[SparkCatalog].getName, settings: _*).foreach { case (key, value) =>
        session.conf.set(key, value)
      }
      inSession(session) { s =>
        s.sql("CREATE NAMESPACE prod.db")
        body(s)
      }
    }

    test(s"$page has the documented code of $name") {
      val text = new String(Files.readAllBytes(page), UTF_8)
      val begin = s"<!-- begin: $name -->"
      assert(text.contains(begin), s"$page has no line $begin")
      val start = text.indexOf(begin) + begin.length
      val end = text.indexOf("<!-- end -->", start)
      val list = s"\n```scala\n${codeOf(name)}\n```\n"
      if (sys.env.get("UPDATE").contains("1"))
        Files.write(page, (text.take(start) + list + text.drop(end)).getBytes(UTF_8))
      else assert(text.substring(start, end) == list, s"\n$page is out of date: run this suite with UPDATE=1")
    }
  }

  /** Returns the lines of a sample in this file, without their common indentation. */
  private def codeOf(name: String): String = {
    val lines = new String(Files.readAllBytes(source), UTF_8).split("\n").toVector
    val first = lines.indexWhere(_.trim == s"// begin: $name")
    val code = lines.drop(first + 1).takeWhile(_.trim != s"// end: $name")
    val indentation = code.filter(_.trim.nonEmpty).map(_.takeWhile(_ == ' ').length).min
    code.map(_.drop(indentation)).mkString("\n")
  }

  private def rowsOf(spark: SparkSession): DataFrame = spark.sql(
    "SELECT CAST(id AS BIGINT) AS id, level, TIMESTAMP '2024-05-01 10:00:00' + make_interval(0, 0, 0, id) AS ts " +
      "FROM VALUES (1, 'INFO'), (2, 'INFO'), (3, 'WARN') AS t(id, level)"
  )

  documented("condition-of-a-query", Paths.get("docs", "reference.md")) { spark =>
    rowsOf(spark).writeTo("prod.db.broken").create()
    val file = spark.sql("SELECT file_path FROM prod.db.broken.files").head().getString(0)
    Files.delete(Paths.get(URI.create(file).getPath))
    // begin: condition-of-a-query
    def conditionOf(error: Throwable): Option[String] = Iterator
      .iterate(error)(_.getCause)
      .takeWhile(_ != null)
      .take(20)
      .collectFirst { case cause: SparkThrowable if cause.getErrorClass != null => cause.getErrorClass }

    val condition = Try(spark.table("prod.db.broken").collect()).failed.toOption.flatMap(conditionOf)
    // end: condition-of-a-query
    assert(condition.contains("ICEBERG_LITE.UNREADABLE_FILE"))
  }

  documented("dataframe-writes") { spark =>
    import spark.implicits._
    val data = rowsOf(spark)
    val location = newDirectory("location").resolve("t").toUri.toString
    // begin: dataframe-writes
    data.writeTo("prod.db.sample").create()
    data.writeTo("prod.db.sample").append()
    data.writeTo("prod.db.sample").overwrite($"level" === "INFO")
    data.writeTo("prod.db.other").using("iceberg").create()
    data.writeTo("prod.db.located").tableProperty("location", location).createOrReplace()
    data.writeTo("prod.db.sample")
      .tableProperty("write.format.default", "orc")
      .partitionedBy($"level", days($"ts"))
      .createOrReplace()
    data.writeTo("prod.db.sample").overwritePartitions()
    data.writeTo("prod.db.sample").option("write-format", "avro").option("snapshot-property.key", "value").append()
    spark.sql("ALTER TABLE prod.db.sample CREATE BRANCH audit")
    data.writeTo("prod.db.sample.branch_audit").append()
    data.filter($"id" === 3).writeTo("prod.db.sample.branch_audit").overwritePartitions()
    spark.sql("ALTER TABLE prod.db.sample SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    data.withColumn("added", $"id" * 2).writeTo("prod.db.sample").option("mergeSchema", "true").append()
    // end: dataframe-writes
    def count(table: String): Long = spark.table(table).count()
    assert(count("prod.db.sample") == 9 && count("prod.db.other") == 3 && count("prod.db.located") == 3)
    assert(count("prod.db.sample.branch_audit") == 7)
    assert(spark.table("prod.db.sample").where("added IS NOT NULL").count() == 3)
    assert(spark.sql("SELECT file_path FROM prod.db.located.files").head().getString(0).startsWith(location))
    val formats =
      spark.sql("SELECT DISTINCT file_format FROM prod.db.sample.files ORDER BY 1").collect().map(_.getString(0))
    assert(formats.toSeq == Seq("AVRO", "ORC"))
    assert(spark.sql("SELECT 1 FROM prod.db.sample.snapshots WHERE summary['key'] = 'value'").count() == 1)
  }

  documented("dataframe-reads") { spark =>
    val data = rowsOf(spark)
    data.writeTo("prod.db.sample").create()
    val first = spark.sql("SELECT snapshot_id FROM prod.db.sample.snapshots").head().getLong(0)
    val time = spark.sql("SELECT unix_millis(committed_at) FROM prod.db.sample.snapshots").head().getLong(0)
    spark.sql("ALTER TABLE prod.db.sample CREATE TAG `historical-snapshot`")
    spark.sql("ALTER TABLE prod.db.sample CREATE BRANCH `audit-branch`")
    while (System.currentTimeMillis <= time) Thread.onSpinWait()
    data.writeTo("prod.db.sample").append()
    val second =
      spark.sql("SELECT snapshot_id FROM prod.db.sample.snapshots ORDER BY committed_at DESC").head().getLong(0)
    // begin: dataframe-reads
    val current = spark.table("prod.db.sample")
    val asOf = spark.read.option("as-of-timestamp", time).format("iceberg-lite").load("prod.db.sample")
    val atSnapshot = spark.read.option("snapshot-id", first).format("iceberg-lite").load("prod.db.sample")
    val named = spark.read.option("snapshot-id", first).table("prod.db.sample")
    val tagged = spark.read.option("tag", "historical-snapshot").format("iceberg-lite").load("prod.db.sample")
    val onBranch = spark.read.option("branch", "audit-branch").format("iceberg-lite").load("prod.db.sample")
    val appended = spark.read
      .format("iceberg-lite")
      .option("start-snapshot-id", first)
      .option("end-snapshot-id", second)
      .load("prod.db.sample")
    val files = spark.read.format("iceberg-lite").load("prod.db.sample.files")
    val oldFiles = spark.read.format("iceberg-lite").option("snapshot-id", first).load("prod.db.sample.files")
    // end: dataframe-reads
    assert(current.count() == 6 && appended.count() == 3)
    for (old <- Seq(asOf, atSnapshot, named, tagged, onBranch)) assert(old.count() == 3)
    assert(files.count() > oldFiles.count() && oldFiles.count() > 0)
  }

  documented("streams") { spark =>
    val data = rowsOf(spark)
    data.writeTo("prod.db.events").create()
    data.writeTo("prod.db.events").append()
    for (t <- Seq("target", "copy")) spark.sql(s"CREATE TABLE prod.db.$t LIKE prod.db.events")
    val start = 0L
    val path = newDirectory("stream").resolve("t").toString
    rowsOf(spark).limit(0).write.format("iceberg-lite").save(path)
    def checkpoint: String = newDirectory("checkpoint").toString
    // begin: streams
    val fromTime = spark.readStream
      .format("iceberg-lite")
      .option("stream-from-timestamp", start)
      .load("prod.db.events")
    val oneFile = spark.readStream
      .format("iceberg-lite")
      .option("streaming-max-files-per-micro-batch", "1")
      .load("prod.db.events")
    val manyRows = spark.readStream
      .format("iceberg-lite")
      .option("streaming-max-rows-per-micro-batch", "1000")
      .load("prod.db.events")
    fromTime.writeStream
      .format("iceberg-lite")
      .outputMode("append")
      .trigger(Trigger.AvailableNow())
      .option("checkpointLocation", checkpoint)
      .toTable("prod.db.target")
      .awaitTermination()
    oneFile.writeStream
      .format("iceberg-lite")
      .outputMode("append")
      .trigger(Trigger.AvailableNow())
      .option("fanout-enabled", "true")
      .option("checkpointLocation", checkpoint)
      .toTable("prod.db.copy")
      .awaitTermination()
    manyRows.writeStream
      .format("iceberg-lite")
      .outputMode("append")
      .trigger(Trigger.AvailableNow())
      .option("path", path)
      .option("checkpointLocation", checkpoint)
      .start()
      .awaitTermination()
    // end: streams
    assert(spark.table("prod.db.target").count() == 6 && spark.table("prod.db.copy").count() == 6)
    assert(spark.read.format("iceberg-lite").load(path).count() == 6)
  }

  documented("configuration") { spark =>
    val warehouse = newDirectory("warehouse").toUri.toString
    // begin: configuration
    spark.conf.set("spark.sql.catalog.hadoop_prod", "iceberglite.spark.SparkCatalog")
    spark.conf.set("spark.sql.catalog.hadoop_prod.type", "hadoop")
    spark.conf.set("spark.sql.catalog.hadoop_prod.warehouse", warehouse)
    spark.conf.set("spark.sql.catalog.hadoop_prod.hadoop.fs.s3a.endpoint", "http://aws-local:9000")
    spark.conf.set("spark.sql.iceberg.vectorization.enabled", "false")
    // end: configuration
    spark.sql("CREATE TABLE hadoop_prod.db.t (id BIGINT) USING iceberg")
    spark.sql("INSERT INTO hadoop_prod.db.t VALUES (1)")
    val plan = spark.table("hadoop_prod.db.t").queryExecution.executedPlan
    assert(spark.table("hadoop_prod.db.t").count() == 1 && !plan.exists(_.supportsColumnar))
  }
}
