package iceberglite.spark.read.partitioning

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.joins.SortMergeJoinExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks whether Spark sorts rows for storage-partitioned joins of tables whose files are sorted. */
class GroupSortOrderSuite extends AnyFunSuite with SharedSession with AdaptiveSparkPlanHelper {
  private val Grouping = "spark.sql.iceberg.planning.preserve-data-grouping"

  /**
   * Creates a table in which each INSERT writes one file per bucket. Apache Iceberg sets the table's sort order.
   *
   * @param inserts arguments of `range` that give the ids of each INSERT
   */
  private def table(order: String, inserts: String*): String = {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT, day DATE, word STRING, v INT) USING iceberg PARTITIONED BY (bucket(2, id))")
    sql(s"ALTER TABLE ${inApacheIceberg(name)} WRITE ORDERED BY $order")
    sql(s"REFRESH TABLE $name")
    inserts.foreach(insert(name, _))
    name
  }

  /** Inserts rows with the given ids, in an order that differs from the sort order. */
  private def insert(name: String, ids: String): Unit = sql(
    s"""INSERT INTO $name SELECT IF(id = 13, NULL, id), date_add(DATE'2024-01-01', int(id % 9)), string(id), int(id)
       |FROM (SELECT * FROM range($ids)) ORDER BY id * 7919 % 101""".stripMargin
  )

  /**
   * Runs a query without the setting `preserve-data-grouping`, and with this setting off. Checks that both runs return
   * the same rows, and that the second plan has two sorts.
   *
   * @return the first run
   */
  private def joined(query: String): DataFrame = {
    val session = spark.newSession()
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    inSession(session) { s =>
      val (rows, df) = run(s, query)
      s.conf.set(Grouping, "false")
      val (expected, shuffled) = run(s, query)
      assert(rows.nonEmpty && rows == expected)
      assert(sorts(shuffled) == 2)
      df
    }
  }

  private def run(session: SparkSession, query: String): (Seq[String], DataFrame) = {
    val df = session.sql(query)
    (df.collect().map(_.toString).sorted.toSeq, df)
  }

  /** Returns the number of sorts below the joins in the plan of the query. */
  private def sorts(df: DataFrame): Int = {
    val joins = collect(df.queryExecution.executedPlan) { case j: SortMergeJoinExec => j }
    assert(joins.nonEmpty)
    joins.flatMap(collect(_) { case s: SortExec => s }).size
  }

  private lazy val left = table("id", "0, 50", "60, 90")
  private lazy val right = table("id, day", "20, 80")

  test("a join does not sort the rows of a sorted file, or of sorted files with consecutive ranges", Slow) {
    val df = joined(s"SELECT * FROM $left l JOIN $right r ON l.id = r.id")
    assert(sorts(df) == 0, df.queryExecution.executedPlan)
    assert(df.queryExecution.executedPlan.toString.contains("grouped by bucket(2, id) sorted by id, day"))
    Seq("LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN").foreach { t =>
      assert(sorts(joined(s"SELECT * FROM $left l $t $right r ON l.id = r.id")) == 0, t)
    }
  }

  test(
    "a table sorted by several columns needs no sort if the join keys are the first of these columns, in order",
    Slow
  ) {
    val joinedTable = table("id, day", "0, 40")
    assert(sorts(joined(s"SELECT * FROM $joinedTable l JOIN $right r ON l.id = r.id AND l.day = r.day")) == 0)
    assert(sorts(joined(s"SELECT * FROM $joinedTable l JOIN $right r ON l.day = r.day AND l.id = r.id")) == 2)
    assert(sorts(joined(s"SELECT * FROM $left l JOIN $right r ON l.id = r.id AND l.day = r.day")) == 1)
  }

  test(
    "Spark sorts the rows of files with overlapping or touching ranges, but not of files with disjoint ranges",
    Slow
  ) {
    def sortsOf(inserts: String*): Int = {
      val joinedTable = table("id", inserts: _*)
      sorts(joined(s"SELECT * FROM $joinedTable l JOIN $left r ON l.id = r.id"))
    }
    assert(sortsOf("0, 50", "40, 80") == 1)
    assert(sortsOf("0, 50", "46, 80") == 1)
    assert(sortsOf("30, 50", "0, 30") == 0)
  }

  test(
    "Spark sorts the rows of sorted files if a file other than the first contains nulls, because nulls come first",
    Slow
  ) {
    def sortsOf(inserts: String*): Int = {
      val tables = Seq.fill(2) {
        val name = newTable()
        val columns = "id BIGINT, day DATE, word STRING, v INT"
        sql(s"CREATE TABLE $name ($columns) USING iceberg PARTITIONED BY (bucket(1, v))")
        sql(s"ALTER TABLE ${inApacheIceberg(name)} WRITE ORDERED BY id, v")
        sql(s"REFRESH TABLE $name")
        inserts.foreach(insert(name, _))
        name
      }
      sorts(joined(s"SELECT * FROM ${tables.head} l LEFT JOIN ${tables.last} r ON l.id = r.id AND l.v = r.v"))
    }
    assert(sortsOf("10, 20", "30, 40") == 0)
    assert(sortsOf("0, 10", "11, 20") == 2)
  }

  test("Spark sorts the rows of files with another sort order or without a sort order", Slow) {
    for (order <- Seq("id DESC", "id NULLS LAST", "day", "bucket(4, id)")) {
      val joinedTable = table(order, "0, 60")
      assert(sorts(joined(s"SELECT * FROM $joinedTable l JOIN $left r ON l.id = r.id")) == 1, order)
    }
    val unsorted = newTable()
    val columns = "id BIGINT, day DATE, word STRING, v INT"
    sql(s"CREATE TABLE $unsorted ($columns) USING iceberg PARTITIONED BY (bucket(2, id))")
    insert(unsorted, "0, 30")
    sql(s"ALTER TABLE ${inApacheIceberg(unsorted)} WRITE ORDERED BY id")
    sql(s"REFRESH TABLE $unsorted")
    insert(unsorted, "40, 50")
    assert(sorts(joined(s"SELECT * FROM $unsorted l JOIN $left r ON l.id = r.id")) == 1)
    joined(s"SELECT * FROM $unsorted l JOIN $left r ON l.id = r.id WHERE l.id > 35")
  }

  test("Spark sorts the rows of files that are sorted by strings, because writers compare strings differently", Slow) {
    val texts = Seq.fill(2) {
      val name = newTable()
      sql(s"CREATE TABLE $name (word STRING) USING iceberg PARTITIONED BY (bucket(2, word))")
      sql(s"ALTER TABLE ${inApacheIceberg(name)} WRITE ORDERED BY word")
      sql(s"REFRESH TABLE $name")
      sql(s"INSERT INTO $name SELECT string(id) FROM range(20)")
      name
    }
    assert(sorts(joined(s"SELECT * FROM ${texts.head} l JOIN ${texts.last} r ON l.word = r.word")) == 2)
  }

  test("the rows of sorted files with deleted rows are not sorted again", Slow) {
    val deleted = table("id", "0, 50")
    sql(s"ALTER TABLE ${inApacheIceberg(deleted)} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
    sql(s"DELETE FROM ${inApacheIceberg(deleted)} WHERE id % 3 = 1")
    sql(s"REFRESH TABLE $deleted")
    assert(sorts(joined(s"SELECT * FROM $deleted l JOIN $right r ON l.id = r.id")) == 0)
  }

  test("the rows of the files that remain after runtime filtering are not sorted again") {
    val pruning = Seq(
      "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly" -> "false",
      "spark.sql.optimizer.dynamicPartitionPruning.fallbackFilterRatio" -> "10"
    )
    val threeFiles = table("id", "60, 90", "0, 20", "30, 50")
    val query = s"SELECT * FROM $threeFiles l JOIN $right r ON l.id = r.id WHERE r.word IN ('35', '70', '75')"
    inSession(spark.newSession()) { session =>
      (pruning :+ ("spark.sql.autoBroadcastJoinThreshold" -> "-1")).foreach { case (k, v) => session.conf.set(k, v) }
      val (rows, df) = run(session, query)
      assert(rows.size == 3 && sorts(df) == 0 && df.queryExecution.executedPlan.toString.contains("dynamicpruning"))
    }
  }

  test("if the session requests grouped scans, window functions over sorted files need no sort") {
    inSession(spark.newSession()) { session =>
      session.conf.set(Grouping, "true")
      session.conf.set("spark.sql.sources.v2.bucketing.enabled", "true")
      val query = s"SELECT id, day, rank() OVER (PARTITION BY id ORDER BY day) FROM $right"
      val (rows, df) = run(session, query)
      assert(rows == sorted(query))
      assert(collect(df.queryExecution.executedPlan) { case s: SortExec => s }.isEmpty)
    }
  }
}
