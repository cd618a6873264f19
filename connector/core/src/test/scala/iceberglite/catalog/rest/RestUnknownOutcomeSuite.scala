package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.table.NewTable
import iceberglite.spec.update.MetadataUpdate.{AssignUuid, SetProperties}
import iceberglite.spec.update.Requirement.{AssertCreate, AssertTableUuid}
import iceberglite.table.{Change, TableIdentifier, TableVersion}
import iceberglite.table.TestTables.schema

/** Tests that a commit whose files the table may need is never reported as failed. */
class RestUnknownOutcomeSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")
  private val path = "/v1/namespaces/db/tables/t"
  private val uuid = new UUID(0, 7)
  private val empty = NewTable(schema, Vector.empty, Vector.empty, "mem://wh/db/t", Map.empty).metadata(uuid, 1000L)
  private val first = "mem://wh/db/t/metadata/00000-a.metadata.json"
  private val base = TableVersion(empty, first)
  private val properties = Change(Vector(SetProperties(Map("a" -> "b"))), Vector(AssertTableUuid(uuid)))
  private val fewRetries = "rest.client.max-retries" -> "2"

  test("the outcome is unknown if it cannot be checked whether an earlier attempt created the table") {
    withStub { stub =>
      val creation = Change(Vector(AssignUuid(uuid)), Vector(AssertCreate))
      for (check <- Seq(refuse(500, "x", "down"), refuse(404, "NoSuchTableException", "none"))) {
        stub.on(s"GET $path")(check)
        stub.on(s"POST $path")(refuse(503, "x", "busy"), refuse(409, "AlreadyExistsException", "there"))
        intercept[CommitStateUnknown](stub.catalog(fewRetries).commit(id, None, creation))
      }
    }
  }

  test("the outcome is unknown if the committed table has a format version that is not supported") {
    withStub { stub =>
      val newer = new String(TableMetadataJson.write(empty), UTF_8)
        .replaceFirst(""""format-version":\d""", """"format-version":9""")
      stub.on(s"POST $path")(json(s"""{"metadata-location":"$first","metadata":$newer}"""))
      intercept[CommitStateUnknown](stub.catalog(fewRetries).commit(id, Some(base), properties))
    }
  }
}
