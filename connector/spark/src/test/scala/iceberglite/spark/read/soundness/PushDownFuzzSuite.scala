package iceberglite.spark.read.soundness

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{And, BindReferences, Expression, InterpretedPredicate, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.types.Type.DecimalType

/**
 * Checks random conditions on random tables. The suite takes the rows of the files that are planned for a condition,
 * and filters them by the part of the condition that remains for Spark. The result must equal the rows that Spark finds
 * without push-down. Some of the queries are also run by iceberg-lite, and some by Apache Iceberg.
 */
@MoreRoundsInSlowTier
class PushDownFuzzSuite extends AnyFunSuite with SharedSession {
  private val tables = Fuzz.slowRounds(8)
  private val conditionsPerTable = if (Sampling.isFast) 20 else 80
  private val queriesPerTable = 5
  private val peerQueriesPerTable = 2
  private val zones = Seq("UTC", "America/New_York", "America/St_Johns", "Asia/Kathmandu", "Pacific/Apia")

  private def settings(zone: String): Seq[(String, String)] = Seq(
    "spark.sql.session.timeZone" -> zone,
    "spark.sql.datetime.java8API.enabled" -> "true",
    // For few rows, interpreting a query is faster than compiling it.
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  /** All rows of a table, read without push-down. */
  private class AllRows(table: String) {
    private val query = spark.table(table)
    private val rowsWithFile = query.selectExpr("*", "_file").collect()
    private val toCatalyst = CatalystTypeConverters.createToCatalystConverter(query.schema)
    val fileById: Map[Int, String] = rowsWithFile.map(r => r.getInt(0) -> r.getString(r.length - 1)).toMap
    val internalRowById: Map[Int, InternalRow] =
      rowsWithFile.map(r => r.getInt(0) -> toCatalyst(Row(r.toSeq.init: _*)).asInstanceOf[InternalRow]).toMap
    val localCopy: DataFrame =
      spark.createDataFrame(java.util.Arrays.asList(rowsWithFile.map(r => Row(r.toSeq.init: _*)): _*), query.schema)

    /** Returns for each condition the ids of the rows for which it is true. A single query evaluates all conditions. */
    def matchingIds(conditions: Seq[String]): Seq[Set[Int]] = {
      val results = localCopy.selectExpr("id" +: conditions: _*).collect()
      conditions.indices.map(i => results.filter(r => !r.isNullAt(i + 1) && r.getBoolean(i + 1)).map(_.getInt(0)).toSet)
    }
  }

  /**
   * The result of a planned query that selects all columns.
   *
   * @param ids ids of the rows in the planned files for which the remaining filter is true
   * @param files number of planned files
   * @param hasFilter whether Spark evaluates a filter on rows
   */
  private case class PlanOutcome(ids: Set[Int], files: Int, hasFilter: Boolean)

  private def planOutcome(query: DataFrame, rows: AllRows): PlanOutcome = {
    val plan = query.queryExecution.optimizedPlan
    val scan = plan.collectLeaves().collectFirst { case r: DataSourceV2ScanRelation => r }
    scan.fold(PlanOutcome(Set.empty, 0, hasFilter = false)) { relation =>
      val files = relation.scan.asInstanceOf[IcebergScan].files.plan.tasks.map(_.file.path).toSet
      val predicate = InterpretedPredicate(BindReferences.bindReference(remainingFilter(plan), relation.output))
      predicate.initialize(0)
      val ids = rows.internalRowById.collect {
        case (id, row) if files(rows.fileById(id)) && predicate.eval(row) => id
      }.toSet
      PlanOutcome(ids, files.size, remainingFilter(plan) != Literal.TrueLiteral)
    }
  }

  private def remainingFilter(plan: LogicalPlan): Expression =
    plan.collect { case Filter(condition, _) => condition }.reduceOption(And).getOrElse(Literal.TrueLiteral)

  private def idsOf(query: DataFrame): Set[Int] = query.select("id").collect().map(_.getInt(0)).toSet

  test("push-down of a condition never loses or adds a row") {
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    (0 until tables).foreach { round =>
      val random = new Random(Fuzz.seed + round * 7919L)
      val zone = zones(round % zones.size)
      withConf(settings(zone): _*) {
        val shape = TableShape(version = 1 + round % 3, hasTypesWithoutSparkName = round % 3 == 2)
        val table = new EvolvingTable(newTable("pushed"), shape, random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round, $zone\n") {
          withClue(s"${table.description}\n")(table.build())
          withClue(s"${table.description}\n")(check(table, random))
        }
      }
    }
  }

  /** Conditions, each with the expected number of planned files, and whether Spark must evaluate a filter on rows. */
  private val expectedPlans: Seq[(String, Int, Boolean)] = Seq(
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

  test(
    "files that cannot match are skipped, and conditions that partition values decide are not evaluated on rows",
    Slow
  ) {
    withConf(settings("UTC"): _*) {
      val table = newTable("decided")
      sql(s"CREATE TABLE $table (id int, p string, t string) USING iceberg PARTITIONED BY (p)")
      for ((p, i) <- Seq("a", "a", "b", "b").zipWithIndex)
        sql(s"INSERT INTO $table SELECT int(id), '$p', string(id + 1000) FROM range(${i * 10}, ${i * 10 + 10}, 1, 1)")
      val rows = new AllRows(table)
      val matchingIds = rows.matchingIds(expectedPlans.map(_._1))
      expectedPlans.zip(matchingIds).foreach { case ((condition, files, hasFilter), ids) =>
        val query = spark.table(table).where(condition)
        assert(planOutcome(query, rows) == PlanOutcome(ids, files, hasFilter), condition)
        assert(idsOf(query) == ids, condition)
      }
    }
  }

  private val functionCall = """system\.(\w+)\((?:\d+, )?([\w.]+)\)""".r

  /**
   * Returns whether Apache Iceberg is known to return wrong rows for the condition. There are four cases:
   *   - Apache Iceberg orders -0.0 before 0.0 and skips files by that order. In Spark, the two zeros are equal.
   *   - If truncating a decimal gives more digits than its type allows, the result is null in Spark, but not in Apache
   *     Iceberg's `truncate`.
   *   - If the table is partitioned by the identity of a column, Apache Iceberg applies a condition on a function of
   *     the column to the column itself, and loses rows.
   *   - If the table is partitioned by the function in a negated comparison, Apache Iceberg also returns rows in which
   *     the function's column is null.
   */
  private def isWrongInPeer(condition: String, table: EvolvingTable, rows: AllRows): Boolean = {
    val current = table.table
    val types = EvolvingTable.leavesOf(current.schema).toMap
    def transformsOf(column: String): Seq[String] =
      current.metadata.specs.flatMap(_.fields).filter(_.sourceId == current.schema.ids(column)).map(_.transform.name)
    def overflows(column: String): Boolean = types(column).isInstanceOf[DecimalType] &&
      !rows.localCopy.where(s"$column IS NOT NULL AND lite.system.truncate(10, $column) IS NULL").isEmpty
    val isNegated = condition.contains("<>") || condition.contains("NOT")
    condition.contains("0.0'") || functionCall.findAllMatchIn(condition).exists { call =>
      val (name, column) = (call.group(1), call.group(2))
      transformsOf(column).exists(t => t == "identity" || isNegated && t.startsWith(name.stripSuffix("s"))) ||
      name == "truncate" && overflows(column)
    }
  }

  private def check(table: EvolvingTable, random: Random): Unit = {
    val rows = new AllRows(table.name)
    assert(rows.fileById == table.livePositions.map { case (id, (file, _)) => id -> file }, "files of live rows")
    val predicates = new RandomPredicates(EvolvingTable.leavesOf(table.table.schema), random)
    val conditions = Vector.tabulate(conditionsPerTable)(i => predicates.next(i % 4))
    val all = spark.table(table.name)
    val isReadByPeer = !table.shape.hasTypesWithoutSparkName
    conditions.zip(rows.matchingIds(conditions)).zipWithIndex.foreach { case ((condition, expected), i) =>
      withClue(s"WHERE $condition\n") {
        val query = all.where(condition)
        assert(planOutcome(query, rows).ids == expected)
        if (i % (conditionsPerTable / queriesPerTable) == 0) assert(idsOf(query) == expected, "executed query")
        val isPeerQuery = isReadByPeer && i % (conditionsPerTable / peerQueriesPerTable) == 0
        if (isPeerQuery && !isWrongInPeer(condition, table, rows)) {
          val peerQuery = spark.table(table.peerName).where(condition.replace("lite.system.", "ice.system."))
          assert(idsOf(peerQuery) == expected, "rows returned by Apache Iceberg")
        }
      }
    }
  }
}
