package iceberglite.catalog

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table._
import iceberglite.table.TestTables._

/** Tests which files outside of the table's directory `DROP TABLE ... PURGE` deletes, and which it keeps. */
class OwnedLocationsSuite extends AnyFunSuite with HostileTables {

  private def bucket: Path = directory.resolve("bucket")

  /** Creates a table with a data file below the given path, purges it, and returns whether the file was deleted. */
  private def purgeDeletes(catalog: Catalog, path: String, properties: (String, String)*): Boolean = {
    val creation = unpartitioned(properties :+ ("write.data.path" -> s"file:$bucket/$path"): _*)
    val file = data(s"file:$bucket/$path", s"${System.nanoTime}.parquet")
    append(catalog.create(Evil, creation), file)
    assert(catalog.drop(Evil, purge = true))
    val isDeleted = !io.exists(file)
    io.delete(file)
    isDeleted
  }

  test("data outside the table is deleted only below owned-locations, in a directory with the table's name") {
    val setting = "owned-locations" -> s"file:$directory/other, file:$bucket/"
    for (catalog <- Seq(jdbc("a", setting), hadoop(setting))) {
      assert(purgeDeletes(catalog, "db/evil"))
      assert(purgeDeletes(catalog, "db/evil/data/deep"))
      assert(purgeDeletes(catalog, "0101/1001/1010/01101110/db/evil"))
      Seq("db/evil2", "db/victim", "db", "evil", "x/db/evil", "db.evil").foreach(path =>
        assert(!purgeDeletes(catalog, path), path)
      )
      catalog.close()
    }
  }

  test("only the table that a property owned-locations.<table> names owns the directories of this property") {
    val catalog =
      jdbc("a", "owned-locations.db.evil" -> s"file:$bucket/x,file:$bucket/y", "owned-locations.db.z" -> s"$bucket/z")
    assert(purgeDeletes(catalog, "x") && purgeDeletes(catalog, "y/data"))
    assert(!purgeDeletes(catalog, "z") && !purgeDeletes(catalog, "xy"))
    catalog.close()
  }

  test("a purge keeps data outside the table if the catalog has no owned-locations property") {
    val catalog = jdbc("a")
    assert(!purgeDeletes(catalog, "db/evil"))
    catalog.close()
  }

  test("a purge keeps another table's files below owned-locations, even if the purged table references them") {
    val catalog = jdbc("a", "owned-locations" -> s"file:$bucket")
    val creation = unpartitioned("write.data.path" -> s"file:$bucket/db/victim")
    val victim = catalog.create(Victim, creation)
    append(victim, data(s"file:$bucket/db/victim"), data(s"file:$bucket/db/victim/data"))
    for (name <- Seq(Evil, TableIdentifier(Vector("db", "victim"), "data"), TableIdentifier(Vector.empty, "db"))) {
      catalog.register(name, forged(withNewUuid(catalog.table(Victim).metadata)))
      assertFilesKept(catalog.drop(name, purge = true), isDatabase)
    }
    catalog.close()
  }

  test("purging a table at a custom location deletes its files only if its metadata is below the location") {
    val catalog = jdbc("a")
    val at = s"file:$directory/elsewhere/t"
    filled(catalog, Evil, unpartitioned().copy(location = Some(at)))
    assert(catalog.drop(Evil, purge = true) && FilesBelow.of(directory.resolve("elsewhere")).isEmpty)
    val separate = filled(
      catalog,
      Evil,
      unpartitioned("write.metadata.path" -> s"file:$directory/metadata").copy(location = Some(at))
    )
    assertFilesKept(catalog.drop(Evil, purge = true), isDatabase)
    assert(io.exists(s"${separate.location}/data/x.parquet"))
    catalog.close()
  }

  test("purging a table in the directory of a dropped table keeps the files of the dropped table") {
    val catalog = jdbc("a")
    val first = filled(catalog, Evil)
    val filesBefore = FilesBelow.of(warehouse)
    catalog.drop(Evil, purge = false)
    val second = catalog.create(Evil, unpartitioned())
    append(second, data(s"${second.location}/data", "new.parquet"))
    assert(second.location == first.location && catalog.drop(Evil, purge = true))
    assert(FilesBelow.of(warehouse) == filesBefore)
    catalog.close()
  }

  test("the report of a purge contains the number of kept files and an example for each reason") {
    val catalog = jdbc("a")
    val table = filled(catalog, Evil)
    val version = append(table, data(s"file:$bucket"), s"${table.location}/../x").version
    val deletion = new OwnedDeletion(io, OwnedPaths.of(io, version, catalog.ownership(Evil, version)))
    val report = deletion(liveFiles(io, version.metadata, version.metadata.currentSnapshot))
    assert(report.deleted == 2)
    assert(report.kept.map(k => k.reason -> k.count).toMap == Map(KeptReason.Outside -> 1, KeptReason.UnclearPath -> 1))
    assert(report.kept.forall(_.example.nonEmpty) && (report ++ report).kept.map(_.count) == Vector(2, 2))
    catalog.close()
  }

  test("a file that the storage fails to delete is reported, and the other files are deleted") {
    val catalog = jdbc("a")
    val table = filled(catalog, Evil)
    val version = table.version
    val files = liveFiles(io, version.metadata, version.metadata.currentSnapshot)
    val failing = new FileIOWrapper(io) {
      override def delete(path: String): Unit =
        if (path == files.head) throw StorageFailed.at("delete", path, "by the test") else super.delete(path)
    }
    val deletion = new OwnedDeletion(failing, OwnedPaths.of(failing, version, catalog.ownership(Evil, version)))
    val report = deletion(files)
    assert(report.deleted == files.size - 1 && files.size > 1)
    assert(report.kept == Vector(RetainedFiles(KeptReason.NotDeleted, 1L, files.head)))
    assert(io.exists(files.head) && files.tail.forall(!io.exists(_)))
    catalog.close()
  }
}
