package iceberglite.catalog.rest

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.MetricsReport
import iceberglite.table.TableIdentifier

/** Tests which changes other than commits are sent again, and the errors if their outcome is unknown. */
class RestRetrySuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "/v1/namespaces/db/tables/t"
  private val first = "mem://wh/db/t/metadata/00000-a.metadata.json"

  test("a drop whose response is lost is not sent again, and the error says that it may have been applied") {
    withStub { stub =>
      val catalog = stub.catalog("view-endpoints-supported" -> "true")
      val drops = Seq[(String, () => Any)](
        s"DELETE $path" -> (() => catalog.drop(id, purge = false)),
        "DELETE /v1/namespaces/db" -> (() => catalog.dropNamespace(Vector("db"))),
        "DELETE /v1/namespaces/db/views/t" -> (() => catalog.dropView(id))
      )
      drops.foreach { case (request, drop) =>
        Seq(broken, answer(502), answer(504), refuse(503, "x", "busy")).foreach { lost =>
          stub.on(request)(lost, answer(204))
          val before = stub.lines.size
          intercept[StorageFailed](drop())
          assert(stub.lines.size == before + 1)
        }
        stub.on(request)(broken)
        assert(intercept[StorageFailed](drop()).reason.contains("may have applied"))
        stub.on(request)(
          refuse(503, "x", "busy").withHeader("Retry-After" -> "1"),
          refuse(404, "NoSuchTableException", "none")
        )
        assert(intercept[StorageFailed](drop()).reason.contains("may have applied"))
      }
    }
  }

  test("after a retry, the error for an existing or a missing object says that the change may have been applied") {
    withStub { stub =>
      val catalog = stub.catalog("view-endpoints-supported" -> "true")
      val busy = refuse(503, "x", "busy").withHeader("Retry-After" -> "1")
      val exists = refuse(409, "AlreadyExistsException", "there")
      val missing = refuse(404, "NoSuchTableException", "none")
      val changes = Seq[(String, Reply, () => Any)](
        ("POST /v1/namespaces", exists, () => catalog.createNamespace(Vector("a"), Map.empty)),
        ("POST /v1/namespaces/db/register", exists, () => catalog.register(id, first)),
        ("POST /v1/tables/rename", exists, () => catalog.rename(id, id.copy(name = "u"))),
        ("POST /v1/tables/rename", missing, () => catalog.rename(id, id.copy(name = "u"))),
        ("POST /v1/views/rename", missing, () => catalog.renameView(id, id.copy(name = "u")))
      )
      changes.foreach { case (request, rejection, change) =>
        stub.on(request)(busy, rejection)
        assert(intercept[StorageFailed](change()).reason.contains("may have applied"), request)
        stub.on(request)(rejection)
        intercept[Exception](change()) match {
          case _: AlreadyExists | _: NotFound => ()
          case other => fail(other)
        }
      }
    }
  }

  test("a metrics report without a response is not sent again, and the error does not mention a change") {
    withStub { stub =>
      val receiver = stub.catalog("rest-metrics-reporting-enabled" -> "true").serverReceiver.get
      val report = MetricsReport.OfCommit("lite.db.t", 1, 1, "append", Map.empty, Map.empty)
      Seq(broken, refuse(503, "x", "busy")).foreach { lost =>
        stub.on(s"POST $path/metrics")(lost, answer(204))
        val before = stub.lines.size
        val error = intercept[StorageFailed](receiver(id, report))
        assert(error.operation.contains("report metrics") && !error.reason.contains("may have applied"))
        assert(stub.lines.size == before + 1)
      }
    }
  }

  test("a change of namespace properties is not sent again if the server may have applied it") {
    withStub { stub =>
      stub.on("POST /v1/namespaces/db/properties")(refuse(503, "x", "busy"), json("{}"))
      intercept[StorageFailed](stub.catalog().alterNamespace(Vector("db"), Map("a" -> "b"), Set.empty))
      assert(stub.lines.size == 1)
    }
  }
}
