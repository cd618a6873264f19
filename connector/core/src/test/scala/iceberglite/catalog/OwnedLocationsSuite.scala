package iceberglite.catalog

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table._
import iceberglite.table.TestTables._

/** Purges of tables with files outside their directory: which of these files are deleted, and which are kept. */
class OwnedLocationsSuite extends AnyFunSuite with HostileTables {

  private def bucket: Path = directory.resolve("bucket")

  /** Creates a table with data at a path, purges it, and returns whether the data was deleted. */
  private def purgeDeletes(catalog: Catalog, path: String, properties: (String, String)*): Boolean = {
    val creation = unpartitioned(properties :+ ("write.data.path" -> s"file:$bucket/$path"): _*)
    val file = data(s"file:$bucket/$path", s"${System.nanoTime}.parquet")
    append(catalog.create(Evil, creation), file)
    assert(catalog.drop(Evil, purge = true))
    val gone = !io.exists(file)
    io.delete(file)
    gone
  }

  test("data outside the table is deleted only below the catalog's prefixes, in the directory with the table's name") {
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

  test("directories that the properties assign to one table are owned by that table") {
    val catalog =
      jdbc("a", "owned-locations.db.evil" -> s"file:$bucket/x,file:$bucket/y", "owned-locations.db.z" -> s"$bucket/z")
    assert(purgeDeletes(catalog, "x") && purgeDeletes(catalog, "y/data"))
    assert(!purgeDeletes(catalog, "z") && !purgeDeletes(catalog, "xy"))
    catalog.close()
  }

  test("without properties, data outside the table is kept") {
    val catalog = jdbc("a")
    assert(!purgeDeletes(catalog, "db/evil"))
    catalog.close()
  }

  test("another table below a prefix keeps its files, whatever the metadata says") {
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

  test("a table at a custom location is purged, and one with metadata elsewhere keeps its files") {
    val catalog = jdbc("a")
    val at = s"file:$directory/elsewhere/t"
    filled(catalog, Evil, unpartitioned().copy(location = Some(at)))
    assert(catalog.drop(Evil, purge = true) && FilesBelow.of(directory.resolve("elsewhere")).isEmpty)
    val apart = filled(
      catalog,
      Evil,
      unpartitioned("write.metadata.path" -> s"file:$directory/metadata").copy(location = Some(at))
    )
    assertFilesKept(catalog.drop(Evil, purge = true), isDatabase)
    assert(io.exists(s"${apart.location}/data/x.parquet"))
    catalog.close()
  }

  test("purging a table in the directory of a dropped table keeps the files of the dropped table") {
    val catalog = jdbc("a")
    val first = filled(catalog, Evil)
    val kept = FilesBelow.of(warehouse)
    catalog.drop(Evil, purge = false)
    val second = catalog.create(Evil, unpartitioned())
    append(second, data(s"${second.location}/data", "new.parquet"))
    assert(second.location == first.location && catalog.drop(Evil, purge = true))
    assert(FilesBelow.of(warehouse) == kept)
    catalog.close()
  }

  test("files that are kept are reported with the reason") {
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

  test("a file that the storage fails to delete is reported, and the others are deleted") {
    val catalog = jdbc("a")
    val table = filled(catalog, Evil)
    val version = table.version
    val files = liveFiles(io, version.metadata, version.metadata.currentSnapshot)
    val failing = new FileIOWrapper(io) {
      override def delete(path: String): Unit =
        if (path == files.head) throw StorageFailed("delete", path, "Access denied") else super.delete(path)
    }
    val deletion = new OwnedDeletion(failing, OwnedPaths.of(failing, version, catalog.ownership(Evil, version)))
    val report = deletion(files)
    assert(report.deleted == files.size - 1 && files.size > 1)
    assert(report.kept == Vector(RetainedFiles(KeptReason.NotDeleted, 1L, files.head)))
    assert(io.exists(files.head) && files.tail.forall(!io.exists(_)))
    catalog.close()
  }
}
