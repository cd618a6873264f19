package iceberglite.catalog

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.Spelling
import iceberglite.table.MemoryFileIO

class CatalogPropertySuite extends AnyFunSuite {
  private def open(properties: (String, String)*): Catalog = Catalogs.open("lite", properties.toMap, new MemoryFileIO)

  test("a misspelled property is rejected, with the intended name in the message") {
    Seq("warehuose" -> "warehouse", "wharehouse" -> "warehouse", "Warehouse" -> "warehouse", "tpye" -> "type").foreach {
      case (wrong, right) =>
        val error = intercept[InvalidArgument](CatalogProperties.check("lite", Map(wrong -> "x")))
        assert(error.getMessage.contains(s"catalog lite: $wrong."))
        assert(error.getMessage.contains(s"Did you mean $right?"))
    }
    intercept[InvalidArgument](open("type" -> "hadoop", "warehouse" -> "mem://wh", "cache-enable" -> "false"))
  }

  test("supported properties are accepted, and each property without effect causes a warning") {
    val known = Seq("type", "uri", "io-impl", "clients", "jdbc.usr", "header.X", "table-default.a", "hadoop.x")
    assert(CatalogProperties.check("lite", known.map(_ -> "x").toMap).isEmpty)
    val withoutEffect =
      Seq("s3.endpont", "my-own", "ab", "rest.x", "lock.table", "gcs.project-id", "adls.x", "fs.s3a.endpoint")
    val warnings = CatalogProperties.check("lite", withoutEffect.map(_ -> "x").toMap).toMap
    assert(warnings.keySet == withoutEffect.toSet)
    warnings.foreach { case (key, message) => assert(message.contains(s"$key of catalog lite has no effect")) }
  }

  test("unsupported properties for credentials, clients, tags or encryption are rejected without showing values") {
    val rejected = Seq(
      "client.factory",
      "client.assume-role.arn",
      "client.credentials-provider",
      "s3.remote-signing-enabled",
      "s3.access-grants.enabled",
      "s3.delete.tags.x",
      "encryption.other",
      "gcs.oauth2.token",
      "adls.auth.shared-key.account.key",
      "adls.sas-token.account",
      "rest.auth.google.credentials-path",
      "rest.client.tls.configurer-impl"
    )
    for (key <- rejected; kind <- Seq("hadoop", "jdbc", "rest", "hive")) {
      val error = intercept[Unsupported](CatalogProperties.check("lite", Map("type" -> kind, key -> "s3cr3t")))
      assert(error.getMessage.contains(s"$key of catalog lite") && !error.getMessage.contains("s3cr3t"))
    }
    val harmless = Map(
      "s3.remote-signing-enabled" -> "false",
      "client.factory" -> "org.apache.iceberg.aws.AwsClientFactories$DefaultAwsClientFactory"
    )
    assert(CatalogProperties.check("lite", harmless + ("type" -> "hadoop")).isEmpty)
  }

  test("only the in-memory lock-impl is accepted for file-system catalogs; for others, lock-impl causes a warning") {
    def check(kind: String, value: String) =
      CatalogProperties.check("lite", Map("type" -> kind, "lock-impl" -> value)).map(_._1)
    for (kind <- Seq("hadoop", "HADOOP")) {
      intercept[Unsupported](check(kind, "org.apache.iceberg.aws.dynamodb.DynamoDbLockManager"))
      assert(check(kind, "org.apache.iceberg.util.LockManagers$InMemoryLockManager").isEmpty)
    }
    intercept[Unsupported](CatalogProperties.check(
      "lite",
      Map("catalog-impl" -> "org.apache.iceberg.hadoop.HadoopCatalog", "lock-impl" -> "x.Y")
    ))
    assert(check("jdbc", "x.Y") == Vector("lock-impl") && check("rest", "x.Y") == Vector("lock-impl"))
  }

  test("unique-table-location is rejected for file-system catalogs, whose table locations follow from the names") {
    def check(kind: String, value: String) =
      CatalogProperties.check("lite", Map("type" -> kind, "unique-table-location" -> value)).map(_._1)
    intercept[Unsupported](check("hadoop", "true"))
    assert(check("hadoop", "false").isEmpty && check("jdbc", "true").isEmpty && check("hive", "true").isEmpty)
    assert(check("rest", "true") == Vector("unique-table-location"))
  }

  test("no known property is rejected as a misspelling of another") {
    val keys = CatalogProperties.all.map(_.key)
    assert(keys.distinct == keys)
    CatalogProperties.check("lite", keys.map(_ -> "x").toMap)
  }

  test("the error for a catalog without type, warehouse or uri contains the missing property") {
    assert(intercept[InvalidArgument](open("warehouse" -> "mem://wh")).getMessage.contains("type of catalog lite"))
    assert(intercept[InvalidArgument](open("type" -> "hadoop")).getMessage.contains("warehouse of catalog lite"))
    assert(intercept[InvalidArgument](open("type" -> "hadoop", "warehouse" -> " ")).getMessage.contains("warehouse"))
    val jdbc = intercept[InvalidArgument](open("type" -> "jdbc", "warehouse" -> "mem://wh"))
    assert(jdbc.getMessage.contains("uri of catalog lite") && jdbc.getMessage.contains("jdbc:sqlite:"))
    intercept[InvalidArgument](open("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> "http://x"))
  }

  test("unknown catalog types are rejected, and the message lists the supported types") {
    assert(intercept[Unsupported](open("type" -> "glue")).getMessage.contains("hadoop, jdbc"))
    assert(intercept[InvalidArgument](open("type" -> "hadop")).getMessage.contains("hadoop, jdbc"))
    intercept[Unsupported](open("catalog-impl" -> "com.example.Mine"))
  }

  test("trailing slashes after a path are removed from a warehouse, and a relative path is made absolute") {
    assert(Warehouse.of("s3a://bucket/wh//") == "s3a://bucket/wh")
    assert(Warehouse.of("/wh/") == "/wh")
    assert(Warehouse.of("/") == "/")
    assert(Warehouse.of("file:///") == "file:///")
    val workingDirectory = java.nio.file.Paths.get("").toAbsolutePath.toString
    assert(Warehouse.of("some/wh/") == s"$workingDirectory/some/wh")
    assert(Warehouse.of("./wh") == s"$workingDirectory/wh")
  }

  test("the known word with the most similar spelling is suggested") {
    assert(Spelling.closest("commt", Seq("commit", "comet")).contains("comet"))
    assert(Spelling.closest("committ", Seq("commit", "comet")).contains("commit"))
    assert(Spelling.closest("io", Seq("uri")).isEmpty && Spelling.closest("url", Seq("uri")).contains("uri"))
  }
}
