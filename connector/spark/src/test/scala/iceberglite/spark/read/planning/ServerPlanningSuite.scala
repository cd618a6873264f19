package iceberglite.spark.read.planning

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.servers.Servers
import iceberglite.spark.{SharedSession, SparkCatalog}

/**
 * Compares the results of queries whose scans are planned by a REST server (that of Apache Iceberg's tests) with the
 * results of scans that Spark plans, and with those of Apache Iceberg. All three catalogs are on the same server.
 */
@Slow
class ServerPlanningSuite extends AnyFunSuite with SharedSession {
  private val byServer = Seq("type" -> "rest", "uri" -> Servers.rest.uri, "scan-planning-mode" -> "server")

  private lazy val settings: Map[String, String] = {
    val lite = classOf[SparkCatalog].getName
    SharedSession.catalogConf("planned", lite, byServer: _*) ++
      SharedSession.catalogConf("local", lite, byServer.init: _*) ++
      SharedSession.catalogConf("iceplanned", SharedSession.PeerCatalog, byServer: _*)
  }

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    sql(s"CREATE NAMESPACE local.$ns")
    Seq("t" -> 2, "vectors" -> 3).foreach { case (table, version) =>
      sql(s"""CREATE TABLE local.$ns.$table (id BIGINT, name STRING, day DATE, amount DECIMAL(9, 2), part INT)
        USING iceberg PARTITIONED BY (part, days(day))
        TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read')""")
      (0 until 2).foreach { n =>
        sql(s"""INSERT INTO local.$ns.$table SELECT id + ${n * 100}, IF(id % 7 = 0, null, concat('n', id)),
          DATE'2024-01-01' + INTERVAL 1 DAY * (id % 3), id / 4, id % 2 FROM range(40)""")
      }
      sql(s"DELETE FROM local.$ns.$table WHERE id % 10 = 3")
    }
    sql(s"CREATE TABLE local.$ns.keys USING iceberg AS SELECT id, 1 AS part FROM range(5)")
  }

  override protected def afterAll(): Unit = {
    Seq("t", "vectors", "keys", "changed").foreach(t => sql(s"DROP TABLE IF EXISTS local.$ns.$t PURGE"))
    sql(s"DROP NAMESPACE local.$ns")
    settings.keys.foreach(spark.conf.unset)
    super.afterAll()
  }

  private def planOf(query: DataFrame): String = query.queryExecution.executedPlan.toString

  private def result(query: String, catalog: String): Seq[String] =
    sorted(query.replace("{t}", s"$catalog.$ns.t").replace("{keys}", s"$catalog.$ns.keys"))

  private val queries = Seq(
    "SELECT * FROM {t}",
    "SELECT id FROM {t} WHERE part = 1",
    "SELECT id FROM {t} WHERE part = 0 AND day = DATE'2024-01-02' AND id > 100",
    "SELECT id FROM {t} WHERE name IN ('n4', 'n5') OR amount < 0.50",
    "SELECT id FROM {t} WHERE name IS NULL",
    "SELECT id FROM {t} WHERE name LIKE 'n3%' AND NOT id = 30",
    "SELECT id FROM {t} WHERE id > 1000",
    "SELECT count(*) FROM {t}",
    "SELECT count(*), max(id), min(day) FROM {t} WHERE part = 1",
    "SELECT part, sum(id) FROM {t} GROUP BY part",
    "SELECT count(*) FROM (SELECT * FROM {t} LIMIT 5)",
    "SELECT t.id FROM {t} t JOIN {keys} k ON t.id = k.id AND t.part = k.part",
    "SELECT id, _file IS NULL, _pos FROM {t} WHERE part = 1"
  )

  queries.foreach { query =>
    test(s"a query has the same result if the server plans its scan: $query") {
      val expected = result(query, "local")
      assert(result(query, "planned") == expected)
      assert(result(query, "iceplanned") == expected)
    }
  }

  // Apache Iceberg 1.12 is not compared: it follows the delete-file references in the plans of this server, which point
  // to the wrong deletion vectors.
  test("a server can plan scans of tables with deletion vectors and row ids") {
    Seq("*", "id, _row_id", "id, _row_id, _last_updated_sequence_number", "count(*)").foreach { columns =>
      val Seq(byServer, bySpark) = Seq("planned", "local").map(c => sorted(s"SELECT $columns FROM $c.$ns.vectors"))
      assert(byServer == bySpark, columns)
    }
  }

  test("EXPLAIN shows where a query is planned; Spark plans queries that select sequence numbers of rows") {
    val planned = s"planned.$ns.t"
    assert(planOf(sql(s"SELECT id FROM $planned WHERE part = 1")).contains("planned by the server"))
    assert(!planOf(sql(s"SELECT id FROM local.$ns.t WHERE part = 1")).contains("planned by the server"))
    assert(!planOf(sql(s"SELECT _last_updated_sequence_number FROM $planned")).contains("planned by the server"))
  }

  test("a server plans scans of old snapshots with the columns of the snapshot") {
    val first = rows(s"SELECT snapshot_id FROM local.$ns.t.snapshots ORDER BY committed_at").head.getLong(0)
    sql(s"ALTER TABLE local.$ns.t RENAME COLUMN name TO label")
    try {
      val query = s"SELECT * FROM planned.$ns.t VERSION AS OF $first WHERE name = 'n5'"
      assert(planOf(sql(query)).contains("planned by the server"))
      assert(sorted(query) == Seq("[5,n5,2024-01-03,1.25,1]"))
    } finally sql(s"ALTER TABLE local.$ns.t RENAME COLUMN label TO name")
  }

  test("Spark plans incremental reads, and statements that change rows have the correct results") {
    val session = SharedSession.liteExtensions
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    val changed = s"planned.$ns.changed"
    Seq(
      s"CREATE TABLE $changed USING iceberg TBLPROPERTIES ('format-version' = '3') AS SELECT id FROM range(10)",
      s"UPDATE $changed SET id = id + 100 WHERE id < 3",
      s"DELETE FROM $changed WHERE id = 5",
      s"""MERGE INTO $changed t USING (SELECT explode(array(6L, 50L)) AS id) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET id = 600 WHEN NOT MATCHED THEN INSERT *"""
    ).foreach(session.sql)
    def ids(query: String): Seq[Long] = session.sql(query).collect().map(_.getLong(0)).toSeq
    assert(ids(s"SELECT id FROM $changed ORDER BY id") == Seq[Long](3, 4, 7, 8, 9, 50, 100, 101, 102, 600))
    val unchanged = s"SELECT id FROM $changed WHERE _last_updated_sequence_number = 1 ORDER BY id"
    assert(ids(unchanged) == Seq[Long](3, 4, 7, 8, 9))
    val snapshots = ids(s"SELECT snapshot_id FROM planned.$ns.t.snapshots ORDER BY committed_at")
    val appended = session.read.option("start-snapshot-id", snapshots.head).option("end-snapshot-id", snapshots(1))
      .table(s"planned.$ns.t")
    assert(!planOf(appended).contains("planned by the server") && appended.count() == 40)
  }
}
