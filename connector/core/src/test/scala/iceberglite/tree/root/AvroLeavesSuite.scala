package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestEntry}
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{FileChanges, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests how a rewrite of manifests replaces the Avro manifests of versions 1 to 3, which an upgrade keeps. */
class AvroLeavesSuite extends AnyFunSuite {
  private def newTable(version: FormatVersion): RootTable =
    new RootTable(ManifestSamples.schema, limits = RootLimits(foldShare = 1), version = version)

  private def vector(of: String): ContentFile = TestTable.positionDeletes(s"dv-$of", Some(of))
    .copy(format = FileFormat.Puffin, contentOffset = Some(4L), contentSizeInBytes = Some(40L))

  private def rewrite(table: RootTable): WrittenRoot = {
    val by = new RewriteManifests().rewriteOf(table.testTable.metadata)
    val written = table.write(FileChanges(Vector.empty, mergesManifests = false, rewrite = Some(by)))
    table.testTable.adopt(written)
    table.check()
    written
  }

  private def leaves(table: RootTable): Vector[ContentEntry] = table.root.filter(_.manifest.isDefined)

  private def comparable(table: RootTable): Map[String, ManifestEntry] = table.live.map { e =>
    e.file.path -> e.copy(
      status = iceberglite.spec.file.EntryStatus.Existing,
      file = ManifestSamples.comparable(e.file).copy(firstRowId = None)
    )
  }.toMap

  test("a rewrite of manifests moves data files, deletion vectors and equality deletes to leaves of version 4") {
    val table = newTable(V3)
    table.testTable.append(
      TestTable.file("a"),
      TestTable.file("b"),
      TestTable.file("c").copy(splitOffsets = Vector(9L, 4L))
    )
    table.testTable.append(vector("a"), vector("b"), TestTable.equalityDeletes("q"))
    val before = comparable(table)
    table.remove("b")
    assert(leaves(table).forall(_.format == FileFormat.Avro) && leaves(table).size == 2)
    assert(rewrite(table).changesFiles)
    assert(leaves(table).map(e => e.content -> e.format) == Vector(
      EntryContent.DataManifest -> FileFormat.Parquet,
      EntryContent.DeleteManifest -> FileFormat.Parquet
    ))
    assert(leaves(table).map(_.recordCount) == Vector(2L, 2L) && table.changes == ((Set.empty, Set.empty)))
    val removed = Set("b", "dv-b")
    val sorted = before.map { case (path, e) =>
      path -> e.copy(file = e.file.copy(splitOffsets = e.file.splitOffsets.sorted))
    }
    assert(comparable(table) == sorted.filterNot(e => removed(TestTable.nameOf(e._2.file))))
    assert(!rewrite(table).changesFiles)
  }

  test("a rewrite of manifests keeps Avro manifests that list position delete files, until these are removed") {
    val table = newTable(V2)
    table.testTable.append(TestTable.file("a"), TestTable.file("b"))
    table.testTable.append(TestTable.equalityDeletes("q"))
    table.testTable.append(TestTable.positionDeletes("p", Some("a")), TestTable.equalityDeletes("r"))
    val before = comparable(table)
    assert(rewrite(table).changesFiles)
    assert(leaves(table).map(e => (e.content, e.format, e.recordCount)).toSet == Set(
      (EntryContent.DataManifest, FileFormat.Parquet, 2L),
      (EntryContent.DeleteManifest, FileFormat.Parquet, 1L),
      (EntryContent.DeleteManifest, FileFormat.Avro, 2L)
    ))
    assert(comparable(table) == before && !rewrite(table).changesFiles)
    table.remove("p")
    assert(rewrite(table).changesFiles && leaves(table).forall(_.format == FileFormat.Parquet))
    assert(table.live.map(_.file.content).count(_ == Content.EqualityDeletes) == 2 && table.live.size == 4)
  }
}
