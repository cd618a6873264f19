package iceberglite.spark.read.files

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession

/** Checks which queries on a DataFrame fail if a column was widened after the DataFrame was created. */
class WidenedColumnsSuite extends AnyFunSuite with SharedSession {
  private val Max = "max"

  private def table(format: String, catalog: String = "lite"): String = {
    val name = newTable(catalog = catalog)
    sql(
      s"""CREATE TABLE $name (id BIGINT, i INT, f FLOAT, m DECIMAL(5, 2), s STRUCT<a: INT>, l ARRAY<INT>, p INT)
         |USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.format.default' = '$format')""".stripMargin
    )
    sql(s"INSERT INTO $name VALUES (1, 1, 1.5, 1.25, named_struct('a', 1), array(1), 1)")
    name
  }

  private def widen(table: String): Unit = {
    Seq(
      "i TYPE BIGINT",
      "f TYPE DOUBLE",
      "m TYPE DECIMAL(20, 2)",
      "s.a TYPE BIGINT",
      "l.element TYPE BIGINT",
      "p TYPE BIGINT"
    )
      .foreach(change => sql(s"ALTER TABLE $table ALTER COLUMN $change"))
  }

  private def insertWideValues(table: String): Unit = sql(
    s"""INSERT INTO $table VALUES (2, 5000000000, 1e300D, 123456789012345.25, named_struct('a', 5000000000),
       |array(5000000000), 5000000000)""".stripMargin
  )

  private def failure(body: => Any): String = {
    val thrown = intercept[Exception](body)
    Iterator.iterate[Throwable](thrown)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
  }

  private def assertReported(df: => DataFrame, column: String, from: String, to: String): Unit = {
    val message = failure(df.collect())
    val expected = s"column $column" + s".* from $from to $to after this DataFrame was created"
    assert(expected.r.findFirstIn(message).isDefined && message.contains("reate the DataFrame again"), message)
  }

  private val changes = Seq(
    ("i", "int", "bigint"),
    ("f", "float", "double"),
    ("m", "decimal(5,2)", "decimal(20,2)"),
    ("p", "int", "bigint")
  )

  for (format <- Seq("parquet", "orc", "avro"))
    test(
      s"the error of a DataFrame that was created before a column was widened names the column, in $format files",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "avro"): _*
    ) {
      val t = table(format)
      val df = spark.table(t)
      def quoted(text: String) = java.util.regex.Pattern.quote(text)
      widen(t)
      // The query succeeds, because no file contains values of the wider type yet.
      assert(df.select("id", "i", "m", "s.a").collect().length == 1)
      assert(df.groupBy("p").max("m").collect().length == 1)
      insertWideValues(t)
      changes.foreach { case (column, from, to) =>
        assertReported(df.select(column), column, quoted(from), quoted(to))
        if (format == "parquet" || column == "m")
          assertReported(df.selectExpr(s"$Max($column)"), column, quoted(from), quoted(to))
        if (format == "parquet") {
          assertReported(df.where(s"$column > 0").select("id"), column, quoted(from), quoted(to))
          assertReported(df.orderBy(column).limit(1).select(column), column, quoted(from), quoted(to))
          assertReported(df.groupBy(column).count(), column, quoted(from), quoted(to))
        }
      }
      assertReported(df.select("s"), "s.a", "int", "bigint")
      assertReported(df.select("s.a"), "s.a", "int", "bigint")
      assertReported(df.select("l"), "l.element", "int", "bigint")
      assert(df.select("id").collect().length == 2 && df.where("id > 1").select("id").collect().length == 1)
      assert(df.selectExpr("max(id)", "count(*)").head.getLong(0) == 2)
      assert(spark.table(t).where("i > 0 AND m > 0 AND p > 0").collect().length == 2)
      assert(spark.table(t).selectExpr("max(m)").head.getDecimal(0).toString == "123456789012345.25")
    }

  test("a widened column is also reported if the cost-based optimizer is enabled", Slow) {
    val t = table("parquet")
    val df = spark.table(t)
    widen(t)
    insertWideValues(t)
    sql(s"CALL ice.system.compute_table_stats('${inApacheIceberg(t).stripPrefix("ice.")}')")
    withConf("spark.sql.cbo.enabled" -> "true") {
      assertReported(df.as("a").join(df.as("b"), "m").select("a.id"), "m", "decimal\\(5,2\\)", "decimal\\(20,2\\)")
      assert(df.as("a").join(df.as("b"), "id").select("a.id").collect().length == 2)
    }
  }

  test("a cached DataFrame keeps its rows after a column was widened, and reports the widening once it is uncached") {
    val t = table("parquet")
    val df = spark.table(t).select("id", "i").cache()
    try {
      assert(df.count() == 1)
      widen(t)
      insertWideValues(t)
      sql(s"INSERT INTO $t (id) VALUES (3)")
      assert(df.collect().length == 1 && spark.table(t).count() == 3)
    } finally df.unpersist()
    assertReported(df.select("i"), "i", "int", "bigint")
  }

  test("views and change tables report a widened column, and reads of earlier snapshots succeed", Slow) {
    val t = table("parquet")
    val firstSnapshot = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0)
    spark.table(t).createOrReplaceTempView("widened_view")
    val changed = spark.table(s"$t.changes").select("i")
    val old = spark.read.option("snapshot-id", firstSnapshot).table(t).select("i")
    widen(t)
    insertWideValues(t)
    assertReported(sql("SELECT i FROM widened_view"), "i", "int", "bigint")
    assertReported(changed, "i", "int", "bigint")
    assert(old.collect().length == 1)
    assert(sql(s"SELECT i FROM $t VERSION AS OF $firstSnapshot").collect().length == 1)
    assert(sql(s"SELECT i FROM $t.changes").collect().length == 2)
  }

  test("a DataFrame with a join returns rows that were written after columns that it does not use were widened", Slow) {
    val t = table("parquet")
    val keys = spark.range(3).toDF("k")
    val beforeWidening = spark.table(t)
    val df = keys.join(beforeWidening, keys("k") === beforeWidening("id")).select("k")
    widen(t)
    insertWideValues(t)
    assert(df.collect().length == 2)
  }
}
