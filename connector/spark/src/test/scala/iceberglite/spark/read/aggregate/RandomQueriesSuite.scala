package iceberglite.spark.read.aggregate

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.FormatVersion

/** Random tables and queries: the rows must equal those of Spark on a copy of the table's rows. */
@MoreRounds
class RandomQueriesSuite extends AnyFunSuite with PushedPlans {
  private val tables = Fuzz.rounds(6, least = 2)
  private val queriesEach = 12

  /** Runs a test on random tables, each with its rows in the view `plain`. */
  private def eachTable(test: (RandomTable, Random) => Unit): Unit = (0 until tables).foreach { round =>
    val random = new Random(Fuzz.seed + round * 7919L)
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    val table = new RandomTable(newTable("random"), 1 + round % 3, random, sql)(catalog)
    withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round: ") {
      table.build()
      appendLast(table.name)
      val all = spark.table(table.name)
      spark.createDataFrame(java.util.Arrays.asList(all.collect(): _*), all.schema).createOrReplaceTempView("plain")
      try withClue(s"${table.description}\n")(test(table, random))
      finally spark.catalog.dropTempView("plain")
    }
  }

  /** Appends two files with bounds; only the second one has the greatest id. */
  private def appendLast(table: String): Unit = {
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('write.metadata.metrics.default' = 'full')")
    (1000 to 1001).foreach(id => sql(s"INSERT INTO $table (id) VALUES ($id)"))
  }

  private def oneOf[A](random: Random, of: Seq[A]): A = of(random.nextInt(of.size))

  /** Replaces negative zero, because the order of the two zeros is unspecified. */
  private def text(row: Row): String = row.toString.replace("-0.0", "0.0")

  private def columns(of: RandomTable): Seq[String] =
    Seq("id", "k", "x", "f", "name", "d", "ts", "amount", "flag", "s.a", "s.t", "p") ++
      of.table.schema.fields.map(_.name).filter(Set("late", "given"))

  private def where(random: Random): String = oneOf(
    random,
    Seq(
      "",
      "",
      "",
      "WHERE p = 'a'",
      "WHERE p IS NULL",
      "WHERE k = 1",
      "WHERE id > 0",
      s"WHERE id > ${random.nextInt(20)}",
      "WHERE amount < 5",
      "WHERE d IS NOT NULL AND k >= 0",
      "WHERE name < 'xx'",
      "WHERE s.a IS NULL OR x > 1"
    )
  )

  test("random COUNT, MIN and MAX, with and without groups, return the rows of plain Spark") {
    eachTable { (table, random) =>
      val names = columns(table)
      val whole = sql(s"SELECT count(*) FROM ${table.name}")
      assert(whole.collect().toSeq == rows("SELECT count(*) FROM plain"))
      // Tables of version 1 have no delete files.
      assert(isAnswered(whole) || table.table.metadata.formatVersion > FormatVersion.V1)
      (0 until queriesEach).foreach { _ =>
        val functions = Seq.fill(1 + random.nextInt(2)) {
          val column = oneOf(random, names)
          oneOf(random, Seq("count(*)", s"count($column)", s"min($column)", s"max($column)"))
        }.distinct
        val groups = oneOf(random, Seq("", "", "", "", "p", "p", "k", "k, p", "flag"))
        val selected = (Seq(groups).filter(_.nonEmpty) ++ functions).mkString(", ")
        val query = s"SELECT $selected FROM %s ${where(random)}" + (if (groups.isEmpty) "" else s" GROUP BY $groups")
        val df = sql(query.replace("%s", table.name))
        val found = df.collect().map(text).sorted.toSeq
        val expected = rows(query.replace("%s", "plain")).map(text).sorted
        assert(found == expected, query)
        if (isAnswered(df)) withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
          assert(rows(query.replace("%s", table.name)).map(text).sorted == expected, query)
        }
      }
    }
  }

  /** Returns the number of files that a query reads, and the number of all files. */
  private def filesRead(df: DataFrame): Option[(Int, Int)] =
    collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s.scan.description }
      .flatMap(""".*files=(\d+) of (\d+).*""".r.findFirstMatchIn(_)).map(m => (m.group(1).toInt, m.group(2).toInt))

  test("random queries with LIMIT, with and without an order, return the rows of plain Spark") {
    eachTable { (table, random) =>
      val names = columns(table)
      val last = sql(s"SELECT id FROM ${table.name} ORDER BY id DESC LIMIT 1")
      assert(last.collect().toSeq == Seq(Row(1001L)))
      assert(filesRead(last).exists { case (read, all) => read < all }, "the file with the next smaller id is read")
      (0 until queriesEach / 2).foreach { _ =>
        val column = oneOf(random, names)
        val direction = oneOf(random, Seq("", "ASC NULLS LAST", "DESC", "DESC NULLS FIRST"))
        val after = oneOf(random, Seq(", id", ", id DESC"))
        val rest = oneOf(random, Seq("", "", " OFFSET 2"))
        val filter = where(random)
        val limit = 1 + random.nextInt(4)
        val ordered = s"SELECT id, $column FROM %s $filter ORDER BY $column $direction$after LIMIT $limit$rest"
        val df = sql(ordered.replace("%s", table.name))
        assert(df.collect().map(text).toSeq == rows(ordered.replace("%s", "plain")).map(text), ordered)
        val any = s"SELECT id FROM %s $filter LIMIT $limit$rest"
        val ids = rows(any.replace("%s", table.name)).map(_.toString)
        val matching = rows(s"SELECT id FROM plain $filter").map(_.toString)
        assert(ids.distinct == ids && ids.forall(matching.contains), any)
        assert(ids.size == math.max(0, math.min(limit, matching.size - (if (rest.isEmpty) 0 else 2))), any)
      }
    }
  }
}
