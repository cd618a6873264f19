package iceberglite.storage

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.storage.StubS3._
import iceberglite.table.{Table, TableCreation, TableIdentifier}
import iceberglite.table.action.UpdateProperties

/** Tests commits on an S3 store that ignores conditional requests, reports errors or loses responses. */
class ConditionalPutSuite extends AnyFunSuite {
  private val path = "s3://b/wh/t/metadata/v1.metadata.json"
  private def content(text: String): Array[Byte] = text.getBytes("UTF-8")

  test("every commit to a store that ignores If-None-Match is rejected before anything is written") {
    StubS3.run { store =>
      store.honours = false
      val io = S3Storage.files(store.settings)
      (1 to 2).foreach { _ =>
        val error = intercept[Unsupported](io.createExclusively(path, content("x")))
        assert(error.getMessage.contains("does not support If-None-Match") && error.getMessage.contains(path))
        assert(
          error.getMessage.contains(store.endpoint) && error.getMessage.contains("Use a JDBC, REST or Hive catalog")
        )
      }
      assert(store.keys.isEmpty)
    }
  }

  test("a commit to a store that reports If-None-Match as not implemented is rejected") {
    StubS3.run { store =>
      store.faults.add(Refuses(501, "NotImplemented"))
      intercept[Unsupported](S3Storage.files(store.settings).createExclusively(path, content("x")))
    }
  }

  test("an exclusive create returns false if the object exists or another writer creates it at the same time") {
    StubS3.run { store =>
      val io = S3Storage.files(store.settings)
      store.faults.add(Refuses(409, "ConditionalRequestConflict"))
      assert(!io.createExclusively(path, content("x")) && store.keys.isEmpty)
      assert(io.createExclusively(path, content("x")) && !io.createExclusively(path, content("y")))
    }
  }

  test("a lost response, status 500 or status 503 leaves the outcome unknown, but status 403 is a failure") {
    StubS3.run { store =>
      val io = S3Storage.files(store.settings)
      Seq(FailsAfter, SilentAfter).zipWithIndex.foreach { case (fault, i) =>
        store.faults.add(fault)
        val error = intercept[CommitStateUnknown](io.createExclusively(s"$path.$i", content("x")))
        assert(error.getMessage.contains(s"$path.$i"))
      }
      store.faults.add(Refuses(503, "SlowDown"))
      intercept[CommitStateUnknown](io.createExclusively(s"$path.503", content("x")))
      store.faults.add(Refuses(403, "AccessDenied"))
      intercept[StorageFailed](io.createExclusively(s"$path.403", content("x")))
    }
  }

  private val id = TableIdentifier(Vector("db"), "t")
  private def catalog(store: StubS3): Catalog = Catalogs.open(
    "lite",
    Map("type" -> "hadoop", "warehouse" -> "s3://b/wh"),
    S3Storage.files(store.settings)
  )
  private def set(table: Table, key: String): Table =
    table.transaction().add(new UpdateProperties(Map(key -> "x"), Set.empty)).commit()

  test("a commit with a lost or wrong response is checked by reading the metadata file, and is applied once") {
    StubS3.run { store =>
      val lite = catalog(store)
      val table = lite.create(id, TableCreation(Schema(0, Vector(NestedField.optional(1, "id", LongType)))))
      val faults =
        Seq(FailsAfter, SilentAfter, Refuses(500, "InternalError"), Refuses(409, "ConditionalRequestConflict"))
      faults.zipWithIndex.foreach { case (fault, i) =>
        store.faults.add(fault)
        set(table, s"p$i")
      }
      val current = lite.table(id)
      assert(faults.indices.forall(i => current.properties.contains(s"p$i")))
      assert(current.metadataLocation.endsWith(s"v${faults.size + 1}.metadata.json"))
      assert(current.metadata.metadataLog.size == faults.size)
    }
  }
}
