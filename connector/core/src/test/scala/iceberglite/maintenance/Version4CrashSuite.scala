package iceberglite.maintenance

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.orphan.{LocalOrphanSearch, OrphanOptions, OrphanRemoval}
import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.file.ContentFile
import iceberglite.table.{Actions, ReachableFiles, ScriptedCommitter, Table}
import iceberglite.table.Actions.idBelow
import iceberglite.table.TestTables.{file, liveFiles}
import iceberglite.table.action.{DeleteFiles, FastAppend}
import iceberglite.tree.{ManifestCache, MetadataTree}

/** Tests commits of version 4 that are interrupted, or that contain several snapshots. */
class Version4CrashSuite extends AnyFunSuite {
  private def dataFile(number: Long): ContentFile =
    file(s"mem://t/data/f$number.parquet", ids = (number * 100, number * 100 + 99))

  /** A table with a leaf, a deletion vector of the leaf in a Puffin file, and a file in the root. */
  private def newTable(): Actions = {
    val t = Actions.unpartitionedTable(
      V4,
      "write.v4.single-commit-max-files" -> "1",
      "write.v4.root.max-vector-bytes" -> "1"
    )
    append(t, 1 to 6: _*)
    t.commit(new DeleteFiles(idBelow(200)))
    append(t, 7)
    t
  }

  private def append(t: Actions, numbers: Int*): Unit = {
    val files = numbers.map(n => dataFile(n.toLong))
    files.foreach(f => t.store.replace(f.path, Array.emptyByteArray))
    t.append(files: _*)
    ()
  }

  private def removeOrphans(table: Table): Set[String] = {
    val found = mutable.Set.empty[String]
    new OrphanRemoval(table, OrphanRemoval.directory(None), new LocalOrphanSearch, OrphanOptions(olderThanMs = 1000L))
      .run(orphan => found.synchronized { found += orphan.path })
    found.toSet
  }

  /** Returns the violated rules of the trees of all snapshots. */
  private def violations(table: Table): Vector[String] = table.metadata.snapshots.flatMap { s =>
    def files(id: Long) = MetadataTree.at(table.metadata.snapshot(id), table.tree(), ManifestCache.Disabled)
    files(s.snapshotId).violations(s.parentSnapshotId.map(files)).toVector.flatten.map(_.toString)
  }

  test("if a commit loses its answer before or after the swap of the metadata, no file of any snapshot is an orphan") {
    for (happens <- Seq(false, true)) {
      val t = newTable()
      assert(t.store.paths.exists(_.endsWith("-vectors.puffin")))
      val before = t.store.paths
      t.committer.script = Vector(ScriptedCommitter.unknown(happens, 99))
      if (happens) append(t, 8, 9) else intercept[CommitStateUnknown](append(t, 8, 9))
      val written = t.store.paths -- before
      assert(written.count(_.contains("/metadata/root-")) == 1 && written.exists(_.endsWith("-m0.parquet")))
      val table = t.table
      val needed = ReachableFiles.of(table.io, table.version).toSet
      val orphans = removeOrphans(table)
      assert(needed.subsetOf(t.store.paths), needed -- t.store.paths)
      if (happens) assert(orphans.isEmpty)
      else assert(orphans.exists(_.contains("/metadata/root-")) && orphans.subsetOf(written))
      assert(liveFiles(table).size == (if (happens) 8 else 6) && violations(table).isEmpty)
    }
  }

  test("a transaction that removes all files of a leaf and appends files has a valid tree for each of its snapshots") {
    val t = newTable()
    val added = Vector(10L, 11L).map(dataFile)
    val count = t.table.metadata.snapshots.size
    val table = t.commit(new DeleteFiles(idBelow(700)), new FastAppend(added), new DeleteFiles(idBelow(1100)))
    assert(table.metadata.snapshots.size == count + 3 && violations(table).isEmpty)
    val names = table.metadata.snapshots.map(s =>
      liveFiles(table.io, table.metadata, Some(s)).map(_.split('/').last.stripSuffix(".parquet")).toSet
    )
    assert(names.takeRight(3) == Vector(Set("f7"), Set("f7", "f10", "f11"), Set("f11")))
  }
}
