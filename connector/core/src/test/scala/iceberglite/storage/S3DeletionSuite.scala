package iceberglite.storage

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.Catalogs
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.table._

/** Tests the deletion of many files on an S3 store that counts the requests and refuses some deletions. */
class S3DeletionSuite extends AnyFunSuite {
  private val id = TableIdentifier(Vector("db"), "t")

  private def createTable(store: StubS3): Table =
    Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> "s3://b/wh"), S3Storage.files(store.settings))
      .create(id, TableCreation(Schema(0, Vector(NestedField.optional(1, "id", LongType)))))

  private def deletion(table: Table): OwnedDeletion = {
    val owned = OwnedPaths.of(table.io, table.version, table.committer.ownership(table.id, table.version))
    new OwnedDeletion(table.io, owned, environment = TestTables.environment)
  }

  /** Stores data files of a table. @return their paths */
  private def addFiles(store: StubS3, table: Table, count: Int): Vector[String] = {
    val paths = (1 to count).map(i => s"${table.location}/data/p=a%20b/ü $i.parquet").toVector
    store.add(paths.map(keyOf))
    paths
  }

  private def keyOf(path: String): String = path.replaceFirst("^s3a?:/", "")

  test("1,500 files of a table are deleted by two requests") {
    StubS3.run { store =>
      val table = createTable(store)
      val paths = addFiles(store, table, 1500)
      store.deleted.clear()
      assert(deletion(table)(paths) == DeletionReport(1500, Vector.empty))
      assert(store.deleted.size == 2 && !store.keys.exists(_.endsWith(".parquet")))
    }
  }

  test("the deletions that the store refuses are repeated, and the other files are not requested again") {
    StubS3.run { store =>
      val table = createTable(store)
      val paths = addFiles(store, table, 20)
      val refused = paths.slice(3, 6)
      refused.foreach(path => store.refusedDeletions.put(keyOf(path), 2))
      store.deleted.clear()
      assert(deletion(table)(paths) == DeletionReport(20, Vector.empty))
      val counts = store.deleted.toArray.map(request => "<Key>".r.findAllIn(request.toString).size)
      assert(counts.toSeq == Seq(20, 3, 3) && !store.keys.exists(_.endsWith(".parquet")))
    }
  }

  test("a file whose deletion the store always refuses is reported as not deleted, and the other files are deleted") {
    StubS3.run { store =>
      val table = createTable(store)
      val paths = addFiles(store, table, 20)
      store.refusedDeletions.put(keyOf(paths(7)), Int.MaxValue)
      val report = deletion(table)(paths)
      assert(report == DeletionReport(19, Vector(RetainedFiles(KeptReason.NotDeleted, 1L, paths(7)))))
      assert(store.keys.filter(_.endsWith(".parquet")) == Set(keyOf(paths(7))))
    }
  }

  test("with s3.delete-enabled=false, a bulk deletion deletes nothing") {
    StubS3.run { store =>
      val paths = (1 to 3).map(i => s"s3://b/wh/t/data/$i.parquet").toVector
      store.add(paths.map(keyOf))
      val io = S3Storage.files(store.settings + ("s3.delete-enabled" -> "false"))
      assert(io.deleteAll(paths).isEmpty && store.deleted.isEmpty && store.keys == paths.map(keyOf).toSet)
    }
  }

  test("with fs.s3a.multiobjectdelete.enable=false, each file is deleted by its own request") {
    StubS3.run { store =>
      val paths = (1 to 3).map(i => s"s3://b/wh/t/data/$i.parquet").toVector
      store.add(paths.map(keyOf))
      val io = S3Storage.files(store.settings + ("hadoop.fs.s3a.multiobjectdelete.enable" -> "false"))
      assert(io.deletionGroups(paths) == paths.map(Vector(_)))
      assert(io.deleteAll(paths).isEmpty && !store.keys.exists(_.endsWith(".parquet")))
    }
  }

  test("if the store does not support bulk deletion, each file is deleted by its own request") {
    val responses =
      Seq(400 -> "MalformedXML", 404 -> "NoSuchKey", 405 -> "MethodNotAllowed", 501 -> "NotImplemented")
    responses.foreach { case (status, code) =>
      StubS3.run { store =>
        val paths = (1 to 3).map(i => s"s3://b/wh/t/data/$i.parquet").toVector
        store.add(paths.map(keyOf))
        store.refusesBulkDeletion = Some(StubS3.Refuses(status, code))
        store.refusedDeletions.put(keyOf(paths(1)), 1)
        assert(S3Storage.files(store.settings).deleteAll(paths).map(_.path) == Vector(paths(1)))
        assert(store.keys == Set(keyOf(paths(1))) && store.deleted.size == 3)
      }
    }
  }

  test("if an error of a bulk deletion names none of the files, all files are reported as not deleted") {
    Seq[String => String](_ => "", name => s"other/$name").foreach { reportedKey =>
      StubS3.run { store =>
        val paths = (1 to 3).map(i => s"s3://b/wh/t/data/$i.parquet").toVector
        store.add(paths.map(keyOf))
        store.reportedKey = reportedKey
        store.refusedDeletions.put(keyOf(paths(1)), 1)
        assert(S3Storage.files(store.settings).deleteAll(paths).map(_.path) == paths)
        assert(S3Storage.files(store.settings).deleteAll(paths).isEmpty && store.keys.isEmpty)
      }
    }
  }

  test("other errors of a bulk deletion are reported for each file, and no file is deleted") {
    StubS3.run { store =>
      val paths = (1 to 3).map(i => s"s3://b/wh/t/data/$i.parquet").toVector
      store.add(paths.map(keyOf))
      store.refusesBulkDeletion = Some(StubS3.Refuses(403, "AccessDenied"))
      assert(S3Storage.files(store.settings).deleteAll(paths).map(_.path) == paths)
      assert(store.keys == paths.map(keyOf).toSet && store.deleted.size == 1)
    }
  }

  test("an error of the whole request is reported for each file") {
    val io = StubS3.run(store => S3Storage.files(store.settings))
    val paths = Vector("s3://b/wh/t/data/1.parquet", "s3://b/wh/t/data/2.parquet")
    assert(io.deleteAll(paths).map(_.path) == paths)
  }
}
