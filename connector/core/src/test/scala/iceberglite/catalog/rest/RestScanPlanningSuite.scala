package iceberglite.catalog.rest

import java.nio.ByteBuffer
import java.util.UUID

import scala.util.Try

import com.sun.net.httpserver.HttpExchange
import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.scan.{ScanPlan, ServerScan}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, BoxIntersects, Equal, GreaterThan, Not, Or}
import iceberglite.spec.expr.Term.{Named, Part}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.geo.{BoundingBox, PointBound}
import iceberglite.spec.json.{ContentFileJson, JsonValue}
import iceberglite.spec.table.NewTable
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{DefaultCrs, GeometryType, LongType}
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Table, TableIdentifier}
import iceberglite.table.TestTables._

/** Tests the planning of scans by a server, on a stub with scripted responses. */
class RestScanPlanningSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "/v1/namespaces/db/tables/t"
  private val location = "s3://bucket/db/t"
  private val metadata =
    NewTable(schema, byCategory().partitioning, Vector.empty, location, Map.empty).metadata(new UUID(0, 7), 1000L)
  private val endpoints = Seq("POST %s/plan", "GET %s/plan/{plan-id}", "DELETE %s/plan/{plan-id}", "POST %s/tasks")
    .map(_.format("/v1/{prefix}/namespaces/{namespace}/tables/{table}")) :+
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"
  private val files = new ContentFileJson(metadata.specsById, schema)

  private def data(name: String): ContentFile = fileOf("a", s"$location/data/$name.parquet")

  private def deletes(name: String, content: Content): ContentFile = data(name).copy(
    content = content,
    equalityIds = if (content == Content.EqualityDeletes) Vector(1) else Vector.empty
  )

  private def task(file: ContentFile, references: Seq[Int] = Nil, residual: String = ""): String = {
    val filter = if (residual.isEmpty) "" else s""","residual-filter":$residual"""
    s"""{"data-file":${files.toJson(file)},"delete-file-references":${references.mkString("[", ",", "]")}$filter}"""
  }

  private def result(tasks: Seq[String], planTasks: Seq[String] = Nil, deletes: Seq[ContentFile] = Nil): String =
    s""""file-scan-tasks":${tasks.mkString("[", ",", "]")},"delete-files":${deletes.map(files.toJson)
        .mkString("[", ",", "]")},"plan-tasks":${planTasks.map(t => s""""$t"""").mkString("[", ",", "]")}"""

  private def completed(result: String, more: String = ""): Reply = json(s"""{"status":"completed",$result$more}""")
  private def submitted(planId: String): Reply = json(s"""{"status":"submitted","plan-id":"$planId"}""")

  /** Runs `body` with a server that plans scans. */
  private def withServer(body: StubServer => Unit): Unit = withStub { stub =>
    stub.on("GET /v1/config")(json(s"""{"endpoints":${endpoints.map(e => s""""$e"""").mkString("[", ",", "]")}}"""))
    stub.on(s"GET $path")(table(metadata, s"$location/metadata/00000-a.metadata.json"))
    stub.on(s"DELETE $path/plan/p1")(answer(204))
    body(stub)
  }

  private def load(stub: StubServer, properties: (String, String)*): Table =
    stub.on(new HadoopFileIO(new Configuration(false)), properties :+ ("scan-planning-mode" -> "server"): _*).table(id)

  private def plan(
      table: Table,
      filter: Expression = AlwaysTrue,
      minRows: Option[Long] = None
  ): ScanPlan =
    ServerScan(table.tree(), table.version.planner.get, 5, filter, caseSensitive = true).plan(minRows)

  private def bodyOf(stub: StubServer, line: String): JsonValue =
    JsonValue.parse("request", stub.requests.filter(_.line == line).last.body)

  test("a completed plan has the files of the response and of all plan tasks, with their deletes and residuals") {
    withServer { stub =>
      val (position, equality) = (deletes("p", Content.PositionDeletes), deletes("e", Content.EqualityDeletes))
      stub.on(s"POST $path/plan")(completed(result(
        Seq(task(data("a"), Seq(0, 1)), task(data("b"), residual = """{"type":"gt","term":"id","value":4}""")),
        Seq("next"),
        Seq(position, equality)
      )))
      stub.on(s"POST $path/tasks")(
        json(s"{${result(Seq(task(data("c"), Seq(0))), Seq("last"), Seq(position))}}"),
        json("{}")
      )
      val filter = GreaterThan(Named("id"), LongLiteral(3))
      val planned = plan(load(stub), filter)
      assert(planned.tasks.map(_.file.path) == Vector("a", "b", "c").map(data(_).path))
      assert(planned.tasks.map(_.deletes.map(_.file.path)) ==
        Vector(Vector(position.path, equality.path), Vector.empty, Vector(position.path)))
      assert(planned.tasks.head.deletes.head eq planned.tasks.last.deletes.head)
      assert(planned.tasks.head.deletes.last.keys.map(_.field.name) == Vector("id"))
      assert(planned.tasks.map(_.residual.toString.takeRight(1)) == Vector("3", "4", "3"))
      assert((planned.report.resultFiles, planned.report.resultRecords, planned.report.deleteFiles) == ((3, 30, 2)))
      assert(bodyOf(stub, s"POST $path/tasks").string("plan-task") == "last")
      assert(!stub.lines.exists(_.startsWith("DELETE")))
    }
  }

  test("a plan request has the snapshot, the filter, the sufficient number of rows and the columns of statistics") {
    withServer { stub =>
      stub.on(s"POST $path/plan")(completed(result(Nil)))
      val loaded = load(stub)
      plan(loaded, Equal(Named("category"), StringLiteral("x")), minRows = Some(7))
      val point = bodyOf(stub, s"POST $path/plan")
      assert((point.long("snapshot-id"), point.long("min-rows-requested")) == ((5, 7)))
      assert(point("filter").json == """{"type":"eq","term":"category","value":"x"}""")
      assert(point("stats-fields").map(_.string) == Vector("category"))
      assert(point("case-sensitive").boolean && !point("use-snapshot-schema").boolean)
      plan(loaded)
      val unfiltered = bodyOf(stub, s"POST $path/plan")
      assert(!Seq("filter", "min-rows-requested", "stats-fields").exists(unfiltered.has))
      assert(stub.requests.last.headers("x-iceberg-access-delegation") == "vended-credentials")
    }
  }

  test(
    "a filter on geometries is sent only as not-null and without a row limit, and is then applied to files and rows"
  ) {
    val columns = schema.copy(fields = schema.fields :+ NestedField.optional(3, "g", GeometryType(DefaultCrs)))
    val spatial = NewTable(columns, byCategory().partitioning, Vector.empty, location, Map("format-version" -> "3"))
      .metadata(new UUID(0, 7), 1000L)
    def at(name: String, x: Double): ContentFile = {
      val bound = Some(Map(3 -> PointBound(x, x, None, None).encode))
      data(name).copy(metrics = MetricMaps(lowerBounds = bound, upperBounds = bound))
    }
    withServer { stub =>
      stub.on(s"GET $path")(table(spatial, s"$location/metadata/00000-a.metadata.json"))
      val residual = """{"type":"not-null","term":"g"}"""
      stub.on(s"POST $path/plan")(completed(result(Seq(
        task(at("near", 1), residual = residual),
        task(at("far", 9), residual = residual),
        task(data("unknown"), residual = "true")
      ))))
      val box = BoundingBox(0, 0, 2, 2)
      def requested(filter: Expression, minRows: Option[Long] = None): (ScanPlan, JsonValue) =
        (plan(load(stub), filter, minRows), bodyOf(stub, s"POST $path/plan"))
      val id = GreaterThan(Named("id"), LongLiteral(3))
      val (planned, body) = requested(And(BoxIntersects(Named("g"), box), id), Some(7))
      assert(body("filter").json == """{"type":"and","left":{"type":"not-null","term":"g"},""" +
        """"right":{"type":"gt","term":"id","value":3}}""")
      assert(!body.has("min-rows-requested") && body("stats-fields").map(_.string) == Vector("id", "g"))
      assert(planned.tasks.map(_.file.path) == Vector("near", "unknown").map(data(_).path))
      assert(planned.tasks.forall(_.residual == planned.filter) && planned.filter.toString.contains("INTERSECTS"))
      val (other, negated) = requested(Or(Not(BoxIntersects(Named("g"), box)), id))
      assert(negated("filter")("left").json == residual && other.tasks.size == 3)
      val part = Equal(Part(Named("g"), Vector("a"), LongType), LongLiteral(1))
      assert(ServerScan.expressible(And(part, id)) == id && ServerScan.expressible(Or(part, id)) == AlwaysTrue)
    }
  }

  test("a filter that matches no row is planned without a request") {
    withServer { stub =>
      val empty = plan(load(stub), AlwaysFalse)
      assert(empty.tasks.isEmpty && empty.report.resultFiles == 0 && !stub.lines.exists(_.startsWith("POST")))
    }
  }

  test("a data file gets its own deletion vector, even if its task refers to another vector of the same Puffin file") {
    def vector(offset: Long, dataFile: String): ContentFile = deletes("v", Content.PositionDeletes).copy(
      format = FileFormat.Puffin,
      contentOffset = Some(offset),
      contentSizeInBytes = Some(40),
      referencedDataFile = Some(data(dataFile).path)
    )
    withServer { stub =>
      val vectors = Seq(vector(4, "a"), vector(44, "b"))
      val tasks = Seq("a", "b").map(name => task(data(name), Seq(1)))
      stub.on(s"POST $path/plan")(completed(result(tasks, deletes = vectors)))
      val planned = plan(load(stub))
      assert(planned.tasks.map(_.deletes.map(_.file.contentOffset)) == Vector(Vector(Some(4)), Vector(Some(44))))
      val others = vectors.map(_.copy(referencedDataFile = Some("x")))
      stub.on(s"POST $path/plan")(completed(result(tasks, deletes = others)))
      assert(intercept[InvalidMetadata](plan(load(stub))).path == "$.file-scan-tasks[0].delete-file-references[0]")
    }
  }

  test("a submitted plan is requested after doubling wait times until it is completed") {
    withServer { stub =>
      stub.on(s"POST $path/plan")(submitted("p1"))
      stub.on(s"GET $path/plan/p1")(
        submitted("p1"),
        json("""{"status":"submitted"}"""),
        completed(result(Seq(task(data("a")))))
      )
      assert(plan(load(stub)).tasks.map(_.file.path) == Vector(data("a").path))
      assert(stub.waits == Vector(1000L, 2000L))
      assert(!stub.lines.exists(_.startsWith("DELETE")))
    }
  }

  test("a plan that is not completed in time is cancelled, and the error names the settings") {
    def failure(properties: (String, String)*): (String, Vector[Long]) = {
      var observed: (String, Vector[Long]) = ("", Vector.empty)
      withServer { stub =>
        stub.on(s"POST $path/plan")(submitted("p1")).on(s"GET $path/plan/p1")(submitted("p1"))
        val error = intercept[StorageFailed](plan(load(stub, properties: _*)))
        assert(stub.lines.last == s"DELETE $path/plan/p1")
        observed = (error.reason, stub.waits)
      }
      observed
    }
    val (byRetries, waits) = failure("rest-scan-planning.poll-num-retries" -> "2")
    assert(byRetries.contains("rest-scan-planning.poll-num-retries (2)") && waits == Vector(1000L, 2000L))
    val (byTime, short) = failure("rest-scan-planning.poll-timeout-ms" -> "1500")
    assert(byTime.contains("rest-scan-planning.poll-timeout-ms (1500)") && short == Vector(1000L))
  }

  test("a failed, cancelled or unknown plan is an error, and a failed or cancelled plan is not cancelled again") {
    val error = """{"message":"too many files","type":"PlanningException","code":500}"""
    val replies = Seq(
      json(s"""{"status":"failed","plan-id":"p1","error":$error}""") -> "PlanningException: too many files",
      json("""{"status":"cancelled","plan-id":"p1"}""") -> "cancelled the plan p1",
      refuse(404, "NoSuchPlanIdException", "no plan p1") -> "no plan p1"
    )
    replies.foreach { case (reply, text) =>
      withServer { stub =>
        stub.on(s"POST $path/plan")(submitted("p1")).on(s"GET $path/plan/p1")(reply)
        assert(intercept[IcebergError](plan(load(stub))).getMessage.contains(text), text)
        assert(stub.lines.exists(_.startsWith("DELETE")) == (text == "no plan p1"), text)
      }
      withServer { stub =>
        stub.on(s"POST $path/plan")(reply)
        intercept[IcebergError](plan(load(stub)))
        assert(!stub.lines.exists(_.startsWith("DELETE")), text)
      }
    }
  }

  test("invalid plans are rejected with the place of the error") {
    val puffin = deletes("v", Content.PositionDeletes).copy(format = FileFormat.Puffin)
    val vector = puffin.copy(contentOffset = Some(4), contentSizeInBytes = Some(40))
    val withoutKeys = deletes("e", Content.EqualityDeletes).copy(equalityIds = Vector.empty)
    val sharedVector = result(Seq(task(data("a"), Seq(0)), task(data("b"), Seq(0))), deletes = Seq(vector))
    val invalid = Seq(
      json("""{"status":"done"}""") -> "$.status",
      json("""{"status":"submitted"}""") -> "$.plan-id",
      json("[]") -> "$",
      completed(result(Seq(task(data("a"), Seq(0))))) -> "$.file-scan-tasks[0].delete-file-references[0]",
      completed(result(Seq(task(deletes("a", Content.PositionDeletes))))) -> "$.file-scan-tasks[0].data-file.content",
      completed(result(Nil, deletes = Seq(data("a")))) -> "$.delete-files[0].content",
      completed(result(Nil, deletes = Seq(puffin))) -> "$.delete-files[0]",
      completed(result(Seq(task(data("a")).replace("\"spec-id\":0", "\"spec-id\":9")))) ->
        "$.file-scan-tasks[0].data-file.spec-id",
      completed(result(Seq(task(data("a"), residual = """{"type":"eq","term":"x","value":1}""")))) ->
        "$.file-scan-tasks[0].residual-filter.term",
      completed(result(Seq("7"))) -> "$.file-scan-tasks[0]",
      completed(result(Seq(task(data("a")), task(data("a"))))) -> "$.file-path",
      completed(result(Seq(task(data("a").copy(path = "file:/etc/passwd"))))) -> "$.file-path",
      completed(result(Seq(task(data("a"), Seq(0))), deletes = Seq(withoutKeys))) -> "$.equality_ids",
      completed(sharedVector) -> "$.referenced-data-file",
      completed(result(Seq(task(data("a")).replaceFirst("\"partition\":\\{[^}]*\\},", "")))) ->
        "$.file-scan-tasks[0].data-file"
    )
    invalid.foreach { case (reply, place) =>
      withServer { stub =>
        stub.on(s"POST $path/plan")(reply)
        assert(intercept[InvalidMetadata](plan(load(stub))).path == place)
      }
    }
  }

  test("bounds that are not hexadecimal are ignored") {
    withServer { stub =>
      def bound(value: Byte): ByteBuffer = ByteBuffer.wrap(Array(value))
      val file = data("a").copy(metrics = MetricMaps(lowerBounds = Some(Map(1 -> bound(1), 2 -> bound(2)))))
      stub.on(s"POST $path/plan")(completed(result(Seq(task(file).replace("\"01\"", "\"1\"")))))
      assert(plan(load(stub)).tasks.map(_.file.metrics.lowerBounds) == Vector(Some(Map(2 -> bound(2)))))
    }
  }

  test("a plan is cancelled if its response is invalid, or if the thread is interrupted during a request") {
    withServer { stub =>
      stub.on(s"POST $path/plan")(completed(result(Seq("7")), ""","plan-id":"p1""""))
      intercept[InvalidMetadata](plan(load(stub)))
      assert(stub.lines.last == s"DELETE $path/plan/p1")
    }
    withServer { stub =>
      val planning = Thread.currentThread
      val interrupting = new Reply {
        override def send(exchange: HttpExchange): Unit = {
          planning.interrupt()
          Thread.sleep(200)
          submitted("p1").send(exchange)
        }
      }
      stub.on(s"POST $path/plan")(submitted("p1")).on(s"GET $path/plan/p1")(interrupting, submitted("p1"))
      val planned = Try(plan(load(stub)))
      assert(Thread.interrupted() && planned.isFailure)
      assert(stub.lines.contains(s"DELETE $path/plan/p1"))
    }
  }

  test("a plan whose tasks repeat or never end is rejected and cancelled") {
    withServer { stub =>
      val endless = json(s"{${result(Nil, Seq("again"))}}")
      stub.on(s"POST $path/plan")(completed(result(Nil, Seq("again")), ""","plan-id":"p1""""))
      stub.on(s"POST $path/tasks")(endless)
      assert(intercept[StorageFailed](plan(load(stub))).reason.contains("a plan task twice"))
      assert(stub.lines.last == s"DELETE $path/plan/p1")
      val tasks = (1 to 100).map(i => json(s"{${result(Nil, Seq(s"t$i"))}}"))
      stub.on(s"POST $path/tasks")(tasks: _*)
      val planner = load(stub).version.planner match {
        case Some(planning: RestScanPlanning) => planning.limitedTo(5)
        case other => fail(other.toString)
      }
      val scan = ServerScan(load(stub).tree(), planner, 5, AlwaysTrue, caseSensitive = true)
      assert(intercept[StorageFailed](scan.plan(None)).reason.contains("more than 5 plan tasks"))
    }
  }

  test("files are read with the credentials of the plan, or with those of the table if the plan has none") {
    withServer { stub =>
      val keys = """{"s3.access-key-id":"AK2","s3.secret-access-key":"s3cret"}"""
      val credentials = s""","storage-credentials":[{"prefix":"s3://bucket","config":$keys}]"""
      stub.on(s"POST $path/plan")(completed(result(Nil), credentials), completed(result(Nil)))
      val loaded = load(stub)
      plan(loaded).io match {
        case Some(io: HadoopFileIO) => assert(io.configuration.get("fs.s3a.access.key") == "AK2")
        case other => fail(other.toString)
      }
      assert(plan(loaded).io.isEmpty)
      val wrong = credentials.replace(keys, "\"s3cret\"")
      stub.on(s"POST $path/plan")(completed(result(Nil), wrong))
      assert(!intercept[InvalidMetadata](plan(loaded)).getMessage.contains("s3cret"))
    }
  }

  test("credentials in a plan replace the keys of the table if their prefix contains the table or is inside it") {
    withServer { stub =>
      val ofTable = """{"s3.access-key-id":"AK1","s3.secret-access-key":"x","s3.session-token":"st"}"""
      stub.on(s"GET $path")(table(metadata, s"$location/m.metadata.json", s""","config":$ofTable"""))
      def keys(prefix: String): (String, Option[String]) = {
        val ofPlan = """{"s3.access-key-id":"AK2","s3.secret-access-key":"y"}"""
        val credentials = s""","storage-credentials":[{"prefix":"$prefix","config":$ofPlan}]"""
        stub.on(s"POST $path/plan")(completed(result(Nil), credentials))
        plan(load(stub)).io match {
          case Some(io: HadoopFileIO) =>
            (io.configuration.get("fs.s3a.access.key"), Option(io.configuration.get("fs.s3a.session.token")))
          case other => fail(other.toString)
        }
      }
      assert(Seq("s3://bucket", s"$location/data/").map(keys) == Seq(("AK2", None), ("AK2", None)))
      assert(keys("s3://other/") == (("AK1", Some("st"))))
    }
  }

  test("a token for Google Cloud Storage in a plan replaces the token of the table, also for directories inside it") {
    withServer { stub =>
      val place = "gs://bucket/db/t"
      val ofTable = """{"gcs.oauth2.token":"T1","gcs.oauth2.token-expires-at":"1"}"""
      val inBucket = metadata.edited(location = place)
      stub.on(s"GET $path")(table(inBucket, s"$place/m.metadata.json", s""","config":$ofTable"""))
      def token(prefix: String): (String, String) = {
        val credentials =
          s""","storage-credentials":[{"prefix":"$prefix","config":{"gcs.oauth2.token":"T2"}}]"""
        stub.on(s"POST $path/plan")(completed(result(Nil), credentials))
        plan(load(stub)).io match {
          case Some(io: HadoopFileIO) =>
            val keys = Seq("token.secret", "token-expires-at-ms").map(key => s"iceberglite.gcs.$key")
            (io.configuration.get(keys.head), io.configuration.get(keys.last))
          case other => fail(other.toString)
        }
      }
      assert(Seq("gs://bucket", s"$place/data/").map(token) == Seq(("T2", ""), ("T2", "")))
      assert(token("gs://other/") == (("T1", "1")))
    }
  }

  test("scan-planning-mode in the config of a table takes precedence over the property of the catalog") {
    withServer { stub =>
      def isServerPlanned(ofTable: String, properties: (String, String)*): Boolean = {
        stub.on(s"GET $path")(table(metadata, s"$location/m.metadata.json", s""","config":{$ofTable}"""))
        stub.on(new HadoopFileIO(new Configuration(false)), properties: _*).table(id).version.planner.isDefined
      }
      def mode(value: String) = s""""scan-planning-mode":"$value""""
      assert(isServerPlanned(mode("server")) && isServerPlanned(mode("SERVER"), "scan-planning-mode" -> "client"))
      assert(!isServerPlanned(mode("client"), "scan-planning-mode" -> "server") && !isServerPlanned(""))
      assert(intercept[InvalidArgument](isServerPlanned(mode("x"))).name.contains("table lite.db.t"))
    }
  }
}
