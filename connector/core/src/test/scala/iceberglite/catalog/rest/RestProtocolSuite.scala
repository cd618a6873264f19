package iceberglite.catalog.rest

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError._
import iceberglite.spec.table.NewTable
import iceberglite.table.{MemoryFileIO, TableIdentifier}
import iceberglite.table.TestTables.schema

/** Tests the requests that a REST catalog sends, and how it interprets the responses. */
class RestProtocolSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "/v1/namespaces/db/tables/t"
  private val metadata =
    NewTable(schema, Vector.empty, Vector.empty, "mem://wh/db/t", Map.empty).metadata(new UUID(0, 7), 1000L)
  private val first = "mem://wh/db/t/metadata/00000-a.metadata.json"

  test("no request is sent before the first use, and the configuration is requested once") {
    withStub { stub =>
      val catalog =
        stub.on("GET /v1/namespaces")(json("""{"namespaces":[["b"],["a"]]}""")).catalog("warehouse" -> "wh 1")
      assert(stub.requests.isEmpty)
      assert(catalog.listNamespaces(Vector.empty) == Vector(Vector("a"), Vector("b")))
      catalog.listNamespaces(Vector.empty)
      assert(stub.requests.map(_.line).take(2) == Vector("GET /v1/config?warehouse=wh%201", "GET /v1/namespaces"))
      assert(stub.requests.count(_.line.startsWith("GET /v1/config")) == 1)
    }
  }

  test("user properties override server defaults, server overrides override both, and paths contain the prefix") {
    withStub { stub =>
      stub.on("GET /v1/config")(json(
        """{"defaults":{"header.a":"default","header.b":"default"},""" +
          """"overrides":{"prefix":"ws/one two","header.c":"override"}}"""
      ))
      stub.on("GET /v1/ws/one%20two/namespaces")(json("""{"namespaces":[]}"""))
      stub.catalog("header.b" -> "user", "header.c" -> "user").listNamespaces(Vector.empty)
      val request = stub.requests.last
      assert(Seq("a", "b", "c").map(request.headers) == Seq("default", "user", "override"))
      assert(request.line == "GET /v1/ws/one%20two/namespaces")
    }
  }

  test("a prefix that the server sends percent-encoded is not encoded again, and cannot leave the path") {
    val prefixes = Seq(
      "main%7Csales" -> "main%7Csales",
      "cat:a@b" -> "cat:a@b",
      "100%" -> "100%25",
      "a?b#c" -> "a%3Fb%23c",
      "../x" -> "%2E%2E/x"
    )
    prefixes.foreach { case (prefix, path) =>
      withStub { stub =>
        stub.on("GET")(json("""{"namespaces":[]}"""))
        stub.on("GET /v1/config")(json(s"""{"overrides":{"prefix":"$prefix"}}"""))
        stub.catalog("warehouse" -> "sales").listNamespaces(Vector.empty)
        assert(stub.lines == Vector(s"GET /v1/$path/namespaces"))
      }
    }
  }

  test("names are percent-encoded, including names that look like parent paths or headers") {
    withStub { stub =>
      stub.on("HEAD")(answer(204)).on("GET")(refuse(404, "NoSuchTableException", "none"))
      stub.on("GET /v1/config")(json("""{"endpoints":["HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}"]}"""))
      val catalog = stub.catalog()
      val names = Seq("a/b", "..", "x?y=z#f", "ä%41", "line\r\nHost: evil", "a b+c")
      names.foreach(name => assert(catalog.tableExists(TableIdentifier(Vector("n 1", "m/2"), name))))
      assert(stub.lines == Vector(
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/a%2Fb",
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/%2E%2E",
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/x%3Fy%3Dz%23f",
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/%C3%A4%2541",
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/line%0D%0AHost%3A%20evil",
        "HEAD /v1/namespaces/n%201%1Fm%2F2/tables/a%20b%2Bc"
      ))
      assert(stub.requests.forall(_.headers("host").startsWith("127.0.0.1")))
      Seq(Vector.empty, Vector(""), Vector("a\u001fb")).foreach(namespace =>
        intercept[InvalidArgument](catalog.tableExists(TableIdentifier(namespace, "t")))
      )
    }
  }

  test("the server can configure another namespace separator") {
    withStub { stub =>
      stub.on("GET /v1/config")(json("""{"overrides":{"namespace-separator":"%2E"}}"""))
      stub.on("GET")(json("""{"namespaces":[["a","b","c"]],"namespace":["a","b"],"properties":null}"""))
      val catalog = stub.catalog()
      assert(catalog.listNamespaces(Vector("a", "b")) == Vector(Vector("a", "b", "c")))
      assert(catalog.loadNamespace(Vector("a", "b")).isEmpty)
      assert(stub.lines == Vector("GET /v1/namespaces?parent=a.b", "GET /v1/namespaces/a%2Eb"))
    }
  }

  test("listings are requested in pages of the configured size, and endless paging is an error") {
    withStub { stub =>
      val tables = "/v1/namespaces/db/tables"
      def page(name: String, next: String) =
        json(s"""{"identifiers":[{"namespace":["db"],"name":"$name"}],"next-page-token":$next}""")
      stub.on(s"GET $tables")(page("a", "\"p 2\""), page("b", "\"p3\""), page("c", "null"))
      assert(stub.catalog("rest-page-size" -> "1").listTables(Vector("db")).map(_.name) == Vector("a", "b", "c"))
      assert(stub.lines == Vector(
        s"GET $tables?pageToken=&pageSize=1",
        s"GET $tables?pageToken=p%202&pageSize=1",
        s"GET $tables?pageToken=p3&pageSize=1"
      ))
      stub.on(s"GET $tables")(page("a", "\"again\""))
      val error = intercept[StorageFailed](stub.catalog().listTables(Vector("db")))
      assert(error.getMessage.contains("the same page token twice"))
    }
  }

  test("endpoints that the server does not list are not called") {
    withStub { stub =>
      stub.on("GET /v1/config")(
        json("""{"endpoints":["GET  /v1/{prefix}/namespaces","GET /v1/{prefix}/namespaces/{namespace}"]}""")
      )
      stub.on("GET /v1/namespaces/db")(json("""{"namespace":["db"]}"""))
      val catalog = stub.catalog()
      assert(catalog.namespaceExists(Vector("db")), "the namespace is loaded, because HEAD is not listed")
      val error = intercept[Unsupported](catalog.rename(id, id.copy(name = "u")))
      assert(error.getMessage.contains("POST /v1/{prefix}/tables/rename"))
      assert(!catalog.viewExists(id))
      intercept[Unsupported](catalog.listViews(Vector("db")))
    }
  }

  test("existence is checked with HEAD if the server lists it, and status 404 means that the object does not exist") {
    withStub { stub =>
      val namespace = "/v1/{prefix}/namespaces/{namespace}"
      val listed = Seq("", "/tables/{table}", "/views/{view}").map(suffix => s""""HEAD $namespace$suffix"""")
      stub.on("GET /v1/config")(json(s"""{"endpoints":[${listed.mkString(",")}]}"""))
      stub.on("HEAD")(answer(204), answer(204), answer(204), answer(404))
      val catalog = stub.catalog()
      def exist: Seq[Boolean] =
        Seq(catalog.namespaceExists(Vector("db")), catalog.tableExists(id), catalog.viewExists(id))
      assert(exist == Seq(true, true, true))
      assert(exist == Seq(false, false, false))
      val once = Vector("HEAD /v1/namespaces/db", s"HEAD $path", "HEAD /v1/namespaces/db/views/t")
      assert(stub.lines == once ++ once)
    }
  }

  test("a server that lists no endpoints supports views only if view-endpoints-supported is true") {
    withStub { stub =>
      stub.on("GET /v1/namespaces/db/views")(json("""{"identifiers":[{"namespace":["db"],"name":"v"}]}"""))
      intercept[Unsupported](stub.catalog().listViews(Vector("db")))
      assert(stub.catalog("view-endpoints-supported" -> "true").listViews(Vector("db")).map(_.name) == Vector("v"))
    }
  }

  test("a view is registered only if the server lists the endpoint, and rejections have a specific error") {
    withStub { stub =>
      val file = "mem://wh/db/v/metadata/00000-a.metadata.json"
      intercept[Unsupported](stub.catalog("view-endpoints-supported" -> "true").registerView(id, file))
      stub.on("GET /v1/config")(
        json("""{"endpoints":["POST /v1/{prefix}/namespaces/{namespace}/register-view"]}""")
      )
      val catalog = stub.catalog()
      val request = "POST /v1/namespaces/db/register-view"
      stub.on(request)(refuse(409, "AlreadyExistsException", "there"))
      assert(intercept[AlreadyExists](catalog.registerView(id, file)).advice.contains("the server responded: there"))
      stub.on(request)(refuse(404, "NoSuchNamespaceException", "none"))
      intercept[NotFound](catalog.registerView(id, file))
      assert(stub.lines.last == request)
      assert(stub.requests.last.body == s"""{"name":"t","metadata-location":"$file"}""")
    }
  }

  test("a load of a cached table sends its ETag, and reuses the cached table if the server reports no change") {
    withStub { stub =>
      stub.on(s"GET $path")(
        table(metadata, first).withHeader("ETag" -> "\"e1\""),
        answer(304),
        answer(304),
        table(metadata, first)
      )
      val catalog = stub.catalog("rest-table-cache.expire-after-write-ms" -> "1000")
      val loaded = catalog.table(id)
      assert(catalog.table(id).metadata eq loaded.metadata)
      assert(catalog.load(id).metadata eq loaded.metadata)
      stub.nowMs += 1000
      assert(catalog.table(id).metadata == loaded.metadata)
      assert(stub.requests.drop(1).map(_.headers.get("if-none-match")) ==
        Vector(None, Some("\"e1\""), Some("\"e1\""), None))
    }
  }

  test("the table cache has a maximum number of entries, and can be disabled") {
    withStub { stub =>
      stub.on("GET")(table(metadata, first).withHeader("ETag" -> "e"))
      val two = stub.catalog("rest-table-cache.max-entries" -> "2")
      Seq("a", "b", "a", "c", "a", "b").foreach(name => two.load(id.copy(name = name)))
      assert(stub.requests.drop(1).map(_.headers.contains("if-none-match")) ==
        Vector(false, false, true, false, true, false))
      val none = stub.catalog("rest-table-cache.max-entries" -> "0")
      none.load(id)
      none.load(id)
      assert(!stub.requests.takeRight(2).exists(_.headers.contains("if-none-match")))
    }
  }

  test("with snapshot-loading-mode refs only referenced snapshots are loaded, and a refresh loads all snapshots") {
    withStub { stub =>
      stub.on(s"GET $path")(table(metadata, first))
      val catalog = stub.catalog("snapshot-loading-mode" -> "refs")
      assert(!catalog.table(id).version.hasAllSnapshots)
      assert(catalog.table(id).refresh().version.hasAllSnapshots)
      assert(stub.lines.last == s"GET $path" && stub.lines.head == s"GET $path?snapshots=refs")
    }
  }

  test("compressed responses are accepted") {
    withStub { stub =>
      val gzipped = new java.io.ByteArrayOutputStream
      val zip = new java.util.zip.GZIPOutputStream(gzipped)
      zip.write("""{"namespaces":[["a"]]}""".getBytes("UTF-8"))
      zip.close()
      stub.on("GET /v1/namespaces")(bytes(200, gzipped.toByteArray).withHeader("Content-Encoding" -> "gzip"))
      assert(stub.catalog().listNamespaces(Vector.empty) == Vector(Vector("a")))
    }
  }

  test("the error for a rejected request contains the operation, the server and the server's message") {
    withStub { stub =>
      val catalog = stub.catalog()
      def rejection(status: Int, kind: String): Exception = {
        stub.on(s"GET $path")(refuse(status, kind, "because"))
        intercept[Exception](catalog.load(id))
      }
      assert(rejection(404, "NoSuchTableException").isInstanceOf[NotFound])
      assert(rejection(404, "NoSuchNamespaceException").isInstanceOf[NotFound])
      assert(
        rejection(404, "NotFoundException").isInstanceOf[UnreadableFile],
        "the table exists, but its metadata file does not"
      )
      assert(rejection(400, "BadRequestException").isInstanceOf[ValidationFailed])
      assert(rejection(406, "UnsupportedOperationException").isInstanceOf[Unsupported])
      val statuses =
        Seq(401 -> "rest.auth", 403 -> "permission", 418 -> "418", 429 -> "later", 500 -> "500", 503 -> "503")
      statuses.foreach { case (status, advice) =>
        val error = rejection(status, "SomeException")
        assert(error.isInstanceOf[StorageFailed])
        Seq("load table lite.db.t", stub.uri, "because", advice).foreach(part =>
          assert(error.getMessage.contains(part))
        )
      }
    }
  }

  test("status 404 with an HTML page of a proxy is not reported as a missing table") {
    withStub { stub =>
      stub.on(s"GET $path")(answer(404, "<html>Not Found</html>"))
      val error = intercept[StorageFailed](stub.catalog().load(id))
      assert(error.getMessage.contains("404"))
    }
  }

  test("the error for an unknown warehouse contains the warehouse and the server's message") {
    withStub { stub =>
      stub.on("GET /v1/config")(refuse(404, "NoSuchWarehouseException", "none of them"))
      val error = intercept[NotFound](stub.catalog("warehouse" -> "wh").listNamespaces(Vector.empty))
      assert(error.getMessage.contains("wh") && error.getMessage.contains("none of them"))
    }
  }

  test("requests that the server does not accept are retried after doubling wait times, or after Retry-After") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(
        refuse(503, "SlowDownException", "later"),
        refuse(429, "SlowDownException", "later").withHeader("Retry-After" -> "7"),
        answer(504),
        answer(502),
        refuse(503, "x", "y").withHeader("Retry-After" -> "Tue, 14 Nov 2023 22:13:50 GMT"),
        json("""{"namespaces":[]}""")
      )
      assert(stub.catalog().listNamespaces(Vector.empty).isEmpty)
      assert(stub.waits == Vector(50, 7000, 200, 400, 30000))
    }
  }

  test("a request fails after the configured number of retries, or if Retry-After is too long") {
    withStub { stub =>
      stub.on("GET /v1/namespaces")(refuse(503, "SlowDownException", "later"))
      intercept[StorageFailed](stub.catalog("rest.client.max-retries" -> "2").listNamespaces(Vector.empty))
      assert(stub.lines.size == 3)
      stub.on("GET /v1/namespaces")(refuse(503, "SlowDownException", "later").withHeader("Retry-After" -> "86400"))
      intercept[StorageFailed](stub.catalog().listNamespaces(Vector.empty))
      assert(stub.lines.size == 4)
    }
  }

  test("a request that is not idempotent is retried only after Retry-After or status 429") {
    withStub { stub =>
      val catalog = stub.catalog()
      stub.on("POST /v1/namespaces")(refuse(503, "x", "y"))
      intercept[StorageFailed](catalog.createNamespace(Vector("a"), Map.empty))
      stub.on("POST /v1/namespaces")(broken)
      intercept[StorageFailed](catalog.createNamespace(Vector("a"), Map.empty))
      assert(stub.lines.size == 2)
      stub.on("POST /v1/namespaces")(refuse(503, "x", "y").withHeader("Retry-After" -> "1"), answer(429), json("{}"))
      catalog.createNamespace(Vector("a"), Map("k" -> "v"))
      assert(stub.lines.size == 5)
      assert(stub.requests.last.body == """{"namespace":["a"],"properties":{"k":"v"}}""")
    }
  }

  test("status 304 is an error for a request without an ETag") {
    withStub { stub =>
      stub.on("GET")(answer(304))
      stub.on("GET /v1/config")(json("{}"))
      val catalog = stub.catalog()
      Seq[() => Any](
        () => catalog.listNamespaces(Vector.empty),
        () => catalog.loadNamespace(Vector("db")),
        () => catalog.load(id)
      ).foreach(read => assert(intercept[StorageFailed](read()).reason.contains("304")))
    }
  }

  test("a listing without the optional list of names is empty") {
    withStub { stub =>
      stub.on("GET")(json("{}"))
      val catalog = stub.catalog("view-endpoints-supported" -> "true")
      assert(catalog.listNamespaces(Vector.empty).isEmpty && catalog.listTables(Vector("db")).isEmpty)
      assert(catalog.listViews(Vector("db")).isEmpty)
    }
  }

  test("with idempotency keys a change is retried with the same key, and each change has its own key") {
    withStub { stub =>
      stub.on("GET /v1/config")(json("""{"idempotency-key-lifetime":"PT30M"}"""))
      stub.on("POST /v1/namespaces")(broken, answer(504), json("{}"), json("{}"))
      val catalog = stub.catalog()
      catalog.createNamespace(Vector("a"), Map.empty)
      catalog.createNamespace(Vector("b"), Map.empty)
      val keys = stub.requests.filter(_.method == "POST").map(_.headers("idempotency-key"))
      assert(keys.take(3).distinct.size == 1 && keys.distinct.size == 2)
      keys.map(UUID.fromString).foreach { key =>
        assert(key.version == 7 && key.variant == 2 && (key.getMostSignificantBits >>> 16) == stub.nowMs)
      }
      stub.on("GET /v1/namespaces")(json("""{"namespaces":[]}"""))
      catalog.listNamespaces(Vector.empty)
      assert(!stub.requests.last.headers.contains("idempotency-key"))
    }
  }

  test("a namespace that is not empty is kept, and the error lists its content") {
    withStub { stub =>
      stub.on("DELETE /v1/namespaces/db")(refuse(409, "NamespaceNotEmptyException", "no"))
      stub.on("GET /v1/namespaces")(json("""{"namespaces":[]}"""))
      stub.on("GET /v1/namespaces/db/tables")(json("""{"identifiers":[{"namespace":["db"],"name":"t"}]}"""))
      val error = intercept[ValidationFailed](stub.catalog().dropNamespace(Vector("db")))
      assert(error.getMessage.contains("lite.db") && error.getMessage.contains("It contains t"))
    }
  }

  test("invalid properties are rejected when the catalog is opened, and the error contains the property") {
    def error(properties: (String, String)*): String = intercept[Exception](Catalogs.open(
      "lite",
      Map("type" -> "rest", "uri" -> "https://localhost") ++ properties,
      new MemoryFileIO
    )).getMessage
    assert(error("uri" -> "localhost:8181").contains("https://"))
    assert(error("uri" -> "https://me:secret@localhost").contains("rest.auth.basic") &&
      !error("uri" -> "https://me:secret@localhost").contains("secret@"))
    assert(error("uri" -> "https://localhost?a=b").contains("query"))
    assert(error("rest.auth.type" -> "google").contains("none, basic, oauth2, sigv4"))
    assert(error("rest.auth.type" -> "basic").contains("rest.auth.basic.username"))
    assert(error("rest.client.max-retries" -> "-1").contains("rest.client.max-retries"))
    assert(error("snapshot-loading-mode" -> "some").contains("ALL or REFS"))
    assert(error("scan-planning-mode" -> "driver").contains("client or server"))
    assert(error("token-refresh-enabled" -> "maybe", "token" -> "t0ken").contains("token-refresh-enabled"))
    assert(error("snapshot-loading-mod" -> "all").contains("Did you mean snapshot-loading-mode"))
  }
}
