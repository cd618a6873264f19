package iceberglite.spark.write

import java.util.concurrent.{Callable, Executors}

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks that a repeated write changes nothing, because the table has already recorded its application version. */
class RepeatedWritesSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private def createTable(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, p INT) USING iceberg PARTITIONED BY (p)")
    t
  }

  private def write(t: String, from: Int, application: String, version: Int) = spark
    .range(from, from + 10).selectExpr("id", "CAST(id % 2 AS INT) AS p").writeTo(t)
    .option("application-id", application).option("application-version", version.toString)

  private def ids(t: String): Seq[Long] = rows(s"SELECT id FROM $t ORDER BY id").map(_.getLong(0))

  test("a write with an application version is done once, and writes with older versions change nothing") {
    val t = createTable()
    write(t, 0, "etl", 1).append()
    assertUnchanged(t)(write(t, 0, "etl", 1).append())
    write(t, 10, "etl", 3).append()
    assertUnchanged(t)(write(t, 90, "etl", 2).append())
    write(t, 20, "other", 1).append()
    assert(ids(t) == (0L until 30L) && ids(inApacheIceberg(t)) == (0L until 30L))
  }

  test("overwrites and row-level statements with an application version are also done once", Slow) {
    val t = createTable()
    write(t, 0, "etl", 1).append()
    write(t, 100, "etl", 2).overwritePartitions()
    assertUnchanged(t)(write(t, 200, "etl", 2).overwritePartitions())
    assertUnchanged(t)(write(t, 200, "etl", 1).overwrite(org.apache.spark.sql.functions.lit(true)))
    for (mode <- Seq("copy-on-write", "merge-on-read"); (n, i) <- Seq(3, 4, 5).zipWithIndex) {
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.update.mode' = '$mode')")
      val update = s"UPDATE $t WITH ('application-id' = '$mode', 'application-version' = '$n') SET id = id + 1"
      sql(update)
      if (i == 1) assertUnchanged(t)(sql(update))
    }
    val delete = s"DELETE FROM $t WITH ('application-id' = 'gone', 'application-version' = '1') WHERE p = 0"
    sql(delete)
    write(t, 0, "etl", 9).append()
    assertUnchanged(t)(sql(delete))
    assert(ids(t).size == 15)
  }

  test("if several writes with the same application version run concurrently, only one of them changes the table") {
    val t = createTable()
    val pool = Executors.newFixedThreadPool(4)
    try
      pool.invokeAll(Seq.fill(4)((() => write(t, 0, "etl", 1).append()): Callable[Unit]).asJava).asScala.foreach(_.get)
    finally pool.shutdown()
    assert(ids(t) == (0L until 10L) && rows(s"SELECT * FROM $t.snapshots").size == 1)
  }

  test("a write with only application-id or only application-version, or an invalid version, is rejected") {
    val t = createTable()
    def rejection(options: (String, String)*): String = {
      val writer = options.foldLeft(spark.range(1).selectExpr("id", "1 AS p").writeTo(t)) { case (w, (k, v)) =>
        w.option(k, v)
      }
      messages(intercept[Exception](writer.append()))
    }
    assert(rejection("application-id" -> "etl").contains("The option application-version must be set too"))
    assert(rejection("application-version" -> "1").contains("The option application-id must be set too"))
    assert(rejection("application-id" -> "etl", "application-version" -> "-1").contains("It must be 0 or more"))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('application-version.etl' = 'x')")
    assert(rejection("application-id" -> "etl", "application-version" -> "1").contains("Unset it to start again"))
  }

  test("a repeated createOrReplace changes nothing, and a statement that changes no row records its version", Slow) {
    val t = newTable()
    def createOrReplace(from: Int, version: Int): Unit =
      write(t, from, "etl", version).using("iceberg").createOrReplace()
    createOrReplace(0, 1)
    assertUnchanged(t)(createOrReplace(50, 1))
    createOrReplace(50, 2)
    assert(ids(t) == (50L until 60L))
    val update = s"UPDATE $t WITH ('application-id' = 'late', 'application-version' = '1') SET id = 0 WHERE id = 999"
    sql(update)
    write(t, 999, "other", 1).append()
    assertUnchanged(t)(sql(update))
    assert(ids(t).contains(999L))
    // A table created from the output of SHOW CREATE TABLE has no rows, so it must not have the application versions.
    val copy = newTable()
    sql(sql(s"SHOW CREATE TABLE $t").head.getString(0).replace(t, copy).replaceAll("LOCATION '[^']*'", ""))
    write(copy, 0, "etl", 1).append()
    assert(ids(copy) == (0L until 10L))
  }
}
