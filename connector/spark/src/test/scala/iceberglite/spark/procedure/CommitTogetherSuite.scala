package iceberglite.spark.procedure

import com.sun.net.httpserver.HttpExchange
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.catalog.rest.{StubCatalog, StubServer}
import iceberglite.servers.Servers
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spec.json.{JsonValue, MetadataUpdateJson, RequirementJson}
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Change, TableIdentifier}

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

  /** Runs `body` with two tables. Each table has one row, and its branch `audit` has a second row. */
  private def withTables(body: => Unit): Unit =
    try {
      tables.foreach(createWithBranch)
      body
    } finally tables.foreach(t => sql(s"DROP TABLE IF EXISTS $t"))

  private def createWithBranch(t: String): Unit = {
    sql(s"CREATE TABLE $t (id BIGINT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1)")
    sql(s"ALTER TABLE $t CREATE BRANCH audit")
    sql(s"INSERT INTO $t.branch_audit VALUES (2)")
    ()
  }

  private def counts: Seq[Long] = tables.map(count)

  private def count(t: String): Long = rows(s"SELECT count(*) FROM $t").head.getLong(0)

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

  test("tables that are named twice or are in another catalog, and JDBC catalogs, are rejected") {
    withTables {
      val twice = s"CALL together.system.commit_together('$ns.a', array('$ns.a'), 'audit')"
      assert(intercept[Exception](sql(twice)).getMessage.contains("named twice"))
      val elsewhere = s"CALL together.system.commit_together('$ns.a', array('lite.$ns.b'), 'audit')"
      assert(intercept[Exception](sql(elsewhere)).getMessage.contains("argument others"))
    }
    val local = Seq("x", "y").map(name => s"litejdbc.$ns.$name")
    local.foreach(createWithBranch)
    def publish(): Seq[Row] = rows(s"CALL litejdbc.system.commit_together('$ns.x', array('$ns.y'), 'audit')")
    try {
      intercept[Throwable](publish()) match {
        case e: SparkThrowable => assert(e.getErrorClass == "ICEBERG_LITE.UNSUPPORTED")
        case other => fail(other)
      }
      local.foreach(t => sql(s"CALL litejdbc.system.fast_forward('$t', 'main', 'audit')"))
      assert(publish().map(row => row.get(1) == row.get(2)) == Seq(true, true), "the branches are already published")
    } finally local.foreach(t => sql(s"DROP TABLE $t"))
  }

  test("after a commit with an unknown outcome, the next statement loads all tables again") {
    StubServer.withStub { stub =>
      val directory = newDirectory("together")
      val database =
        Map("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/catalog.db", "warehouse" -> directory.toUri.toString)
      val behind = Catalogs.open("behind", database, new HadoopFileIO(spark.sessionState.newHadoopConf()))
      behind.createNamespace(Vector("db"), Map.empty)
      new StubCatalog(stub, behind, "{}")
      stub.on("POST /v1/transactions/commit")(new LostResponse(stub, behind))
      val catalogClass = classOf[SparkCatalog].getName
      val properties = Seq("type" -> "rest", "uri" -> stub.uri, "rest-metrics-reporting-enabled" -> "false")
      val conf = SharedSession.catalogConf("stubbed", catalogClass, properties: _*)
      withConf(conf.toSeq: _*) {
        val stubbed = Seq("stubbed.db.a", "stubbed.db.b")
        stubbed.foreach(createWithBranch)
        intercept[Exception](sql("CALL stubbed.system.commit_together('db.a', array('db.b'), 'audit')"))
        assert(stubbed.map(count) == Seq(2L, 2L))
      }
      behind.close()
    }
  }

  /** Applies a commit to several tables, and responds with an error that leaves the outcome unknown. */
  final private class LostResponse(stub: StubServer, behind: Catalog) extends StubServer.Reply {
    override def send(exchange: HttpExchange): Unit = {
      JsonValue.parse("request", stub.requests.last.body)("table-changes").elements.foreach { part =>
        val id = TableIdentifier(Vector("db"), part("identifier").string("name"))
        val updates = part("updates").map(MetadataUpdateJson.read)
        behind.commit(id, Some(behind.load(id)), Change(updates, part("requirements").map(RequirementJson.read)))
      }
      StubServer.answer(500).send(exchange)
    }
  }

  test("register_view registers a view, and fails if the name is in use") {
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
      val empty = intercept[Exception](sql(s"CALL together.system.register_view('$ns.x', ' ')"))
      assert(empty.getMessage.contains("argument metadata_file"))
    } finally Seq("v", "w").foreach(name => sql(s"DROP VIEW IF EXISTS together.$ns.$name"))
  }
}
