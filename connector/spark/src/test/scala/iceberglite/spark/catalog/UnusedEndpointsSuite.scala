package iceberglite.spark.catalog

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.catalog.rest.{StubCatalog, StubServer}
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.storage.HadoopFileIO

/**
 * Tests what a user gets instead of the endpoints that the catalog does not use, from a server that lists them. A
 * request for one of them would be answered with status 404, and recorded.
 */
class UnusedEndpointsSuite extends AnyFunSuite with SharedSession {
  private val namespace = "/v1/{prefix}/namespaces/{namespace}"
  private val unused = Seq(
    s"POST $namespace/tables/{table}/unregister",
    s"GET $namespace/functions",
    s"GET $namespace/functions/{function}"
  )
  private val used = Seq(s"GET $namespace", s"POST $namespace/tables", s"POST $namespace/register") ++
    Seq("GET", "POST", "DELETE").map(method => s"$method $namespace/tables/{table}")

  private def jdbcSettings(): Seq[(String, String)] = {
    val directory = newDirectory("unused_endpoints")
    Seq("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/catalog.db", "warehouse" -> s"$directory/wh")
  }

  private def withCatalog(catalog: String, settings: Seq[(String, String)])(body: => Unit): Unit =
    withConf(SharedSession.catalogConf(catalog, classOf[SparkCatalog].getName, settings: _*).toSeq: _*)(body)

  /** Runs the body with a REST catalog whose server keeps its tables in another catalog. */
  private def withServer(catalog: String)(body: StubServer => Unit): Unit = StubServer.withStub { stub =>
    val behind = Catalogs.open("behind", jdbcSettings().toMap, new HadoopFileIO(new Configuration))
    behind.createNamespace(Vector("db"), Map.empty)
    new StubCatalog(stub, behind, "{}")
    val listed = (unused ++ used).map(endpoint => s""""$endpoint"""").mkString("[", ",", "]")
    stub.on("GET /v1/config")(StubServer.json(s"""{"endpoints":$listed}"""))
    try withCatalog(catalog, Seq("type" -> "rest", "uri" -> stub.uri))(body(stub))
    finally behind.close()
  }

  private def error(statement: String): AnalysisException = intercept[AnalysisException](sql(statement))

  test("a table is unregistered by DROP TABLE, which keeps its files, and its newest metadata file is registered") {
    withServer("unregistering") { stub =>
      val t = "unregistering.db.t"
      sql(s"CREATE TABLE $t USING iceberg AS SELECT id FROM range(3)")
      val call = error("CALL unregistering.system.unregister_table('db.t')")
      assert(call.getErrorClass == "ROUTINE_NOT_FOUND")
      assert(call.getMessageParameters.get("routineName") == "unregistering.system.unregister_table")
      val file = rows(s"SELECT file FROM $t.metadata_log_entries ORDER BY timestamp DESC LIMIT 1").head.getString(0)
      sql(s"DROP TABLE $t")
      val drops = stub.lines.filter(_.startsWith("DELETE"))
      assert(drops == Vector("DELETE /v1/namespaces/db/tables/t?purgeRequested=false"))
      withCatalog("registering", jdbcSettings()) {
        sql("CREATE NAMESPACE registering.db")
        sql(s"CALL registering.system.register_table('db.t', '$file')")
        assert(rows("SELECT id FROM registering.db.t ORDER BY id") == Seq(Row(0), Row(1), Row(2)))
      }
      assert(!stub.lines.exists(_.contains("unregister")))
    }
  }

  test("functions of a server cannot be called or listed, and are not requested") {
    withServer("server_functions") { stub =>
      val call = error("SELECT server_functions.db.area(1)")
      assert(call.getErrorClass == "UNRESOLVED_ROUTINE")
      assert(call.getMessageParameters.get("routineName") == "`server_functions`.`db`.`area`")
      assert(rows("SHOW USER FUNCTIONS IN server_functions.db").isEmpty)
      assert(rows("SELECT server_functions.system.bucket(16, 34)") == Seq(Row(3)))
      assert(!stub.lines.exists(_.contains("functions")))
    }
  }
}
