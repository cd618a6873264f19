package iceberglite.catalog.rest

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.IcebergError._
import iceberglite.spec.json.{JsonValue, MetadataUpdateJson, RequirementJson}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.DeclaredType
import iceberglite.spec.table.NewTable
import iceberglite.spec.types.{DefaultValue, NestedField}
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{AssignUuid, SetProperties}
import iceberglite.spec.update.Requirement.{AssertCreate, AssertTableUuid}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Tests the requests that commits send to a REST catalog, and the outcome of a commit for each kind of response. */
class RestCommitSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "/v1/namespaces/db/tables/t"
  private val empty =
    NewTable(schema, Vector.empty, Vector.empty, "mem://wh/db/t", Map.empty).metadata(new UUID(0, 7), 1000L)
  private val first = "mem://wh/db/t/metadata/00000-a.metadata.json"
  private val second = "mem://wh/db/t/metadata/00001-b.metadata.json"
  private val base = TableVersion(empty, first)
  private val properties = Change(Vector(SetProperties(Map("a" -> "b"))), Vector(AssertTableUuid(new UUID(0, 7))))
  private val fewRetries = "rest.client.max-retries" -> "2"

  /** Returns the requirements and updates in the request. */
  private def sentChange(request: Request): Change = read(JsonValue.parse("request", request.body))

  private def read(json: JsonValue): Change = Change(
    json("updates").map(MetadataUpdateJson.read),
    json("requirements").map(RequirementJson.read)
  )

  /** Applies a change to metadata, as a server does. */
  private def updated(metadata: TableMetadata, change: Change): TableMetadata =
    MetadataUpdate.applyAll(metadata, change.updates, metadata.lastUpdatedMs + 1)

  private def commit(catalog: RestCatalog): TableVersion = catalog.commit(id, Some(base), properties)

  test("a commit sends identifier, requirements and updates, and returns the version in the response") {
    withStub { stub =>
      stub.on(s"POST $path")(table(updated(empty, properties), second))
      val version = commit(stub.catalog())
      assert(version.metadata.properties("a") == "b" && version.metadataLocation == second)
      val request = stub.requests.last
      assert(request.headers("content-type") == "application/json")
      val identifier = JsonValue.parse("request", request.body)("identifier")
      assert(identifier("namespace").map(_.string) == Vector("db") && identifier.string("name") == "t")
      assert(sentChange(request) == properties)
    }
  }

  test("status 409 makes a commit fail with a conflict, and other rejections make it fail with other definite errors") {
    withStub { stub =>
      def outcome(reply: Reply): IcebergError = {
        stub.on(s"POST $path")(reply)
        intercept[IcebergError](commit(stub.catalog(fewRetries)))
      }
      assert(outcome(refuse(409, "CommitFailedException", "moved")).isInstanceOf[CommitConflict])
      assert(outcome(refuse(404, "NoSuchTableException", "gone")).isInstanceOf[NotFound])
      assert(outcome(refuse(400, "BadRequestException", "bad")).isInstanceOf[ValidationFailed])
      assert(outcome(refuse(401, "NotAuthorizedException", "who")).isInstanceOf[StorageFailed])
      assert(outcome(refuse(403, "ForbiddenException", "no")).isInstanceOf[StorageFailed])
      assert(outcome(refuse(406, "UnsupportedOperationException", "no")).isInstanceOf[Unsupported])
      assert(outcome(answer(307).withHeader("Location" -> "https://elsewhere")).isInstanceOf[StorageFailed])
      assert(outcome(refuse(429, "SlowDownException", "later")).isInstanceOf[StorageFailed])
    }
  }

  test("a response that is neither a valid success nor a rejection leaves the outcome of a commit unknown") {
    withStub { stub =>
      val replies = Seq(500, 502, 504, 507, 408).map(refuse(_, "SomeException", "hm")) ++
        Seq(answer(500, "<html>"), broken, json("<html>"), json("{"), json("""{"metadata":{}}"""), answer(204))
      replies.foreach { reply =>
        stub.on(s"POST $path")(reply)
        val before = stub.lines.size
        val error = intercept[CommitStateUnknown](commit(stub.catalog(fewRetries)))
        assert(error.getMessage.contains("lite.db.t") && stub.lines.size == before + 1, "the commit must be sent once")
      }
    }
  }

  test(
    "a commit is sent again after status 503 or 429; if it is rejected after status 503, its outcome is unknown"
  ) {
    withStub { stub =>
      stub.on(s"POST $path")(
        refuse(503, "x", "busy"),
        refuse(429, "x", "busy"),
        table(updated(empty, properties), second)
      )
      assert(commit(stub.catalog(fewRetries)).metadataLocation == second)
      stub.on(s"POST $path")(refuse(503, "x", "busy"), refuse(409, "CommitFailedException", "moved"))
      intercept[CommitStateUnknown](commit(stub.catalog(fewRetries)))
      stub.on(s"POST $path")(refuse(503, "x", "busy"), refuse(400, "BadRequestException", "moved"))
      intercept[CommitStateUnknown](commit(stub.catalog(fewRetries)))
      stub.on(s"POST $path")(refuse(503, "x", "busy"))
      intercept[CommitStateUnknown](commit(stub.catalog(fewRetries)))
    }
  }

  test("with idempotency keys, a commit with unknown outcome is sent again until the server responds") {
    withStub { stub =>
      stub.on("GET /v1/config")(json("""{"idempotency-key-lifetime":"PT30M"}"""))
      stub.on(s"POST $path")(broken, answer(502), table(updated(empty, properties), second))
      assert(commit(stub.catalog(fewRetries)).metadataLocation == second)
      assert(stub.requests.filter(_.method == "POST").map(_.headers("idempotency-key")).distinct.size == 1)
    }
  }

  /** A server with one table. A script determines whether each commit is applied, and with which response. */
  final private class TableServer(stub: StubServer) {
    var version: TableVersion = base
    var commitCount = 0

    /** Makes the server respond to loads with the table's current version. */
    private def respondToLoads(): Unit = {
      stub.on(s"GET $path")(table(version.metadata, version.metadataLocation))
      ()
    }

    /** Sets whether each of the next commits is applied, and its response; `None` for the response of a success. */
    def respondToCommits(replies: (Boolean, Option[Reply])*): Unit = {
      stub.on(s"POST $path")(replies.map { case (applies, reply) => new CommitReply(applies, reply) }: _*)
      respondToLoads()
    }

    final private class CommitReply(applies: Boolean, reply: Option[Reply]) extends Reply {
      override def send(exchange: com.sun.net.httpserver.HttpExchange): Unit = {
        commitCount += 1
        if (applies) {
          val metadata = updated(version.metadata, sentChange(stub.requests.last))
          version = TableVersion(metadata, f"mem://wh/db/t/metadata/$commitCount%05d-x.metadata.json")
          respondToLoads()
        }
        reply.getOrElse(table(version.metadata, version.metadataLocation)).send(exchange)
      }
    }
  }

  private def append(table: Table, name: String): Table =
    table.transaction(Map.empty, environment).add(new FastAppend(Vector(file(name)))).commit()

  test("an append with a lost or invalid response succeeds if the table contains it, and is applied only once") {
    Seq(answer(500), answer(504), broken, json("<html>")).foreach { lost =>
      withStub { stub =>
        val server = new TableServer(stub)
        server.respondToCommits(true -> Some(lost))
        val files = new MemoryFileIO
        val done = append(stub.on(files).table(id), "f")
        assert(liveFiles(done) == Vector("f") && server.commitCount == 1)
      }
    }
  }

  test("an append with unknown outcome keeps its files") {
    withStub { stub =>
      val server = new TableServer(stub)
      server.respondToCommits(false -> Some(answer(500)))
      val files = new MemoryFileIO
      intercept[CommitStateUnknown](append(stub.on(files).table(id), "f"))
      assert(files.paths.count(_.endsWith(".avro")) == 2)
    }
  }

  test("an append that the server applied and answered with status 503 is not applied twice") {
    withStub { stub =>
      val server = new TableServer(stub)
      server.respondToCommits(
        true -> Some(refuse(503, "x", "busy")),
        false -> Some(refuse(409, "CommitFailedException", "moved"))
      )
      val files = new MemoryFileIO
      val done = append(stub.on(files).table(id), "f")
      assert(liveFiles(done) == Vector("f") && done.metadata.snapshots.size == 1)
    }
  }

  test("after a conflict the commit is retried on the newest version of the server") {
    withStub { stub =>
      val server = new TableServer(stub)
      server.respondToCommits(true -> None, false -> Some(refuse(409, "CommitFailedException", "moved")), true -> None)
      val catalog = stub.on(new MemoryFileIO)
      val table = catalog.table(id)
      append(table, "theirs")
      assert(liveFiles(append(table, "ours")) == Vector("ours", "theirs"))
    }
  }

  test("the server chooses a new table's location, and the creating commit requires that no table exists") {
    withStub { stub =>
      stub.on(s"GET $path")(refuse(404, "NoSuchTableException", "none"))
      val withServerLocation = empty.edited(location = "mem://chosen/t", properties = Map("of" -> "server"))
      stub.on("POST /v1/namespaces/db/tables")(json(
        s"""{"metadata":${new String(iceberglite.spec.json.TableMetadataJson.write(withServerLocation), "UTF-8")}}"""
      ))
      stub.on(s"POST $path")(table(empty, first))
      val catalog = stub.catalog("table-default.of" -> "catalog", "table-default.x" -> "y")
      catalog.stage(id, unpartitioned("k" -> "v", "format-version" -> "3"), StageMode.Create).commit()
      val Vector(staged, committed) = stub.requests.filter(_.method == "POST")
      val json1 = JsonValue.parse("request", staged.body)
      assert(json1("stage-create").boolean && json1.string("name") == "t" && !json1.has("location"))
      assert(json1("properties").strings("k") == "v" && json1("properties").strings("format-version") == "3")
      val change = sentChange(committed)
      assert(change.requirements == Vector(AssertCreate))
      assert(change.updates.contains(MetadataUpdate.SetLocation("mem://chosen/t")))
      val set = change.updates.collect { case SetProperties(p) => p }.flatten.toMap
      assert(Seq("k", "x", "of").map(set) == Seq("v", "y", "catalog") && !set.contains("format-version"))
    }
  }

  test("the creation of a table without rows sends one request without staging, and its outcome may be unknown") {
    withStub { stub =>
      val ofVersion3 = empty.edited(formatVersion = FormatVersion.V3)
      stub.on("POST /v1/namespaces/db/tables")(table(ofVersion3, first))
      val catalog = stub.catalog("table-default.x" -> "y")
      val created = catalog.create(id, unpartitioned("k" -> "v", "format-version" -> "3"))
      assert(created.metadataLocation == first && created.metadata.formatVersion == FormatVersion.V3)
      assert(stub.lines == Vector("POST /v1/namespaces/db/tables"))
      val json = JsonValue.parse("request", stub.requests.last.body)
      assert(!json("stage-create").boolean && json.string("name") == "t" && !json.has("location"))
      assert(Map("k" -> "v", "x" -> "y", "format-version" -> "3").forall(json.stringsOf("properties").toSet))
      Seq[Seq[Reply]](
        Seq(broken),
        Seq(answer(500)),
        Seq(
          refuse(503, "x", "busy").withHeader("Retry-After" -> "1"),
          refuse(409, "AlreadyExistsException", "there")
        )
      ).foreach { replies =>
        stub.on("POST /v1/namespaces/db/tables")(replies: _*)
        intercept[CommitStateUnknown](catalog.create(id, unpartitioned()))
      }
    }
  }

  test("the creation of a table without rows is sent again after status 503, but not after a lost response") {
    withStub { stub =>
      val request = "POST /v1/namespaces/db/tables"
      stub.on(request)(refuse(503, "x", "busy"), refuse(503, "x", "busy"), table(empty, first))
      assert(stub.catalog(fewRetries).create(id, unpartitioned()).metadataLocation == first)
      assert(stub.lines == Vector.fill(3)(request))
      Seq[Seq[Reply]](
        Seq(refuse(503, "x", "busy"), refuse(409, "AlreadyExistsException", "there")),
        Seq(answer(502), table(empty, first)),
        Seq(broken, table(empty, first))
      ).foreach { replies =>
        stub.on(request)(replies: _*)
        intercept[CommitStateUnknown](stub.catalog(fewRetries).create(id, unpartitioned()))
      }
    }
  }

  test("a creation fails if the server created the table with another format version or with other columns") {
    withStub { stub =>
      val column = schema.fields.head
      val withDefault = schema.copy(fields = schema.fields.updated(0, column.copy(writeDefault = default)))
      val requested = TableCreation(withDefault, properties = Map("format-version" -> "3"))
      val v3 = empty.edited(formatVersion = FormatVersion.V3)
      def created(fields: Vector[NestedField]) = v3.edited(schemas = Vector(v3.schema.copy(fields = fields)))
      val other = Seq(
        empty,
        v3,
        created(v3.schema.fields.reverse),
        created(v3.schema.fields.updated(0, column.copy(required = false, writeDefault = default))),
        created(v3.schema.fields.updated(0, column.copy(name = "ID", writeDefault = default)))
      )
      other.foreach { metadata =>
        stub.on("POST /v1/namespaces/db/tables")(table(metadata, first))
        val error = intercept[ValidationFailed](stub.catalog().create(id, requested))
        assert(error.getMessage.contains("table lite.db.t"))
      }
      val same = created(v3.schema.fields.updated(0, column.copy(writeDefault = default, doc = Some("by the server"))))
      stub.on("POST /v1/namespaces/db/tables")(table(same, first))
      assert(stub.catalog().create(id, requested).metadata == same)
    }
  }

  private def default: Option[DefaultValue] = Some(DefaultValue.OfPrimitive(LongLiteral(7L)))

  test("if the server assigns other field ids, the declared types of columns are committed with these ids") {
    withStub { stub =>
      val swapped = schema.copy(fields = schema.fields.map(f => f.copy(id = 3 - f.id)))
      val renumbered = empty.edited(schemas = Vector(swapped))
      stub.on("POST /v1/namespaces/db/tables")(table(renumbered, first))
      stub.on(s"POST $path")(table(renumbered, second))
      assert(stub.catalog().create(id, unpartitioned()).metadataLocation == first)
      val declared = DeclaredType.key(2) -> "varchar(20)"
      assert(stub.catalog().create(id, unpartitioned(declared)).metadataLocation == second)
      assert(sentChange(stub.requests.last) == Change(
        Vector(
          SetProperties(Map(DeclaredType.key(1) -> "varchar(20)")),
          MetadataUpdate.RemoveProperties(Set(DeclaredType.key(2)))
        ),
        Vector(AssertTableUuid(new UUID(0, 7)))
      ))
    }
  }

  test("a creation fails if the server reports that the name exists or that the namespace is missing") {
    withStub { stub =>
      stub.on(s"GET $path")(refuse(404, "NoSuchTableException", "none"))
      stub.on("POST /v1/namespaces/db/tables")(refuse(409, "AlreadyExistsException", "a view"))
      assert(intercept[AlreadyExists](stub.catalog().create(id, unpartitioned())).advice.contains("a view"))
      stub.on("POST /v1/namespaces/db/tables")(refuse(404, "NoSuchNamespaceException", "none"))
      assert(intercept[NotFound](stub.catalog().create(id, unpartitioned())).getMessage.contains("lite.db"))
    }
  }

  test("a creation succeeds if an earlier attempt of the same commit has created the table") {
    withStub { stub =>
      val creation = Change(Vector(AssignUuid(new UUID(0, 7))), Vector(AssertCreate))
      stub.on(s"GET $path")(table(empty, first))
      stub.on(s"POST $path")(refuse(503, "x", "busy"), refuse(409, "AlreadyExistsException", "there"))
      assert(stub.catalog(fewRetries).commit(id, None, creation).metadataLocation == first)
      stub.on(s"POST $path")(refuse(409, "AlreadyExistsException", "there"))
      intercept[AlreadyExists](stub.catalog(fewRetries).commit(id, None, creation))
      stub.on(s"GET $path")(table(empty.edited(uuid = Some(new UUID(0, 8))), first))
      stub.on(s"POST $path")(refuse(503, "x", "busy"), refuse(409, "AlreadyExistsException", "there"))
      intercept[CommitStateUnknown](stub.catalog(fewRetries).commit(id, None, creation))
    }
  }

  test("changes to several tables are sent in one request, and some of its errors leave the outcome unknown") {
    withStub { stub =>
      val other = TableIdentifier(Vector("x", "y"), "u")
      stub.on("POST /v1/transactions/commit")(answer(204))
      val catalog = stub.catalog(fewRetries)
      val changes = Vector(TableChange(id, base, properties), TableChange(other, base, properties))
      catalog.commitAll(changes)
      val parts = JsonValue.parse("request", stub.requests.last.body)("table-changes").elements
      assert(parts.map(read) == Vector(properties, properties))
      assert(parts.map(_("identifier").string("name")) == Vector("t", "u"))
      def outcome(replies: Reply*): IcebergError = {
        stub.on("POST /v1/transactions/commit")(replies: _*)
        intercept[IcebergError](catalog.commitAll(changes))
      }
      val conflict = outcome(refuse(409, "CommitFailedException", "moved"))
      assert(conflict.isInstanceOf[CommitConflict] && conflict.getMessage.contains("lite.db.t, lite.x.y.u"))
      assert(outcome(answer(500)).isInstanceOf[CommitStateUnknown])
      assert(outcome(refuse(503, "x", "y"), refuse(409, "x", "y")).isInstanceOf[CommitStateUnknown])
      assert(outcome(refuse(404, "NoSuchTableException", "none")).isInstanceOf[NotFound])
    }
  }

  test("a token that was returned with a table is sent in requests for that table") {
    withStub { stub =>
      stub.on(s"GET $path")(table(empty, first, ""","config":{"token":"of-the-table"}"""))
      stub.on(s"POST $path")(table(updated(empty, properties), second))
      val catalog = stub.catalog("token" -> "mine")
      catalog.load(id)
      commit(catalog)
      assert(stub.requests.takeRight(2).map(_.headers("authorization")) == Vector("Bearer mine", "Bearer of-the-table"))
      stub.on(s"POST $path")(refuse(401, "NotAuthorizedException", "old"), table(updated(empty, properties), second))
      commit(catalog)
      assert(stub.requests.last.headers("authorization") == "Bearer mine", "the rejected token must not be sent again")
    }
  }

  test("a conflict of a commit to several tables keeps the tokens of the tables, and evicts the cached tables") {
    withStub { stub =>
      stub.on(s"GET $path")(table(empty, first, ""","config":{"token":"of-the-table"}""").withHeader("ETag" -> "e"))
      stub.on("POST /v1/transactions/commit")(refuse(409, "CommitFailedException", "moved"))
      stub.on(s"POST $path")(table(updated(empty, properties), second))
      val catalog = stub.catalog("token" -> "mine")
      catalog.load(id)
      intercept[CommitConflict](catalog.commitAll(Vector(TableChange(id, base, properties))))
      commit(catalog)
      assert(stub.requests.last.headers("authorization") == "Bearer of-the-table")
      catalog.load(id)
      assert(!stub.requests.last.headers.contains("if-none-match"))
    }
  }

  test("a purge deletes the files of the table, unless a property delegates the purge to the server") {
    withStub { stub =>
      stub.on(s"GET $path")(table(empty, first)).on(s"DELETE $path")(answer(204))
      val files = new MemoryFileIO
      files.write(first, Array.emptyByteArray)
      assert(stub.on(files, "rest-catalog-purge" -> "true").drop(id, purge = true))
      assert(stub.lines.last == s"DELETE $path?purgeRequested=true" && files.exists(first))
      assert(stub.on(files).drop(id, purge = false) && files.exists(first))
      assert(stub.on(files).drop(id, purge = true) && !files.exists(first))
      assert(stub.lines.last == s"DELETE $path?purgeRequested=false")
      stub.on(s"DELETE $path")(refuse(404, "NoSuchTableException", "none"))
      assert(!stub.on(files).drop(id, purge = false))
    }
  }
}
