package iceberglite.catalog.rest

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.RestResponseJson.Credential
import iceberglite.spec.table.NewTable
import iceberglite.storage.HadoopFileIO
import iceberglite.spec.TestMetadata._
import iceberglite.table.{Change, StageMode, Table, TableIdentifier}
import iceberglite.table.TestTables._

/** Tests how a REST catalog uses the settings and credentials in a server's response for a table. */
class TableAccessSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "GET /v1/namespaces/db/tables/t"
  private val location = "s3://bucket/db/t"
  private val metadata =
    NewTable(schema, Vector.empty, Vector.empty, location, Map.empty).metadata(new UUID(0, 7), 1000L)
  private val file = s"$location/metadata/00000-a.metadata.json"

  private def config(key: String, more: String = ""): String =
    s"""{"s3.access-key-id":"$key","s3.secret-access-key":"s3cret","s3.session-token":"st",""" +
      s""""client.region":"eu-west-1"$more}"""

  private def settings(table: Table): Configuration = table.io match {
    case hadoop: HadoopFileIO => hadoop.configuration
    case other => fail(other.toString)
  }

  test("the credentials in a table response are used only for the files of this table") {
    withStub { stub =>
      val io = new HadoopFileIO(new Configuration(false))
      stub.on(path)(table(metadata, file, s""","config":${config("AK1")}"""))
      stub.on("GET /v1/namespaces/db/tables/u")(table(metadata, file))
      val catalog = stub.on(io)
      val mine = settings(catalog.table(id))
      assert(Seq("access.key", "secret.key", "session.token", "endpoint.region").map(k => mine.get(s"fs.s3a.$k")) ==
        Seq("AK1", "s3cret", "st", "eu-west-1"))
      assert(catalog.table(id.copy(name = "u")).io eq io)
      assert(Option(io.configuration.get("fs.s3a.access.key")).isEmpty)
    }
  }

  test("the credentials with the longest matching prefix are used, and they override the configuration") {
    val credentials = Vector("s3", "s3://bucket/db/", "s3://bucket/db/other", "gs").map(Credential(_, Map.empty))
    assert(TableAccess.credentialFor(credentials, location).map(_.prefix).contains("s3://bucket/db/"))
    assert(TableAccess.credentialFor(credentials.drop(2), location).isEmpty)
    withStub { stub =>
      val more =
        s""","config":${config("AK1")},"storage-credentials":[{"prefix":"s3://bucket","config":${config("AK2")}}]"""
      stub.on(path)(table(metadata, file, more))
      assert(settings(stub.on(new HadoopFileIO(new Configuration(false))).table(id)).get("fs.s3a.access.key") == "AK2")
    }
  }

  test("each bucket is accessed with the credential for its longest matching prefix") {
    withStub { stub =>
      def credential(prefix: String, key: String) = s"""{"prefix":"$prefix","config":${config(key)}}"""
      val credentials = Seq(
        credential("s3://bucket/", "AK1"),
        credential("s3://other/", "AK2"),
        credential("s3://other/data/", "AK3"),
        credential("s3://third/a/", "AK4")
      ).mkString("[", ",", "]")
      val withDataPath = metadata.edited(properties = Map("write.data.path" -> "s3a://other/data/t"))
      stub.on(path)(table(withDataPath, file, s""","storage-credentials":$credentials"""))
      val conf = settings(stub.on(new HadoopFileIO(new Configuration(false))).table(id))
      def key(bucket: String) = conf.get(s"fs.s3a.bucket.$bucket.access.key")
      assert(conf.get("fs.s3a.access.key") == "AK1" && key("other") == "AK3" && key("third") == "AK4")
      assert(conf.get("fs.s3a.bucket.other.session.token") == "st")
    }
  }

  test("a table that requires remote signing is rejected, unless the server vends keys or the user disables it") {
    withStub { stub =>
      val signing = "\"s3.remote-signing-enabled\":\"true\""
      def load(reply: Reply, properties: (String, String)*): Table = {
        stub.on(path)(reply)
        stub.on(new HadoopFileIO(new Configuration(false)), properties: _*).table(id)
      }
      val required = table(metadata, file, s""","config":{$signing}""")
      val error = intercept[Unsupported](load(required))
      assert(error.getMessage.contains("lite.db.t") && error.getMessage.contains("s3.remote-signing-enabled=false"))
      load(required, "s3.remote-signing-enabled" -> "false")
      load(table(metadata, file, s""","config":${config("AK1", s",$signing")}"""))
      load(table(metadata.edited(location = "mem://wh/t"), file, s""","config":{$signing}"""))
      stub.on("GET /v1/config")(json(s"""{"defaults":{$signing}}"""))
      intercept[Unsupported](load(table(metadata, file)))
      stub.on("POST /v1/namespaces/db/tables")(table(metadata, file, s""","config":{$signing}"""))
      intercept[Unsupported](stub.catalog().stage(id, unpartitioned(), StageMode.CreateOrReplace))
    }
  }

  test("a table with read restrictions is rejected, because row filters and column masks are not applied") {
    withStub { stub =>
      def load(restrictions: String): Table = {
        stub.on(path)(table(metadata, file, s""","read-restrictions":$restrictions"""))
        stub.on(new HadoopFileIO(new Configuration(false))).table(id)
      }
      Seq(
        """{"required-row-filter":{"type":"eq","term":"id","value":1}}""",
        """{"required-column-projections":[{"field-id":1}]}"""
      ).foreach { restrictions =>
        assert(intercept[Unsupported](load(restrictions)).what.contains("read restrictions"), restrictions)
      }
      Seq("null", "{}", """{"required-row-filter":null,"required-column-projections":[]}""").foreach(load)
      intercept[InvalidMetadata](load("[]"))
    }
  }

  test("a prefix may end with a slash; if no prefix contains the table, the shortest one in the bucket is used") {
    withStub { stub =>
      def keyFor(prefixes: String*): Option[String] = {
        val credentials = prefixes.zipWithIndex.map { case (prefix, i) =>
          s"""{"prefix":"$prefix","config":${config(s"AK$i")}}"""
        }.mkString("[", ",", "]")
        stub.on(path)(table(metadata, file, s""","storage-credentials":$credentials"""))
        Option(settings(stub.on(new HadoopFileIO(new Configuration(false))).table(id)).get("fs.s3a.access.key"))
      }
      assert(keyFor("s3://bucket/", s"$location/").contains("AK1"))
      assert(keyFor(s"$location/data/", s"$location/metadata").contains("AK0"))
      assert(keyFor("s3://other/", "s3://bucket/db/t2/").contains("AK1"))
      assert(keyFor("s3://bucket/", s"${location}2/").contains("AK0"))
    }
  }

  test("the keys of a credential are not mixed with the session token in the settings of the table") {
    withStub { stub =>
      def credential(prefix: String, key: String) =
        s"""{"prefix":"$prefix","config":{"s3.access-key-id":"$key","s3.secret-access-key":"x"}}"""
      val credentials = s"[${credential("s3://bucket/", "AK2")},${credential("s3://other/", "AK3")}]"
      stub.on(path)(table(metadata, file, s""","config":${config("AK1")},"storage-credentials":$credentials"""))
      val conf = settings(stub.on(new HadoopFileIO(new Configuration(false))).table(id))
      Seq("fs.s3a" -> "AK2", "fs.s3a.bucket.other" -> "AK3").foreach { case (prefix, key) =>
        assert(conf.get(s"$prefix.access.key") == key && conf.get(s"$prefix.secret.key") == "x")
        assert(Option(conf.get(s"$prefix.session.token")).isEmpty)
        assert(conf.get(s"$prefix.aws.credentials.provider").endsWith(".SimpleAWSCredentialsProvider"))
      }
      assert(conf.get("fs.s3a.endpoint.region") == "eu-west-1")
    }
  }

  test("CREATE TABLE drops the new table again if it cannot be used, and a registered table is kept") {
    withStub { stub =>
      val drop = path.replace("GET", "DELETE")
      stub.on(drop)(answer(204))
      val settingsOfServer =
        Seq("s3.remote-signing-enabled" -> "true", "scan-planning-mode" -> "server", "s3.access-key-id" -> "AK1")
      settingsOfServer.foreach { case (key, value) =>
        val unusable = table(metadata, file, s""","config":{"$key":"$value"}""")
        stub.on("POST /v1/namespaces/db/tables")(unusable).on("POST /v1/namespaces/db/register")(unusable)
        val catalog = stub.on(new HadoopFileIO(new Configuration(false)))
        assert(isUnusable(intercept[IcebergError](catalog.create(id, unpartitioned()))), key)
        assert(stub.lines.last == s"$drop?purgeRequested=false", key)
        val registered = intercept[IcebergError](catalog.register(id, file))
        assert(isUnusable(registered) && registered.getMessage.contains("Table lite.db.t is registered"), key)
        assert(stub.lines.last == "POST /v1/namespaces/db/register", key)
      }
    }
  }

  private def isUnusable(error: IcebergError): Boolean = error match {
    case _: Unsupported | _: InvalidArgument => true
    case _ => false
  }

  test("a table that the server must plan is rejected if the server has no endpoint for plans") {
    withStub { stub =>
      stub.on(path)(table(metadata, file, ""","config":{"scan-planning-mode":"server"}"""))
      val error = intercept[Unsupported](stub.catalog().table(id))
      assert(error.getMessage.contains("scan-planning-mode=server of table lite.db.t"))
      stub.on(path)(table(metadata, file, ""","config":{"scan-planning-mode":"CLIENT"}"""))
      stub.catalog().table(id)
      stub.on(path)(table(metadata, file))
      stub.on("GET /v1/config")(json("""{"overrides":{"scan-planning-mode":"server"}}"""))
      intercept[Unsupported](stub.catalog().table(id))
    }
  }

  test("a refreshed table uses the keys of the newest load, and keeps them after a commit") {
    withStub { stub =>
      stub.on(path)(
        table(metadata, file, s""","config":${config("AK1")}"""),
        table(metadata, file, s""","config":${config("AK2")}""")
      )
      stub.on("POST /v1/namespaces/db/tables/t")(table(metadata, file.replace("00000", "00001")))
      val catalog = stub.on(new HadoopFileIO(new Configuration(false)))
      val loaded = catalog.table(id)
      val refreshed = loaded.refresh()
      assert(
        settings(loaded).get("fs.s3a.access.key") == "AK1" && settings(refreshed).get("fs.s3a.access.key") == "AK2"
      )
      val committed = catalog.commit(id, Some(refreshed.version), Change(Vector.empty, Vector.empty))
      assert(settings(refreshed.at(committed)).get("fs.s3a.access.key") == "AK2")
    }
  }

  test("a cached table with expired keys is loaded again") {
    withStub { stub =>
      val expiresAtMs = stub.nowMs + 1000
      val more = s""","config":${config("AK1", s""","s3.session-token-expires-at-ms":"$expiresAtMs"""")}"""
      stub.on(path)(table(metadata, file, more).withHeader("ETag" -> "e"))
      val catalog = stub.on(new HadoopFileIO(new Configuration(false)))
      catalog.table(id)
      catalog.table(id)
      stub.nowMs += 1000
      catalog.table(id)
      assert(stub.requests.drop(1).map(_.headers.contains("if-none-match")) == Vector(false, true, false))
    }
  }

  /** The endpoints for loading a table and its credentials. */
  private val endpoints = Seq("", "/credentials")
    .map(p => s""""GET /v1/{prefix}/namespaces/{namespace}/tables/{table}$p"""").mkString("[", ",", "]")

  private def requestFor(table: Table): Option[String] =
    Option(settings(table).getRaw("iceberglite.credentials.request.secret"))

  test("new credentials are requested from the endpoint of the table, with the authentication of the catalog") {
    withStub { stub =>
      stub.on("GET /v1/config")(json(s"""{"endpoints":$endpoints}"""))
      val expiring = config("AK1", ",\"s3.session-token-expires-at-ms\":\"5\"")
      stub.on(path)(table(metadata, file, s""","config":$expiring"""))
      stub.on(s"$path/credentials")(json(
        s"""{"storage-credentials":[{"prefix":"s3://bucket/","config":${config("AK2")}}]}"""
      ))
      val request = requestFor(stub.on(new HadoopFileIO(new Configuration(false)), "token" -> "t0ken").table(id)).get
      val renewed = new RestCredentials().renew(request)
      assert(renewed.properties("s3.access-key-id") == "AK2" && renewed.properties("client.region") == "eu-west-1")
      assert(renewed.expiresMs.isEmpty && stub.requests.last.headers("authorization") == "Bearer t0ken")
      stub.on(s"$path/credentials")(refuse(403, "ForbiddenException", "not for t0ken"))
      val error = intercept[StorageFailed](new RestCredentials().renew(request))
      assert(error.getMessage.contains("renew the credentials of table lite.db.t"))
      assert(!error.getMessage.contains("t0ken"))
      stub.on(s"$path/credentials")(json("""{"storage-credentials":[]}"""))
      intercept[InvalidMetadata](new RestCredentials().renew(request))
    }
  }

  for {
    (store, place, token, expiry, hadoopKey) <- Seq(
      ("GCS", "gs://bucket/db/t", "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "iceberglite.gcs.token.secret"),
      (
        "ADLS",
        "abfss://c@acc.dfs.core.windows.net/db/t",
        "adls.sas-token.acc.dfs.core.windows.net",
        "adls.sas-token-expires-at-ms.acc.dfs.core.windows.net",
        "iceberglite.adls.sas-token.acc.dfs.core.windows.net.secret"
      )
    )
  } test(s"tokens for $store are vended, and renewed while a query runs") {
    withStub { stub =>
      def credential(value: String, expiresMs: Long): String =
        s"""{"prefix":"$place","config":{"$token":"$value","$expiry":"$expiresMs","fs.s3a.impl":"evil.Class"}}"""
      stub.on("GET /v1/config")(json(s"""{"endpoints":$endpoints}"""))
      val old = s"""{"$token":"ignored","$expiry":"1"}"""
      stub.on(path)(table(
        metadata.edited(location = place),
        file,
        s""","config":$old,"storage-credentials":[${credential("T1", 5)}]"""
      ))
      val later = System.currentTimeMillis + 10L * 3600 * 1000
      stub.on(s"$path/credentials")(json(s"""{"storage-credentials":[${credential("T2", later)}]}"""))
      val loaded = stub.on(new HadoopFileIO(new Configuration(false)), "token" -> "t0ken").table(id)
      val conf = settings(loaded)
      assert(conf.get(hadoopKey) == "T1" && Option(conf.get("fs.s3a.impl")).exists(_ != "evil.Class"))
      assert(conf.get("iceberglite.credentials.expires-at-ms") == "5")
      val renewed = new RestCredentials().renew(requestFor(loaded).get)
      assert(renewed.properties(token) == "T2" && renewed.expiresMs.contains(later))
      assert(!renewed.properties.contains("fs.s3a.impl"))
      assert(stub.lines.last == s"$path/credentials")
    }
  }

  test("the signatures of all Azure accounts of a table are used, each with its own expiration") {
    withStub { stub =>
      def credential(account: String, expiresMs: Long): String =
        s"""{"prefix":"abfss://c@$account.dfs.core.windows.net/","config":""" +
          s"""{"adls.sas-token.$account":"S-$account","adls.sas-token-expires-at-ms.$account":"$expiresMs"}}"""
      val credentials = s"[${credential("a", 20)},${credential("b", 10)}]"
      stub.on("GET /v1/config")(json(s"""{"endpoints":$endpoints}"""))
      stub.on(path)(table(
        metadata.edited(location = "abfss://c@a.dfs.core.windows.net/db/t"),
        file,
        s""","storage-credentials":$credentials"""
      ))
      val conf = settings(stub.on(new HadoopFileIO(new Configuration(false))).table(id))
      for (account <- Seq("a", "b"))
        assert(conf.get(s"iceberglite.adls.sas-token.$account.dfs.core.windows.net.secret") == s"S-$account")
      assert(conf.get("iceberglite.credentials.expires-at-ms") == "10")
    }
  }

  test("renewed signatures of all Azure accounts replace the signatures in the settings of the table") {
    val host = "dfs.core.windows.net"
    def sas(account: String, token: String, expiresMs: Long) =
      Map(s"adls.sas-token.$account" -> token, s"adls.sas-token-expires-at-ms.$account" -> expiresMs.toString)
    val old = sas("a", "A0", 5) ++ sas(s"b.$host", "B0", 6) ++ sas("c", "C0", 50) +
      (s"adls.sas-token-expires-at-ms.gone" -> "1")
    val vended = VendedCredentials(s"abfss://x@a.$host/db/t", Vector.empty, old, Vector.empty)
    assert(vended.settings.expiresMs.contains(5L))
    // No prefix contains the location of the table.
    val newer = Vector(
      Credential(s"abfss://other@a.$host/", sas(s"a.$host", "A1", 100)),
      Credential(s"abfss://other@a.$host/db/t/data", sas(s"a.$host", "A9", 1)),
      Credential(s"abfss://x@b.$host/", sas("b", "B1", 200))
    )
    val loaded = vended.copy(credentials = newer).settings
    assert(loaded.properties(s"adls.sas-token.a.$host") == "A0" && loaded.expiresMs.contains(5L))
    val renewed = vended.replacedBy(newer).settings
    def token(account: String) = renewed.properties.get(s"adls.sas-token.$account.$host")
    assert(Seq("a", "b", "c").flatMap(token(_)) == Seq("A1", "B1", "C0") && renewed.expiresMs.contains(50L))
    assert(!renewed.properties.contains("adls.sas-token.a") && !renewed.properties.contains("adls.sas-token.c"))
    val own = Credential(s"abfss://x@a.$host/db", sas("a", "A2", 300))
    val both = vended.replacedBy(Vector(own, Credential(s"abfss://x@b.$host/", sas(s"a.$host", "A3", 1))))
    assert(both.settings.properties(s"adls.sas-token.a.$host") == "A2" && both.settings.expiresMs.contains(6L))
  }

  test("a renewed token for another directory of the bucket on Google Cloud Storage replaces the older token") {
    val config = Map("gcs.oauth2.token" -> "T0", "gcs.oauth2.token-expires-at" -> "1")
    def credential(prefix: String, token: String) = Credential(prefix, Map("gcs.oauth2.token" -> token))
    val vended = VendedCredentials("gs://bucket/db/t", Vector.empty, config)
    val newer = Vector(credential("gs://bucket/db/t/data/a", "T1"), credential("gs://bucket/db/t/data", "T2"))
    assert(vended.copy(credentials = newer).settings.properties("gcs.oauth2.token") == "T0")
    val replaced = vended.replacedBy(newer).settings
    assert(replaced.properties("gcs.oauth2.token") == "T2" && replaced.expiresMs.isEmpty)
    for (other <- Seq(credential("gs://bucket2/db", "T1"), credential("gs://bucket/db/t/data", " ")))
      assert(vended.replacedBy(Vector(other)).settings.properties("gcs.oauth2.token") == "T0")
  }

  test("renewed keys for a directory below the location of a table on S3 replace the keys in its settings") {
    def keys(key: String, expiresMs: String): Map[String, String] =
      Map("s3.access-key-id" -> key, "s3.secret-access-key" -> "S", "s3.session-token-expires-at-ms" -> expiresMs)
    val vended = VendedCredentials("s3://bucket/db/t", Vector.empty, keys("K0", "5"))
    val renewed = vended.replacedBy(Vector(Credential("s3://bucket/db/t/data/", keys("K1", "9")))).settings
    assert(renewed.properties("s3.access-key-id") == "K1" && renewed.expiresMs.contains(9L))
  }

  test("credentials are not renewed if they do not expire, or if the server has no endpoint for credentials") {
    withStub { stub =>
      val expiring = config("AK1", ",\"s3.session-token-expires-at-ms\":\"5\"")
      def requestWith(config: String): Option[String] = {
        stub.on(path)(table(metadata, file, s""","config":$config"""))
        requestFor(stub.on(new HadoopFileIO(new Configuration(false))).table(id))
      }
      assert(requestWith(expiring).isEmpty)
      stub.on("GET /v1/config")(json(s"""{"endpoints":$endpoints}"""))
      assert(requestWith(config("AK1")).isEmpty && requestWith(expiring).isDefined)
    }
  }

  test("Hadoop properties and class names in the config of a table response are ignored") {
    withStub { stub =>
      val more =
        """,\"config\":{\"fs.s3a.impl\":\"evil.Class\",\"hadoop.fs.file.impl\":\"evil.Class\",\"io-impl\":\"x\"}"""
      stub.on(path)(table(metadata, file, more.replace("\\", "")))
      val io = new HadoopFileIO(new Configuration(false))
      assert(stub.on(io).table(id).io eq io)
    }
  }

  test("the error for invalid credentials in a response does not contain their values") {
    withStub { stub =>
      Seq(""","config":{"s3.secret-access-key":["s3cret"]}""", ""","storage-credentials":"s3cret"""").foreach { more =>
        stub.on(path)(table(metadata, file, more))
        val error = intercept[InvalidMetadata](stub.on(new HadoopFileIO(new Configuration(false))).table(id))
        assert(!error.getMessage.contains("s3cret") && Option(error.getCause).isEmpty)
      }
    }
  }
}
