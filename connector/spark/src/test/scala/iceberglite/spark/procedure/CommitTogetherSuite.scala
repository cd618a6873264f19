package iceberglite.spark.procedure

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.servers.Servers
import iceberglite.spark.{SharedSession, SparkCatalog}

/** Tests `commit_together` and `register_view` on the REST server of the test environment. */
@Slow
class CommitTogetherSuite extends AnyFunSuite with SharedSession {
  private val settings =
    SharedSession.catalogConf("together", classOf[SparkCatalog].getName, "type" -> "rest", "uri" -> Servers.rest.uri)
  private val tables = Seq("a", "b").map(name => s"together.$ns.$name")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    sql(s"CREATE NAMESPACE together.$ns")
  }

  override protected def afterAll(): Unit =
    try {
      sql(s"DROP NAMESPACE together.$ns")
      settings.foreach { case (key, _) => spark.conf.unset(key) }
    } finally super.afterAll()

  /** Runs `body` with two tables of one row each, whose branch `audit` has a second row. */
  private def withTables(body: => Unit): Unit =
    try {
      tables.foreach { t =>
        sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
        sql(s"INSERT INTO $t VALUES (1)")
        sql(s"ALTER TABLE $t CREATE BRANCH audit")
        sql(s"INSERT INTO $t.branch_audit VALUES (2)")
      }
      body
    } finally tables.foreach(t => sql(s"DROP TABLE IF EXISTS $t"))

  private def counts: Seq[Long] = tables.map(t => rows(s"SELECT count(*) FROM $t").head.getLong(0))

  private val call = s"CALL together.system.commit_together('$ns.a', array('$ns.b'), 'audit')"

  test("a branch of several tables is published in one commit, and cached data is refreshed") {
    withTables {
      val cached = tables.map(spark.table)
      cached.foreach(_.cache().count())
      val result = rows(call)
      assert(result.map(_.getString(0)) == tables)
      assert(counts == Seq(2L, 2L) && tables.map(spark.table(_).count()) == Seq(2L, 2L))
      result.zip(tables).foreach { case (row, t) =>
        val snapshots = rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0))
        assert(Seq(row.getLong(1), row.getLong(2)) == snapshots)
      }
      assert(rows(call).map(r => Row(r.get(1) == r.get(2))) == Seq(Row(true), Row(true)))
      cached.foreach(_.unpersist())
    }
  }

  test("no table changes if the branch of one table cannot be published") {
    withTables {
      sql(s"INSERT INTO ${tables.last} VALUES (3)")
      assert(intercept[Exception](sql(call)).getMessage.contains("Cannot fast-forward the branch main"))
      assert(counts == Seq(1L, 2L))
    }
  }

  test("a table that is named twice, and a catalog without such commits, are rejected") {
    withTables {
      val twice = s"CALL together.system.commit_together('$ns.a', array('$ns.a'), 'audit')"
      assert(intercept[Exception](sql(twice)).getMessage.contains("named twice"))
    }
    val local = Seq("x", "y").map(name => s"litejdbc.$ns.$name")
    local.foreach { t =>
      sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
      sql(s"INSERT INTO $t VALUES (1)")
      sql(s"ALTER TABLE $t CREATE BRANCH audit")
      sql(s"INSERT INTO $t.branch_audit VALUES (2)")
    }
    try intercept[Throwable](
        sql(s"CALL litejdbc.system.commit_together('$ns.x', array('$ns.y'), 'audit')")
      ) match {
        case e: SparkThrowable => assert(e.getErrorClass == "ICEBERG_LITE.UNSUPPORTED")
        case other => fail(other)
      }
    finally local.foreach(t => sql(s"DROP TABLE $t"))
  }

  test("a view is registered by a procedure, and its name must be free") {
    val original = s"together.$ns.v"
    sql(s"CREATE VIEW $original AS SELECT 1 AS n")
    try {
      val catalog = iceberglite.catalog.Catalogs.open(
        "direct",
        Map("type" -> "rest", "uri" -> Servers.rest.uri),
        new iceberglite.storage.HadoopFileIO(spark.sessionState.newHadoopConf())
      )
      val file = catalog match {
        case views: iceberglite.catalog.ViewCatalog =>
          views.loadView(iceberglite.table.TableIdentifier(Vector(ns), "v")).metadataLocation
        case other => fail(other.toString)
      }
      assert(rows(s"CALL together.system.register_view('$ns.w', '$file')") == Seq(Row(1)))
      assert(rows(s"SELECT n FROM together.$ns.w") == Seq(Row(1)))
      intercept[AnalysisException](sql(s"CALL together.system.register_view('$ns.w', '$file')"))
    } finally Seq("v", "w").foreach(name => sql(s"DROP VIEW IF EXISTS together.$ns.$name"))
  }
}
