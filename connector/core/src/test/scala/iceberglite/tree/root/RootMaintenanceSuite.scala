package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{FileChanges, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests when commits to a [[RootTree]] move files from the root to leaves, and when they merge or rewrite leaves. */
class RootMaintenanceSuite extends AnyFunSuite {
  private def newTable(limits: RootLimits): RootTable = new RootTable(ManifestSamples.schema, limits = limits)

  private def of(table: RootTable, content: EntryContent): Vector[ContentEntry] =
    table.root.filter(_.content == content)

  private def vector(of: String): ContentFile = TestTable.positionDeletes(s"dv-$of", Some(of)).copy(
    format = FileFormat.Puffin,
    contentOffset = Some(4L),
    contentSizeInBytes = Some(40L)
  )

  test("the oldest files of a root with too many files move to an existing leaf, with their deletion vectors") {
    val table = newTable(RootLimits(maxDataFiles = 4, flushedShare = 2))
    table.append("a", "b")
    table.commit(Seq(vector("a")))
    table.append("c", "d")
    table.append("e")
    assert(of(table, EntryContent.DataManifest).isEmpty && table.root.size == 6)
    val before = table.live.map(e => e.file.path -> ((e.snapshotId, e.sequenceNumber, e.file.firstRowId))).toMap
    val written = table.append("f")
    assert(written.written.size == 3 && table.changes == ((Set("f"), Set.empty)))
    val Vector(data) = of(table, EntryContent.DataManifest)
    val Vector(deletes) = of(table, EntryContent.DeleteManifest)
    assert(data.version.status == Existing && data.recordCount == 3 && deletes.referencedFile.contains(data.location))
    assert(of(table, EntryContent.Data).map(_.location).map(_.split('/').last).toSet ==
      Set("d.parquet", "e.parquet", "f.parquet"))
    val after = table.live.map(e => e.file.path -> ((e.snapshotId, e.sequenceNumber, e.file.firstRowId))).toMap
    assert(before.forall { case (path, values) => after(path) == values })
    table.remove("a")
    assert(table.changes == ((Set.empty, Set("a", "dv-a"))))
  }

  test("delete files without a data file in the same leaf move to an unaffiliated delete manifest") {
    val table = newTable(RootLimits(maxInlineFiles = 3, maxDeleteFiles = 2, flushedShare = 2))
    table.append("a", "b", "c", "d")
    Seq("a", "b", "c").foreach(name => table.commit(Seq(vector(name))))
    table.append("e")
    val Vector(deletes) = of(table, EntryContent.DeleteManifest)
    assert(deletes.referencedFile.isEmpty && deletes.recordCount == 2)
    assert(of(table, EntryContent.PositionDeletes).size == 1)
  }

  test("a leaf with many removed entries is rewritten without them by a later commit that removes none of its files") {
    val table = newTable(RootLimits(maxInlineFiles = 3))
    table.append("a", "b", "c", "d")
    table.remove("b")
    assert(of(table, EntryContent.ManifestVector).size == 1)
    table.append("e")
    assert(of(table, EntryContent.ManifestVector).isEmpty && table.changes == ((Set("e"), Set.empty)))
    val Vector(leaf) = of(table, EntryContent.DataManifest)
    assert(leaf.recordCount == 3 && leaf.version.status == Existing)
    assert(table.live.map(e => TestTable.nameOf(e.file) -> e.file.firstRowId.get).toMap ==
      Map("a" -> 0L, "c" -> 20L, "d" -> 30L, "e" -> 40L))
  }

  test("a rewrite of manifests sorts the files of all leaves by partition, and changes no files") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId), RootLimits(maxInlineFiles = 1))
    def file(id: Long) = ManifestSamples.dataFile(s"f$id", Some(id))
    table.commit(Seq(file(5), file(1)))
    table.commit(Seq(file(2), file(4)))
    table.commit(Seq.empty, new NamedSelector(Set("f4")))
    val before = table.live.map(e => e.file.path -> e.file.firstRowId).toMap
    val rewrite = new RewriteManifests().rewriteOf(table.lists.metadata)
    val written = table.write(FileChanges(Vector.empty, mergesManifests = false, rewrite = Some(rewrite)))
    table.lists.adopt(written)
    table.check()
    assert(written.changesFiles && written.summary("entries-processed") == "3")
    assert(table.root.map(e => e.content -> e.version.status) == Vector(EntryContent.DataManifest -> Existing))
    assert(table.live.map(_.file.path.split('/').last) == Vector("f1.parquet", "f2.parquet", "f5.parquet"))
    assert(table.live.map(e => e.file.path -> e.file.firstRowId).toMap == before)
    assert(table.changes == ((Set.empty, Set.empty)))
  }

  test("small leaves are merged, if the table allows it") {
    val table = newTable(RootLimits(maxInlineFiles = 1, mergeCount = 3))
    Seq("a", "b", "c").foreach(name => table.append(s"${name}1", s"${name}2"))
    assert(of(table, EntryContent.DataManifest).size == 3)
    table.append("d")
    assert(of(table, EntryContent.DataManifest).map(_.recordCount) == Vector(6L))
    assert(table.names.size == 7 && table.changes == ((Set("d"), Set.empty)))
  }
}
