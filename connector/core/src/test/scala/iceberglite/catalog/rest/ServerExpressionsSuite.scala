package iceberglite.catalog.rest

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.rest.StubServer._
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.partition.{Bucket, UnboundPartitionField}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.table._
import iceberglite.table.TestTables._

/** Tests [[ServerExpressions]], which rejects tables of version 4 with partition transforms in REST catalogs. */
class ServerExpressionsSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")

  test("a version 4 table with a partition transform can be neither created nor the result of an upgrade") {
    withStub { stub =>
      val byBucket = Vector(UnboundPartitionField(Vector(schema.fields.head.name), Bucket(4)))
      val creation = unpartitioned("format-version" -> "4").copy(partitioning = byBucket)
      val catalog = stub.catalog()
      intercept[Unsupported](catalog.create(id, creation))
      intercept[Unsupported](catalog.stage(id, creation, StageMode.Create))
      val (v3, now) = (creation.copy(properties = Map("format-version" -> "3")), 1L)
      val start = new TableStart.Creation(v3, StageMode.Create, "s3://b/t", UUID.randomUUID)
      val base = TableVersion(start.initialState("t", None, now).metadata, "s3://b/t/metadata/1.metadata.json")
      val upgrade = Change(Vector(MetadataUpdate.UpgradeFormatVersion(FormatVersion.V4)), Vector.empty)
      intercept[Unsupported](catalog.commit(id, Some(base), upgrade))
      assert(!stub.lines.exists(_.startsWith("POST")))
    }
  }

  test("changes of expressions are rejected before a request is sent, because REST has no update for them") {
    withStub { stub =>
      val start = new TableStart.Creation(
        unpartitioned("format-version" -> "4"),
        StageMode.Create,
        "s3://b/t",
        UUID.randomUUID
      )
      val base = TableVersion(start.initialState("t", None, 1L).metadata, "s3://b/t/metadata/1.metadata.json")
      Seq(
        MetadataUpdate.AddExpression(Vector(1), Bucket(4), "b"),
        MetadataUpdate.CopyExpressions(Vector.empty),
        MetadataUpdate.RemoveExpression(3)
      ).foreach { u =>
        val error = intercept[Unsupported](stub.catalog().commit(id, Some(base), Change(Vector(u), Vector.empty)))
        assert(error.what.startsWith("changing the expressions"))
      }
      assert(!stub.lines.exists(_.startsWith("POST")))
    }
  }
}
