package iceberglite.spark

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.catalog.rest.{StubCatalog, StubServer}
import iceberglite.servers.Servers
import iceberglite.storage.S3Storage

/** Checks a table whose files can be read only with the storage settings that the REST server sends with the table. */
class VendedCredentialsSuite extends AnyFunSuite with SharedSession {

  test("tasks read and write a table with the storage settings that a REST server sends with the table") {
    StubServer.withStub { stub =>
      val directory = newDirectory("vended")
      val settings = Map(
        "type" -> "jdbc",
        "uri" -> s"jdbc:sqlite:$directory/catalog.db",
        "warehouse" -> s"s3://${Servers.s3.newBucket()}/wh"
      )
      val backingCatalog = Catalogs.open("behind", settings, S3Storage.files(S3Storage.real))
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
        "spark.sql.catalog.vended.uri" -> stub.uri
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
