package iceberglite.spark.read.soundness

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{And, BindReferences, Expression, InterpretedPredicate, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds}
import iceberglite.spark.SharedSession
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.types.Type.DecimalType

/**
 * Random tables and conditions: the files planned for a condition and the filter that remains for Spark give the rows
 * that Spark finds without push-down. Some of the queries are also run, in iceberg-lite and in Apache Iceberg.
 */
@MoreRounds
class PushDownFuzzSuite extends AnyFunSuite with SharedSession {
  private val tables = Fuzz.slowRounds(8, least = 2)
  private val conditionsEach = 80
  private val runEach = 5
  private val byPeerEach = 2
  private val zones = Seq("UTC", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia")

  private def settings(zone: String): Seq[(String, String)] = Seq(
    "spark.sql.session.timeZone" -> zone,
    "spark.sql.datetime.java8API.enabled" -> "true",
    // For a few rows, interpreting a query is faster than compiling it.
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  /** The rows of a table, read without push-down: as Spark returns them, and in Spark's internal form. */
  private class AllRows(table: String) {
    private val all = spark.table(table)
    private val found = all.selectExpr("*", "_file").collect()
    private val convert = CatalystTypeConverters.createToCatalystConverter(all.schema)
    val file: Map[Int, String] = found.map(r => r.getInt(0) -> r.getString(r.length - 1)).toMap
    val held: Map[Int, InternalRow] =
      found.map(r => r.getInt(0) -> convert(Row(r.toSeq.init: _*)).asInstanceOf[InternalRow]).toMap
    val plain: DataFrame =
      spark.createDataFrame(java.util.Arrays.asList(found.map(r => Row(r.toSeq.init: _*)): _*), all.schema)

    /** Returns the ids of the rows for which each condition is true, with a single query. */
    def matching(conditions: Seq[String]): Seq[Set[Int]] = {
      val tested = plain.selectExpr("id" +: conditions: _*).collect()
      conditions.indices.map(i => tested.filter(r => !r.isNullAt(i + 1) && r.getBoolean(i + 1)).map(_.getInt(0)).toSet)
    }
  }

  /**
   * The result of a planned query of all columns: the rows in the planned files for which the remaining filter is true.
   *
   * @param files number of planned files
   * @param isTested whether Spark evaluates a filter on rows
   */
  private case class Outcome(ids: Set[Int], files: Int, isTested: Boolean)

  private def planned(query: DataFrame, rows: AllRows): Outcome = {
    val plan = query.queryExecution.optimizedPlan
    val scan = plan.collectLeaves().collectFirst { case r: DataSourceV2ScanRelation => r }
    scan.fold(Outcome(Set.empty, 0, isTested = false)) { r =>
      val files = r.scan.asInstanceOf[IcebergScan].files.plan.tasks.map(_.file.path).toSet
      val test = InterpretedPredicate(BindReferences.bindReference(left(plan), r.output))
      test.initialize(0)
      val ids = rows.held.collect { case (id, row) if files(rows.file(id)) && test.eval(row) => id }.toSet
      Outcome(ids, files.size, left(plan) != Literal.TrueLiteral)
    }
  }

  private def left(plan: LogicalPlan): Expression =
    plan.collect { case Filter(condition, _) => condition }.reduceOption(And).getOrElse(Literal.TrueLiteral)

  private def ids(query: DataFrame): Set[Int] = query.select("id").collect().map(_.getInt(0)).toSet

  test("push-down of a condition never loses or adds a row") {
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    (0 until tables).foreach { round =>
      val random = new Random(Fuzz.seed + round * 7919L)
      val zone = zones(round % zones.size)
      withConf(settings(zone): _*) {
        val shape = TableShape(version = 1 + round % 3, hasNewTypes = round % 3 == 2)
        val table = new EvolvingTable(newTable("pushed"), shape, random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round, $zone\n") {
          withClue(s"${table.description}\n")(table.build())
          withClue(s"${table.description}\n")(check(table, random))
        }
      }
    }
  }

  /** Conditions with the number of files that can match, and whether Spark evaluates a filter on rows. */
  private val decided: Seq[(String, Int, Boolean)] = Seq(
    ("id = 5", 1, true),
    ("id IN (5, 35)", 2, true),
    ("id BETWEEN 12 AND 27", 2, true),
    ("NOT (id < 25)", 2, true),
    ("t LIKE '1010%'", 1, true),
    ("p = 'a'", 2, false),
    ("p <> 'a'", 2, false),
    ("p IN ('a', 'c')", 2, false),
    ("p = 'b' AND id < 25", 1, true),
    ("p = 'a' OR id = 35", 3, true),
    ("id >= 0", 4, true)
  )

  test("files that cannot match are skipped, and conditions that partitions decide are not evaluated on rows") {
    withConf(settings("UTC"): _*) {
      val table = newTable("decided")
      sql(s"CREATE TABLE $table (id int, p string, t string) USING iceberg PARTITIONED BY (p)")
      for ((p, i) <- Seq("a", "a", "b", "b").zipWithIndex)
        sql(s"INSERT INTO $table SELECT int(id), '$p', string(id + 1000) FROM range(${i * 10}, ${i * 10 + 10}, 1, 1)")
      val rows = new AllRows(table)
      decided.zip(rows.matching(decided.map(_._1))).foreach { case ((condition, files, isTested), expected) =>
        val query = spark.table(table).where(condition)
        assert(planned(query, rows) == Outcome(expected, files, isTested), condition)
        assert(ids(query) == expected, condition)
      }
    }
  }

  private val function = """system\.(\w+)\((?:\d+, )?([\w.]+)\)""".r

  /**
   * Whether Apache Iceberg returns other rows for the condition. It orders -0.0 before 0.0 and skips files by that
   * order, while the two are equal in Spark. A decimal that is truncated to more digits than its type allows is null in
   * Spark, but not in Apache Iceberg's `truncate`. On an identity partition, Apache Iceberg applies a condition on a
   * function of the column to the column itself and loses rows. On a partition with the function, it returns rows with
   * null for a negated comparison.
   */
  private def isWrongInPeer(condition: String, table: EvolvingTable, rows: AllRows): Boolean = {
    val now = table.table
    val types = EvolvingTable.leavesOf(now.schema).toMap
    def partitions(column: String): Seq[String] =
      now.metadata.specs.flatMap(_.fields).filter(_.sourceId == now.schema.ids(column)).map(_.transform.name)
    def overflows(column: String): Boolean = types(column).isInstanceOf[DecimalType] &&
      !rows.plain.where(s"$column IS NOT NULL AND lite.system.truncate(10, $column) IS NULL").isEmpty
    val negates = condition.contains("<>") || condition.contains("NOT")
    condition.contains("0.0'") || function.findAllMatchIn(condition).exists { call =>
      val (name, column) = (call.group(1), call.group(2))
      partitions(column).exists(p => p == "identity" || negates && p.startsWith(name.stripSuffix("s"))) ||
      name == "truncate" && overflows(column)
    }
  }

  private def check(table: EvolvingTable, random: Random): Unit = {
    val rows = new AllRows(table.name)
    assert(rows.file == table.live.map { case (id, (file, _)) => id -> file }, "rows that no delete took out")
    val predicates = new RandomPredicates(EvolvingTable.leavesOf(table.table.schema), random)
    val conditions = Vector.tabulate(conditionsEach)(i => predicates.next(i % 4))
    val all = spark.table(table.name)
    val byPeer = !table.shape.hasNewTypes
    conditions.zip(rows.matching(conditions)).zipWithIndex.foreach { case ((condition, expected), i) =>
      withClue(s"WHERE $condition\n") {
        val query = all.where(condition)
        assert(planned(query, rows).ids == expected)
        if (i % (conditionsEach / runEach) == 0) assert(ids(query) == expected, "as run")
        if (byPeer && i % (conditionsEach / byPeerEach) == 0 && !isWrongInPeer(condition, table, rows)) {
          val there = spark.table(table.peerName).where(condition.replace("lite.system.", "ice.system."))
          assert(ids(there) == expected, "as run by Apache Iceberg")
        }
      }
    }
  }
}
