package iceberglite.spark.write

import org.apache.spark.sql.functions.{col, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks that Apache Iceberg reads the rows that Spark writes through iceberg-lite. */
class BatchWriteSuite extends AnyFunSuite with WriteFixture {

  test("Apache Iceberg reads the rows that are appended to an unpartitioned table") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1, 'a'), (2, NULL), (NULL, 'c')")
    spark.range(10, 1000).selectExpr("id", "concat('n', id) AS name").writeTo(t).append()
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == sorted(s"SELECT * FROM $t"))
    assert(rows(s"SELECT count(*), sum(id) FROM ${inApacheIceberg(t)}").head.toString == "[993,499458]")
  }

  test("rows are written to the partitions of their transformed values, in which Apache Iceberg finds them", Slow) {
    val t = newTable()
    sql(s"""CREATE TABLE $t (id BIGINT, name STRING, amount DECIMAL(9, 2), at TIMESTAMP, day DATE) USING iceberg
      PARTITIONED BY (bucket(4, id), truncate(2, name), truncate(100, amount), days(at), months(day))""")
    source(100).writeTo(t).append()
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == texts(source(100)))
    Seq("id = 17", "name = 'n17'", "amount = 1.70", "at = TIMESTAMP '1970-01-01 04:43:20'", "day < DATE '1969-12-01'")
      .foreach { where =>
        val matching = sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE $where")
        assert(matching.nonEmpty && matching == texts(source(100).where(where)), where)
      }
  }

  test("the rows of a partition are written by one task to one file") {
    val t = partitioned()
    spark.range(0, 1000, 1, 7).selectExpr("id", "id % 5 AS part").writeTo(t).append()
    assert(listed(t, "partition.part").map(_.getLong(0)).sorted == Seq(0, 1, 2, 3, 4))
  }

  test("without distribution, every task writes a file for each of its partitions, and rows need not be sorted") {
    val t = partitioned()
    spark.range(0, 1000, 1, 3).selectExpr("id", "id % 5 AS part").writeTo(t)
      .option("distribution-mode", "none").append()
    assert(listed(t).size == 15)
    assert(rows(s"SELECT count(DISTINCT id) FROM ${inApacheIceberg(t)}").head.getLong(0) == 1000)
  }

  test("a task with more partitions than it can have open files still writes one file per partition", Slow) {
    val t = partitioned()
    spark.range(0, 3000, 1, 1).selectExpr("id", "(id * 7919) % 200 AS part").writeTo(t)
      .option("distribution-mode", "none").append()
    val files = listed(t, "partition.part, record_count")
    assert(files.map(_.getLong(0)).sorted == (0L until 200L) && files.forall(_.getLong(1) == 15))
    assert(rows(s"SELECT count(DISTINCT id) FROM ${inApacheIceberg(t)}").head.getLong(0) == 3000)
  }

  test("if fan-out is disabled, rows are sorted by partition, and the plan shows the sort") {
    val t = partitioned()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.fanout.enabled' = 'false')")
    spark.range(0, 1000, 1, 3).selectExpr("id", "id % 5 AS part").writeTo(t)
      .option("distribution-mode", "none").append()
    assert(listed(t).size == 15)
    val plan = rows(s"EXPLAIN INSERT INTO $t SELECT id, id % 5 FROM range(10)").head.getString(0)
    assert(plan.contains("Sort [part"))
  }

  test("INSERT OVERWRITE with a PARTITION clause replaces only this partition") {
    val t = filledTable()
    sql(s"INSERT OVERWRITE $t PARTITION (part = 2) VALUES (100)")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE part = 2") == Seq("[100,2]"))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 17)
    assert(summaryOf(t)("operation") == "overwrite")
  }

  test("a dynamic overwrite replaces the partitions that have new rows", Slow) {
    val t = filledTable()
    withConf("spark.sql.sources.partitionOverwriteMode" -> "dynamic") {
      sql(s"INSERT OVERWRITE $t VALUES (100, 2), (101, 9)")
    }
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE part IN (2, 9)") == Seq("[100,2]", "[101,9]"))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 18)
    frame(Seq(102L -> 3L)).writeTo(t).overwritePartitions()
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE part = 3") == Seq("[102,3]"))
    frame(Seq(103L -> 3L)).writeTo(t).option("overwrite-mode", "dynamic").overwrite(lit(true))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE part = 3") == Seq("[103,3]"))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 15)
  }

  test("INSERT OVERWRITE without a PARTITION clause replaces all rows, even if there are no new rows") {
    val t = filledTable()
    sql(s"INSERT OVERWRITE $t VALUES (100, 2)")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == Seq("[100,2]"))
    sql(s"INSERT OVERWRITE $t SELECT * FROM $t WHERE id < 0")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}").isEmpty)
  }

  test("an overwrite by condition replaces the rows that match the condition") {
    val t = filledTable()
    frame(Seq(100L -> 1L)).writeTo(t).overwrite(col("part") <= 1 || col("part").isNull)
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} WHERE part <= 1") == Seq("[100,1]"))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 13)
  }

  test("DELETE and TRUNCATE remove whole files") {
    val t = filledTable()
    sql(s"DELETE FROM $t WHERE part IN (1, 3)")
    assert(sorted(s"SELECT DISTINCT part FROM ${inApacheIceberg(t)}") == Seq("[0]", "[2]", "[4]"))
    assert(summaryOf(t)("operation") == "delete" && summaryOf(t)("deleted-records") == "8")
    sql(s"DELETE FROM $t WHERE id >= 0 AND part = 0")
    assert(sorted(s"SELECT DISTINCT part FROM ${inApacheIceberg(t)}") == Seq("[2]", "[4]"))
    sql(s"TRUNCATE TABLE $t")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}").isEmpty)
  }

  test("an INSERT without rows commits a snapshot without files") {
    val t = filledTable()
    sql(s"INSERT INTO $t SELECT * FROM $t WHERE id < 0")
    assert(
      rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}.snapshots").head.getLong(0) == 2 && summaryOf(t)(
        "operation"
      ) == "append"
    )
  }

  test("the snapshot summary contains the engine name, the Spark application and the snapshot properties") {
    val t = partitioned()
    frame(Seq(1L -> 1L)).writeTo(t).option("snapshot-property.Reviewed-By", "me").append()
    val summary = summaryOf(t)
    assert(summary("engine-name") == "spark" && summary("engine-version") == spark.version)
    assert(summary("spark.app.id") == spark.sparkContext.applicationId && summary("Reviewed-By") == "me")
    assert(summary.contains("iceberg-lite-version") && summary("added-records") == "1")
  }

  private def partitioned(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, part BIGINT) USING iceberg PARTITIONED BY (part)")
    t
  }

  /** Creates a table with twenty rows in five partitions. */
  private def filledTable(): String = {
    val t = partitioned()
    spark.range(20).selectExpr("id", "id % 5 AS part").writeTo(t).append()
    t
  }

  private def frame(pairs: Seq[(Long, Long)]) = spark.createDataFrame(pairs).toDF("id", "part")

  private def source(n: Long) = spark.range(n).selectExpr(
    "id",
    "concat('n', id) AS name",
    "CAST(id / 10 AS DECIMAL(9, 2)) AS amount",
    "timestamp_micros(id * 1000000000) AS at",
    "date_add(DATE '1970-01-01', CAST(id - 50 AS INT)) AS day"
  )
}
