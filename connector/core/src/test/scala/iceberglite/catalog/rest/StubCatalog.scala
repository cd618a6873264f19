package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8

import com.sun.net.httpserver.HttpExchange

import iceberglite.catalog.Catalog
import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError.{CommitConflict, NotFound}
import iceberglite.spec.json.{JsonValue, MetadataUpdateJson, RequirementJson, SchemaJson, TableMetadataJson}
import iceberglite.spec.table.NewTable
import iceberglite.spec.update.Requirement
import iceberglite.table._

/**
 * Makes a stub server respond to requests for tables in the namespace `db` with the tables of another catalog.
 *
 * @param behind the catalog that contains the tables
 * @param vended the `config` object in the response for each table, as JSON
 */
final class StubCatalog(stub: StubServer, behind: Catalog, vended: String) {
  stub.on("GET /v1/namespaces/db")(json("""{"namespace":["db"]}"""))
  Seq("GET", "POST", "DELETE").foreach(method => stub.on(method)(new CatalogReply))

  final private class CatalogReply extends Reply {
    override def send(exchange: HttpExchange): Unit = {
      // Requests of other threads, such as metrics, may arrive at the same time.
      val line = s"${exchange.getRequestMethod} ${exchange.getRequestURI}"
      val request = stub.requests.filter(_.line == line).last
      val name = request.target.takeWhile(_ != '?').stripPrefix("/v1/namespaces/db/tables").stripPrefix("/")
      reply(request, TableIdentifier(Vector("db"), name)).send(exchange)
    }
  }

  private def reply(request: Request, id: TableIdentifier): Reply =
    try
      request.method match {
        case "DELETE" => answer(if (behind.drop(id, purge = false)) 204 else 404)
        case "POST" if id.name.isEmpty => created(JsonValue.parse("request", request.body))
        case "POST" =>
          val body = JsonValue.parse("request", request.body)
          val base = if (behind.tableExists(id)) Some(behind.load(id)) else None
          val change =
            Change(body("updates").map(MetadataUpdateJson.read), body("requirements").map(RequirementJson.read))
          tableReply(behind.commit(id, base, change))
        case _ => tableReply(behind.load(id))
      }
    catch {
      case missing: NotFound => refuse(404, "NoSuchTableException", missing.name)
      case conflict: CommitConflict => refuse(409, "CommitFailedException", conflict.reason)
    }

  private def created(body: JsonValue): Reply = {
    val id = TableIdentifier(Vector("db"), body.string("name"))
    val table =
      NewTable(SchemaJson.read(body("schema")), Vector.empty, Vector.empty, behind.defaultLocation(id), Map.empty)
    if (body("stage-create").boolean) {
      val metadata = new String(TableMetadataJson.write(table.metadata(new java.util.UUID(0, 1), 0L)), UTF_8)
      json(s"""{"metadata":$metadata,"config":$vended}""")
    } else {
      val updates = table.creation(java.util.UUID.randomUUID())
      tableReply(behind.commit(id, None, Change(updates, Vector(Requirement.AssertCreate))))
    }
  }

  private def tableReply(version: TableVersion): Reply =
    table(version.metadata, version.metadataLocation, s""","config":$vended""")
}
