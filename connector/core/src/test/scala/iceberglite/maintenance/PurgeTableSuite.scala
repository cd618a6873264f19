package iceberglite.maintenance

import java.io.InputStream

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.{Actions, KeptReason, RetainedFiles, TableOwnership}
import iceberglite.table.TestTables.file
import iceberglite.tree.{SeenParts, TreeReader}

/** Tests [[PurgeTable]], which deletes the files of a table for `DROP TABLE ... PURGE`. */
class PurgeTableSuite extends AnyFunSuite {
  private val ownership = TableOwnership(Some("mem://t"), Vector("db", "t"))

  test("a manifest that cannot be read is kept and reported, and the files of the other manifests are deleted") {
    val actions = Actions.unpartitionedTable(FormatVersion.V2, "commit.manifest-merge.enabled" -> "false")
    val data = Vector("mem://t/data/a.parquet", "mem://t/data/b.parquet")
    data.foreach(actions.store.replace(_, Array.emptyByteArray))
    data.foreach(path => actions.append(file(path)))
    val table = actions.table
    val tree = new TreeReader(table.io, table.metadata)
    val snapshot = table.metadata.currentSnapshot.get
    val unreadable = tree.files(snapshot).reachable(new SeenParts).parts
      .find(_.entries(table.io).exists(_.file.path == data.head)).get.path
    val failing = new FileIOWrapper(table.io) {
      override def open(path: String): InputStream = { check(path); super.open(path) }
      override def read(path: String): Array[Byte] = { check(path); super.read(path) }
      private def check(path: String): Unit =
        if (path == unreadable) throw StorageFailed.at("read", path, "The service is not available")
    }
    val report = PurgeTable(failing, "db.t", table.version, ownership)
    assert(report.kept == Vector(RetainedFiles(KeptReason.Unread, 1, unreadable)))
    assert(actions.store.paths == Set(data.head, unreadable))
  }

  test("a purge deletes all files of a table, and reports their number") {
    val actions = Actions.unpartitionedTable(FormatVersion.V2)
    actions.store.replace("mem://t/data/a.parquet", Array.emptyByteArray)
    val table = actions.append(file("mem://t/data/a.parquet"))
    val files = actions.store.paths.size
    val report = PurgeTable(table.io, "db.t", table.version, ownership)
    assert(actions.store.paths.isEmpty && report.kept.isEmpty && report.deleted == files)
  }
}
