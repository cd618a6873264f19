package iceberglite.spark.read.aggregate

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, InEveryRun, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.FormatVersion

/** Checks that random queries return the same rows on a random table and on a copy of its rows in memory. */
@MoreRoundsInSlowTier
class RandomQueriesSuite extends AnyFunSuite with PushedPlans {
  private val tables = Fuzz.rounds(6)
  private val queriesPerTable = if (Sampling.isFast) 5 else 12

  /** Runs a test on random tables. For each table, the temporary view `copied` contains the same rows in memory. */
  private def forEachTable(test: (RandomTable, Random) => Unit): Unit = (0 until tables).foreach { round =>
    val random = new Random(Fuzz.seed + round * 7919L)
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    val table = new RandomTable(newTable("random"), 1 + round % 3, random, sql)(catalog)
    withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round: ") {
      table.build()
      appendFilesWithBounds(table.name)
      val all = spark.table(table.name)
      spark.createDataFrame(java.util.Arrays.asList(all.collect(): _*), all.schema).createOrReplaceTempView("copied")
      try withClue(s"${table.description}\n")(test(table, random))
      finally spark.catalog.dropTempView("copied")
    }
  }

  /** Appends two files with bounds. Only the second file contains the greatest id. */
  private def appendFilesWithBounds(table: String): Unit = {
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('write.metadata.metrics.default' = 'full')")
    (1000 to 1001).foreach(id => sql(s"INSERT INTO $table (id) VALUES ($id)"))
  }

  private def oneOf[A](random: Random, items: Seq[A]): A = items(random.nextInt(items.size))

  /** Returns the text of the row with -0.0 replaced by 0.0, because the order of the two zeros is unspecified. */
  private def text(row: Row): String = row.toString.replace("-0.0", "0.0")

  private def columns(table: RandomTable): Seq[String] =
    Seq("id", "k", "x", "f", "name", "d", "ts", "amount", "flag", "s.a", "s.t", "p") ++
      table.table.schema.fields.map(_.name).filter(Set("late", "given"))

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

  test(
    "random COUNT, MIN and MAX, with and without groups, return the rows that Spark finds in a copy of the table",
    Slow,
    InEveryRun
  ) {
    forEachTable { (table, random) =>
      val names = columns(table)
      val countQuery = sql(s"SELECT count(*) FROM ${table.name}")
      assert(countQuery.collect().toSeq == rows("SELECT count(*) FROM copied"))
      // Metadata answers the query unless the table has delete files, and version 1 tables have none.
      assert(isFromMetadata(countQuery) || table.table.metadata.formatVersion > FormatVersion.V1)
      (0 until queriesPerTable).foreach { _ =>
        val functions = Seq.fill(1 + random.nextInt(2)) {
          val column = oneOf(random, names)
          oneOf(random, Seq("count(*)", s"count($column)", s"min($column)", s"max($column)"))
        }.distinct
        val groups = oneOf(random, Seq("", "", "", "", "p", "p", "k", "k, p", "flag"))
        val selected = (Seq(groups).filter(_.nonEmpty) ++ functions).mkString(", ")
        val query = s"SELECT $selected FROM %s ${where(random)}" + (if (groups.isEmpty) "" else s" GROUP BY $groups")
        val df = sql(query.replace("%s", table.name))
        val result = df.collect().map(text).sorted.toSeq
        val expected = rows(query.replace("%s", "copied")).map(text).sorted
        assert(result == expected, query)
        if (isFromMetadata(df)) withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
          assert(rows(query.replace("%s", table.name)).map(text).sorted == expected, query)
        }
      }
    }
  }

  /** Returns the number of files that a query reads, and the number of all files of the table. */
  private def filesRead(df: DataFrame): Option[(Int, Int)] =
    collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s.scan.description }
      .flatMap(""".*files=(\d+) of (\d+).*""".r.findFirstMatchIn(_)).map(m => (m.group(1).toInt, m.group(2).toInt))

  test("random queries with LIMIT, with and without ORDER BY, return rows that Spark finds in a copy of the table") {
    forEachTable { (table, random) =>
      val names = columns(table)
      val last = sql(s"SELECT id FROM ${table.name} ORDER BY id DESC LIMIT 1")
      assert(last.collect().toSeq == Seq(Row(1001L)))
      assert(filesRead(last).exists { case (read, all) => read < all }, "the query of the greatest id read all files")
      (0 until queriesPerTable / 2).foreach { _ =>
        val column = oneOf(random, names)
        val direction = oneOf(random, Seq("", "ASC NULLS LAST", "DESC", "DESC NULLS FIRST"))
        val secondOrder = oneOf(random, Seq(", id", ", id DESC"))
        val offset = oneOf(random, Seq("", "", " OFFSET 2"))
        val filter = where(random)
        val limit = 1 + random.nextInt(4)
        val ordered = s"SELECT id, $column FROM %s $filter ORDER BY $column $direction$secondOrder LIMIT $limit$offset"
        val df = sql(ordered.replace("%s", table.name))
        assert(df.collect().map(text).toSeq == rows(ordered.replace("%s", "copied")).map(text), ordered)
        val unordered = s"SELECT id FROM %s $filter LIMIT $limit$offset"
        val ids = rows(unordered.replace("%s", table.name)).map(_.toString)
        val matching = rows(s"SELECT id FROM copied $filter").map(_.toString)
        assert(ids.distinct == ids && ids.forall(matching.contains), unordered)
        assert(ids.size == math.max(0, math.min(limit, matching.size - (if (offset.isEmpty) 0 else 2))), unordered)
      }
    }
  }
}
