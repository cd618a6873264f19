package iceberglite.spark

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.catalog.Catalogs
import iceberglite.catalog.rest.{StubCatalog, StubServer}
import iceberglite.servers.Servers
import iceberglite.storage.S3Storage

/** Checks a table whose files can be read only with the storage settings that the REST server sends with the table. */
class VendedCredentialsSuite extends AnyFunSuite with SharedSession {

  private val endpoints = {
    val namespace = "/v1/{prefix}/namespaces/{namespace}"
    val table = s"$namespace/tables/{table}"
    Seq(s"GET $namespace", s"POST $namespace/tables", s"GET $table/credentials") ++
      Seq("GET", "POST", "DELETE").map(method => s"$method $table")
  }

  test("a query renews expired credentials only once, for the driver and all tasks", Slow) {
    StubServer.withStub { stub =>
      val settings = Map(
        "type" -> "jdbc",
        "uri" -> s"jdbc:sqlite:${newDirectory("renewed")}/catalog.db",
        "warehouse" -> s"s3://${Servers.s3.newBucket()}/wh"
      )
      val backingCatalog = Catalogs.open("behind", settings, S3Storage.files(S3Storage.testServer))
      backingCatalog.createNamespace(Vector("db"), Map.empty)
      def json(settings: (String, String)*): String = (settings ++ Seq(
        "s3.path-style-access" -> "true",
        "s3.secret-access-key" -> Servers.s3.secretKey,
        "client.region" -> "us-east-1"
      )).map { case (key, value) => s""""$key":"$value"""" }.mkString("{", ",", "}")
      // No server listens at the first endpoint, so only the renewed settings can be used.
      val expired = json(
        "s3.endpoint" -> "http://127.0.0.1:1",
        "s3.access-key-id" -> "expired",
        "s3.session-token-expires-at-ms" -> "1000"
      )
      val valid = json("s3.endpoint" -> Servers.s3.endpoint, "s3.access-key-id" -> Servers.s3.accessKey)
      new StubCatalog(stub, backingCatalog, expired)
      stub.on("GET /v1/config")(StubServer.json(
        s"""{"endpoints":${endpoints.map(e => s""""$e"""").mkString("[", ",", "]")}}"""
      ))
      val credentials = "GET /v1/namespaces/db/tables/t/credentials"
      stub.on(credentials)(StubServer.json(s"""{"storage-credentials":[{"prefix":"s3://","config":$valid}]}"""))
      withConf(
        "spark.sql.catalog.renewed" -> classOf[SparkCatalog].getName,
        "spark.sql.catalog.renewed.type" -> "rest",
        "spark.sql.catalog.renewed.uri" -> stub.uri,
        "spark.sql.catalog.renewed.rest-metrics-reporting-enabled" -> "false"
      ) {
        sql("CREATE TABLE renewed.db.t (id BIGINT, v BIGINT) USING iceberg PARTITIONED BY (v)")
        sql("INSERT INTO renewed.db.t SELECT id, id % 4 FROM range(0, 40, 1, 4)")
        assert(rows("SELECT count(*), sum(id) FROM renewed.db.t WHERE id >= 0") == Seq(Row(40, 780)))
        assert(stub.lines.count(_ == credentials) == 1)
        sql("DROP TABLE renewed.db.t PURGE")
      }
      backingCatalog.close()
    }
  }

  test("tasks read and write a table with the storage settings that a REST server sends with the table") {
    StubServer.withStub { stub =>
      val directory = newDirectory("vended")
      val settings = Map(
        "type" -> "jdbc",
        "uri" -> s"jdbc:sqlite:$directory/catalog.db",
        "warehouse" -> s"s3://${Servers.s3.newBucket()}/wh"
      )
      val backingCatalog = Catalogs.open("behind", settings, S3Storage.files(S3Storage.testServer))
      backingCatalog.createNamespace(Vector("db"), Map.empty)
      val vendedSettings = Map(
        "s3.endpoint" -> Servers.s3.endpoint,
        "s3.path-style-access" -> "true",
        "s3.access-key-id" -> Servers.s3.accessKey,
        "s3.secret-access-key" -> Servers.s3.secretKey,
        "client.region" -> "us-east-1"
      ).map { case (key, value) => s""""$key":"$value"""" }.mkString("{", ",", "}")
      new StubCatalog(stub, backingCatalog, vendedSettings)
      withConf(
        "spark.sql.catalog.vended" -> classOf[SparkCatalog].getName,
        "spark.sql.catalog.vended.type" -> "rest",
        "spark.sql.catalog.vended.uri" -> stub.uri,
        "spark.sql.catalog.vended.rest-metrics-reporting-enabled" -> "false"
      ) {
        sql("CREATE TABLE vended.db.t USING iceberg PARTITIONED BY (v) AS SELECT id, id % 2 AS v FROM range(4)")
        sql("INSERT INTO vended.db.t VALUES (100, 2)")
        sql("DELETE FROM vended.db.t WHERE v = 0")
        assert(rows("SELECT id, v FROM vended.db.t ORDER BY id") == Seq(Row(1, 1), Row(3, 1), Row(100, 2)))
        assert(rows("SELECT count(*) FROM vended.db.t.files").head.getLong(0) > 0)
        sql("DROP TABLE vended.db.t PURGE")
      }
      backingCatalog.close()
    }
  }
}
