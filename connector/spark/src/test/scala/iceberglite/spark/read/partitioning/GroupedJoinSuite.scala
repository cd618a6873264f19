package iceberglite.spark.read.partitioning

import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField
import org.apache.iceberg.{PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, ShuffledJoin}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.types.JavaTables

/**
 * Checks joins of tables with the same partitioning, in sessions where Spark's settings for storage-partitioned joins
 * have their defaults.
 */
class GroupedJoinSuite extends AnyFunSuite with JavaTables with AdaptiveSparkPlanHelper {
  private val Grouping = "spark.sql.iceberg.planning.preserve-data-grouping"
  private val Bucketing = "spark.sql.sources.v2.bucketing.enabled"
  private val PushValues = "spark.sql.sources.v2.bucketing.pushPartValues.enabled"
  private val types = Seq("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
  private val selectedTypes = Seq("JOIN", "FULL JOIN", "LEFT SEMI JOIN")

  /**
   * Creates a table with 40 rows. Every tenth id is null.
   *
   * @param partitioning partition transforms; empty for an unpartitioned table
   * @param from the first id, for example 0 for one table and 20 for another table, which then share half of their ids
   */
  private def table(partitioning: String, from: Int): String = {
    val name = newTable()
    val columns = "id BIGINT, day DATE, name STRING, v INT, ts TIMESTAMP"
    val partitioned = if (partitioning.isEmpty) "" else s"PARTITIONED BY ($partitioning)"
    sql(s"CREATE TABLE $name ($columns) USING iceberg $partitioned")
    fill(name, from)
    name
  }

  private def fill(name: String, from: Int): Unit = sql(
    s"""INSERT INTO $name SELECT IF(id % 10 = 9, NULL, id), date_add(DATE'2024-01-01', int(id % 3)),
       |concat('n', id % 4), int(id), timestamp_seconds(id % 3 * 5000) FROM range($from, ${from + 40})""".stripMargin
  )

  /** Creates a table in which each row occurs twice. */
  private def tableWithDuplicates(from: Int): String = {
    val name = table("bucket(4, id)", from)
    fill(name, from)
    name
  }

  private lazy val left = tableWithDuplicates(0)
  private lazy val right = tableWithDuplicates(20)

  /** Runs the body in a new session, in which Spark's settings for storage-partitioned joins are not set. */
  private def inBareSession[A](settings: (String, String)*)(body: SparkSession => A): A = {
    val session = spark.newSession()
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    inSession(session)(body)
  }

  private def run(query: String, settings: (String, String)*): (Seq[String], DataFrame) =
    inBareSession(settings: _*) { session =>
      val df = session.sql(query)
      (df.collect().map(_.toString).sorted.toSeq, df)
    }

  private def shufflesBelowJoins(df: DataFrame): Int = {
    val joins = collect(df.queryExecution.executedPlan) { case j: ShuffledJoin => j }
    assert(joins.nonEmpty)
    joins.map(collect(_) { case s: ShuffleExchangeExec => s }.size).max
  }

  private def groupedScans(df: DataFrame): Int = collect(df.queryExecution.executedPlan) {
    case s: BatchScanExec if s.scan.description.contains("grouped by") => s
  }.size

  /** Returns the total number of tasks of all scans in the plan. */
  private def readTasks(df: DataFrame): Int =
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s.inputRDD.getNumPartitions }.sum

  /** Checks that the query joins scans that are grouped by partition without a shuffle, with unchanged rows. */
  private def joinsInPlace(query: String, settings: (String, String)*): DataFrame = {
    val (rows, df) = run(query, settings: _*)
    assert(shufflesBelowJoins(df) == 0 && groupedScans(df) >= 2, df.queryExecution.executedPlan)
    assert(rows.nonEmpty && rows == run(query, settings :+ (Grouping -> "false"): _*)._1, query)
    df
  }

  /** Checks that the query shuffles rows for a join, with the same rows and scan tasks as if grouping were disabled. */
  private def joinsByShuffle(query: String, settings: (String, String)*): Unit = {
    val (rows, df) = run(query, settings: _*)
    assert(shufflesBelowJoins(df) > 0 && groupedScans(df) == 0, df.queryExecution.executedPlan)
    val (expected, ungrouped) = run(query, settings :+ (Grouping -> "false"): _*)
    assert(rows == expected && readTasks(df) == readTasks(ungrouped), query)
  }

  for (aqe <- Seq("true", "false"))
    test(
      s"tables with the same buckets join without a shuffle, in every join type; adaptive execution: $aqe",
      Sampling.slowInSomeRuns(isAlwaysRun = aqe == "false"): _*
    ) {
      val adaptive = "spark.sql.adaptive.enabled" -> aqe
      types.foreach(t => joinsInPlace(s"SELECT * FROM $left l $t $right r ON l.id = r.id", adaptive))
    }

  test("joins need no shuffle if both sides are partitioned by the same transform of the join key", Slow) {
    val transforms =
      Seq("name", "truncate(2, name)", "truncate(20, id)", "days(day)", "months(day)", "years(day)", "day") ++
        Seq("bucket(3, name)", "hours(ts)", "days(ts)", "ts")
    for (transform <- transforms) {
      val key = Seq("name", "id", "day", "ts").find(k => transform.endsWith(k) || transform.endsWith(s"$k)")).get
      val (l, r) = (table(transform, 0), table(transform, 20))
      joinsInPlace(s"SELECT l.v, r.v, r.$key FROM $l l JOIN $r r ON l.$key = r.$key")
    }
  }

  test(
    "a common partition field is sufficient for a join without a shuffle, and scans are grouped by common fields",
    Slow
  ) {
    val (l, r) = (
      table("bucket(4, id), days(day), truncate(1, name)", 0),
      table("truncate(1, name), truncate(4, id), bucket(4, id)", 0)
    )
    val keys = Seq("day", "id", "name").map(k => s"l.$k = r.$k").mkString(" AND ")
    val joined = joinsInPlace(s"SELECT l.v, r.v FROM $l l JOIN $r r ON $keys")
    assert(joined.queryExecution.executedPlan.toString.contains("grouped by bucket(4, id), truncate(1, name)"))
    joinsInPlace(s"SELECT l.v, r.v FROM $l l JOIN $r r ON l.id = r.id")
    joinsInPlace(s"SELECT l.v, r.v FROM $left l JOIN $right r ON l.v = r.v AND l.id = r.id AND l.day = r.day")
    joinsInPlace(s"SELECT l.v, r.v FROM $left l JOIN $right r ON l.id = r.id AND l.id + r.id > 50")
  }

  test("joins with renamed keys, with filters or of three tables need no shuffle", Slow) {
    val third = table("bucket(4, id)", 10)
    val renamed = s"(SELECT id AS k, v FROM $left WHERE v > 3)"
    joinsInPlace(s"SELECT l.k, r.v FROM $renamed l JOIN $right r ON l.k = r.id")
    for (t <- Seq("JOIN", "LEFT JOIN")) {
      joinsInPlace(s"SELECT l.v, r.v, t.v FROM $left l $t $right r ON l.id = r.id $t $third t ON t.id = l.id")
    }
    joinsInPlace(s"SELECT a.v, b.v FROM $left a JOIN $left b ON a.id = b.id")
  }

  test(
    "joins of tables with different or no partitioning shuffle rows, and do not reduce the number of scan tasks",
    Slow
  ) {
    Seq("bucket(8, id)", "truncate(4, id)", "bucket(4, v)", "day", "").foreach { partitioning =>
      val joinedTable = table(partitioning, 20)
      joinsByShuffle(s"SELECT l.v, r.v FROM $left l JOIN $joinedTable r ON l.id = r.id")
    }
    joinsByShuffle(s"SELECT l.v, r.v FROM $left l JOIN $right r ON l.v = r.v")
    joinsByShuffle(s"SELECT l.v, r.v FROM $left l JOIN $right r ON l.id = r.v")
  }

  test("scans are not grouped by doubles, because of the two zeros, or by UUIDs and times, which Spark lacks", Slow) {
    val tables = Seq.fill(2) {
      val t = newTable()
      sql(s"CREATE TABLE $t (x DOUBLE, v INT) USING iceberg PARTITIONED BY (x)")
      sql(s"INSERT INTO $t VALUES (0.0D, 1), (-0.0D, 2), (1.5D, 3), (double('NaN'), 4)")
      t
    }
    joinsByShuffle(s"SELECT l.v, r.v FROM ${tables.head} l JOIN ${tables.last} r ON l.x = r.x")
    for (transform <- Seq[(PeerSpec.Builder, String) => PeerSpec.Builder](_.identity(_), _.bucket(_, 4))) {
      val schema = new PeerSchema(
        NestedField.optional(1, "u", Types.UUIDType.get),
        NestedField.optional(2, "t", Types.TimeType.get),
        NestedField.optional(3, "v", Types.IntegerType.get)
      )
      for (column <- Seq("u", "t")) {
        val others = Seq.fill(2) {
          val t = newTable()
          javaTable(t, schema, s => transform(PeerSpec.builderFor(s), column).build())
          sql(s"INSERT INTO $t SELECT concat('f79c3e09-677c-4bbd-a479-3f349cb785e', id), id, int(id) FROM range(5)")
          t
        }
        joinsByShuffle(s"SELECT l.v, r.v FROM ${others.head} l JOIN ${others.last} r ON l.$column = r.$column")
      }
    }
  }

  test("after partition evolution, scans are grouped by the fields that all files share", Slow) {
    val evolved = table("bucket(4, id)", 0)
    sql(s"ALTER TABLE $evolved ADD PARTITION FIELD days(day)")
    fill(evolved, 10)
    joinsInPlace(s"SELECT l.v, r.v FROM $evolved l JOIN $right r ON l.id = r.id")
    sql(s"ALTER TABLE $evolved DROP PARTITION FIELD bucket(4, id)")
    fill(evolved, 30)
    joinsByShuffle(s"SELECT l.v, r.v FROM $evolved l JOIN $right r ON l.id = r.id")
    joinsInPlace(s"SELECT l.v, r.v FROM $evolved l JOIN $left r ON l.id = r.id WHERE l.v < 25")
  }

  test("files that were written before a partition column was widened are grouped by this column") {
    val (l, r) = (newTable(), newTable())
    Seq(l, r).foreach { t =>
      sql(s"CREATE TABLE $t (id INT, v INT) USING iceberg PARTITIONED BY (id)")
      sql(s"INSERT INTO $t SELECT int(id % 5), int(id) FROM range(20)")
      sql(s"ALTER TABLE $t ALTER COLUMN id TYPE BIGINT")
      sql(s"INSERT INTO $t SELECT id % 7, int(id) FROM range(20)")
    }
    joinsInPlace(s"SELECT l.v, r.v FROM $l l JOIN $r r ON l.id = r.id")
  }

  test("scans of a broadcast join are not grouped for this join, but can be grouped for another join above it", Slow) {
    val broadcast = run(s"SELECT /*+ BROADCAST(r) */ l.v, r.v FROM $left l JOIN $right r ON l.id = r.id")._2
    assert(groupedScans(broadcast) == 0)
    assert(collect(broadcast.queryExecution.executedPlan) { case j: BroadcastHashJoinExec => j }.size == 1)
    val words = table("name", 0)
    val star = s"(SELECT /*+ BROADCAST(w) */ l.id, l.v, w.name FROM $left l JOIN $words w ON l.v = w.v)"
    assert(groupedScans(joinsInPlace(s"SELECT s.v, s.name, r.v FROM $star s JOIN $right r ON s.id = r.id")) == 2)
  }

  test("scans are not grouped for a join with the result of a join that shuffles rows", Slow) {
    val (rows, df) = run(s"SELECT l.v FROM $left l JOIN $right r ON l.id = r.id JOIN $right t ON l.v = t.v")
    assert(groupedScans(df) == 2 && rows.nonEmpty)
    val shuffledJoin = s"(SELECT l.id, r.v FROM $left l JOIN $right r ON l.v = r.v)"
    joinsByShuffle(s"SELECT m.v, t.v FROM $shuffledJoin m JOIN $right t ON m.id = t.id")
  }

  test(
    "scans below a broadcast are grouped; those on the other side of the broadcast join are not, as rows would be lost"
  ) {
    val (a, b) = (table("bucket(4, id)", 0), table("bucket(4, id)", 5))
    val small = s"(SELECT a.id, a.v FROM $a a JOIN $b b ON a.id = b.id)"
    val star = s"(SELECT /*+ BROADCAST(s) */ l.id, s.v FROM $left l JOIN $small s ON l.v = s.v)"
    val query = s"SELECT x.v, r.v FROM $star x JOIN (SELECT * FROM $right WHERE id > 25) r ON x.id = r.id"
    val (rows, df) = run(query)
    assert(groupedScans(df) == 2)
    assert(rows.nonEmpty && rows == run(query, Grouping -> "false")._1)
  }

  test("loading a catalog enables Spark's settings for storage-partitioned joins, unless the user sets them") {
    inBareSession() { session =>
      session.sql("SELECT 1").collect()
      assert(!session.conf.get(Bucketing).toBoolean)
      session.sql(s"SELECT * FROM $left").collect()
      assert(session.conf.get(Bucketing).toBoolean && session.conf.get(PushValues).toBoolean)
      assert(session.conf.get("spark.sql.requireAllClusterKeysForCoPartition").toBoolean)
    }
    for (key <- Seq(Bucketing, PushValues)) inBareSession(key -> "false") { session =>
      val df = session.sql(s"SELECT * FROM $left l JOIN $right r ON l.id = r.id")
      df.collect()
      assert(groupedScans(df) == 0 && session.conf.get(key) == "false")
    }
  }

  test("joins of tables of other data sources have the same plan before and after a catalog is loaded", Slow) {
    val tables = Seq("plain_l", "plain_r").map(n => s"spark_catalog.default.${n}_${ns}")
    val bucketed = "USING parquet CLUSTERED BY (id) INTO 2 BUCKETS"
    tables.foreach(t => sql(s"CREATE TABLE $t $bucketed AS SELECT id, id % 3 v FROM range(9)"))
    try {
      val query = s"SELECT * FROM ${tables.head} l JOIN ${tables.last} r ON l.id = r.id AND l.v = r.v"
      def plan(df: DataFrame): String = df.queryExecution.sparkPlan.toString.replaceAll("#\\d+|file:\\S+", "")
      val dfBefore = run(query)._2
      inBareSession() { session =>
        session.sql(s"SELECT * FROM $left l JOIN $right r ON l.id = r.id").collect()
        val dfAfter = session.sql(query)
        dfAfter.collect()
        assert(plan(dfAfter) == plan(dfBefore) && shufflesBelowJoins(dfAfter) == shufflesBelowJoins(dfBefore))
      }
    } finally tables.foreach(t => sql(s"DROP TABLE $t"))
  }

  test("if the session requests grouped scans, aggregates and window functions need no shuffle", Slow) {
    val settings = Seq(Grouping -> "true", Bucketing -> "true")
    for (
      query <- Seq(
        s"SELECT id, count(v), max(name) FROM $left GROUP BY id",
        s"SELECT id, v, row_number() OVER (PARTITION BY id ORDER BY v) FROM $left"
      )
    ) {
      val (rows, df) = run(query, settings: _*)
      assert(groupedScans(df) == 1 && rows == run(query)._1)
      assert(collect(df.queryExecution.executedPlan) { case s: ShuffleExchangeExec => s }.isEmpty)
    }
    val ungrouped = run(s"SELECT name, count(*) FROM $left GROUP BY name", settings: _*)._2
    assert(groupedScans(ungrouped) == 0)
    // Users of Apache Iceberg configure Spark like this. Spark's own rules then plan a storage-partitioned join.
    val allSettings = settings ++ Seq(PushValues -> "true", "spark.sql.requireAllClusterKeysForCoPartition" -> "false")
    val clusteringKey = "spark.sql.sources.v2.bucketing.partiallyClusteredDistribution.enabled"
    for (s <- Seq(allSettings, allSettings :+ (clusteringKey -> "true")); t <- selectedTypes) {
      val query = s"SELECT * FROM $left l $t $right r ON l.id = r.id AND l.day = r.day"
      val (rows, df) = run(query, s: _*)
      assert(rows == run(query, Grouping -> "false")._1 && shufflesBelowJoins(df) == 0, t)
    }
  }

  test("a join without a shuffle that also has runtime filters returns all rows", Slow) {
    for ((aqe, partlyClustered) <- Seq("true" -> "false", "false" -> "true")) {
      val settings = Seq(
        "spark.sql.adaptive.enabled" -> aqe,
        "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly" -> "false",
        "spark.sql.optimizer.dynamicPartitionPruning.fallbackFilterRatio" -> "10",
        "spark.sql.sources.v2.bucketing.partiallyClusteredDistribution.enabled" -> partlyClustered
      )
      val query = s"SELECT l.v, r.v FROM $left l JOIN $right r ON l.id = r.id WHERE r.name = 'n3'"
      val df = joinsInPlace(query, settings: _*)
      assert(collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.exists(_.runtimeFilters.nonEmpty))
    }
  }
}
