package iceberglite.tree.root

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FileFormat,
  ManifestContent,
  ManifestEntry,
  ManifestFile
}
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{EntrySizeEstimates, FileChanges, MetadataPool, ParallelWriter, TestTable}
import iceberglite.tree.manifestlist.{ManifestPart, ManifestSamples}

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

  /**
   * Returns a table with an Avro manifest that lists a deleted file and a live one. The deletion vector of the manifest
   * has the position of the live file, so that the numbers of entries do not show whether a file is live.
   */
  private def withEmptiedManifest(): RootTable = {
    val table = newTable(V2)
    table.testTable.append(TestTable.file("a"), TestTable.file("b"))
    table.testTable.append(TestTable.equalityDeletes("q"), TestTable.positionDeletes("p", Some("a")))
    table.testTable.commit(Vector.empty, new NamedSelector(Set("p")))
    table.remove("q")
    table
  }

  private def deleteLeaves(table: RootTable): Vector[LeafPart] = table.files.parts.collect {
    case leaf: LeafPart if leaf.content == ManifestContent.Deletes => leaf
  }

  test("an Avro manifest of delete files without live files is dropped by the commit after the one that removes them") {
    val table = withEmptiedManifest()
    assert(deleteLeaves(table).map(leaf => (leaf.stats.deletedFiles, leaf.liveFiles)) == Vector((1, None)))
    val written = table.append("c")
    assert(deleteLeaves(table).isEmpty && written.written.size == 1 && table.names == Set("a", "b", "c"))
    assert(!table.root.exists(_.content == EntryContent.ManifestVector))
    assert(table.changes == ((Set("c"), Set.empty)) && !written.summary.contains("folded-manifest-dvs"))
  }

  test("the Avro manifests that may have no live files are read in parallel") {
    val table = newTable(V2)
    table.testTable.append(TestTable.file("a"))
    Seq("1", "2").foreach(i =>
      table.testTable.append(TestTable.equalityDeletes(s"q$i"), TestTable.positionDeletes(s"p$i", Some("a")))
    )
    table.testTable.commit(Vector.empty, new NamedSelector(Set("p1", "p2")))
    table.remove("q1", "q2")
    val unclear = deleteLeaves(table).map(_.path)
    assert(unclear.size == 2 && deleteLeaves(table).forall(_.mayBeEmpty))
    val calls = new ConcurrentLinkedQueue[IndexedSeq[Any]]
    table.testTable.pool = new MetadataPool {
      override def map[A, B](items: IndexedSeq[A], width: Int)(f: A => B): Vector[B] = {
        calls.add(items)
        MetadataPool.map(items, width)(f)
      }
      override private[iceberglite] def submit(body: => Unit) = MetadataPool.submit(body)
    }
    val written = table.write(FileChanges(Vector(TestTable.file("b"))))
    assert(calls.asScala.exists(_.collect { case leaf: LeafPart => leaf.path }.toVector == unclear))
    table.testTable.adopt(written)
    assert(deleteLeaves(table).isEmpty)
  }

  test("an Avro manifest is kept as long as a file is live, although its deletion vector has as many positions") {
    val table = withEmptiedManifest()
    val Vector(leaf) = deleteLeaves(table)
    val deleted = leaf.allEntries(table.io).indexWhere(!_.isLive).toLong
    val foreign = ManifestVectors.entry(leaf.leaf, DeletionVector.of(deleted), 9L, 9L)
    val result = table.write(FileChanges(Vector.empty))
    val root = table.root.filter(e => e.isLive && e.content != EntryContent.ManifestVector)
      .map(e => e.copy(version = e.version.copy(status = EntryStatus.Existing))) :+
      foreign.copy(version = foreign.version.copy(status = EntryStatus.Existing))
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    table.io.replace(result.pointer, RootManifests.write(result.pointer, ManifestKind.Root, columns, root))
    table.testTable.adopt(result)
    assert(table.names == Set("a", "b", "q"))
    table.append("c")
    assert(table.names == Set("a", "b", "c", "q") && deleteLeaves(table).size == 1)
  }

  test("if the number of live files is unknown, estimates assume the highest possible number") {
    val table = withEmptiedManifest()
    val Vector(leaf) = deleteLeaves(table)
    assert(leaf.liveFiles.isEmpty && leaf.estimatedLiveFiles == 1L && leaf.whole.estimatedLiveFiles == 1L)
    assert(EntrySizeEstimates.minHeapBytes(leaf) > 0L)
    val specs = table.testTable.tree.specs
    val stats = leaf.stats.copy(existingFiles = 50, deletedFiles = 10)
    val large = new LeafPart(
      leaf.leaf.copy(manifest = Some(stats), recordCount = 60L),
      DeletionVector.of((0L until 30L): _*).toBytes,
      RootSamples.columnsOf(ManifestSamples.schema),
      specs
    )
    assert(large.liveFiles.isEmpty && large.estimatedLiveFiles == 30L)
    assert(large.only(DeletionVector.of(40L, 41L)).estimatedLiveFiles == 2L)
  }

  test("the files of a manifest that does not count its files are estimated from its length") {
    val table = new TestTable(ManifestSamples.schema, version = V2)
    table.append((1 to 100).map(i => TestTable.file(s"f$i")): _*)
    val counted = table.manifests.head
    val uncounted = counted.copy(addedFilesCount = None, existingFilesCount = None, deletedFilesCount = None)
    def part(m: ManifestFile) = new ManifestPart(m, table.tree.specs)
    assert(part(counted).estimatedLiveFiles == 100L)
    val estimate = part(uncounted).estimatedLiveFiles
    assert(part(uncounted).liveFiles.isEmpty && estimate >= 100L && estimate <= counted.length)
    assert(EntrySizeEstimates.maxHeapBytes(part(uncounted)) > 8 * counted.length)
  }

  private def rewriteOf(table: RootTable): FileChanges = FileChanges(
    Vector.empty,
    mergesManifests = false,
    rewrite = Some(new RewriteManifests().rewriteOf(table.testTable.metadata))
  )

  private def reads(table: RootTable)(body: => Unit): Int = {
    val before = table.io.reads.get
    body
    table.io.reads.get - before
  }

  /**
   * Returns a table with two Avro manifests of data files, and with manifests of position delete files, which cannot be
   * rewritten: one for each data file, and one for the given files.
   */
  private def withPositionDeletes(more: ContentFile*): RootTable = {
    val table = newTable(V2)
    Seq("a", "b").foreach(name => table.testTable.append(TestTable.file(name)))
    Seq("a", "b").foreach(name => table.testTable.append(TestTable.positionDeletes(s"p-$name", Some(name))))
    if (more.nonEmpty) table.testTable.append(more: _*)
    table.append("c")
    table
  }

  test("a retry of a rewrite does not read the manifests again that an earlier attempt could not rewrite") {
    val table = withPositionDeletes()
    val lost = table.write(rewriteOf(table), attempt = 1)
    table.append("d")
    assert(reads(table)(table.write(rewriteOf(table), Some(lost), attempt = 2)) == 1, "only the root is read")
    table.remove("a")
    val fresh = reads(table)(table.write(rewriteOf(table), attempt = 3))
    val retry = reads(table)(table.write(rewriteOf(table), Some(lost), attempt = 4))
    assert(fresh == 3 && retry == 2, "a manifest of data files is rewritten again")
  }

  test("a check of a long manifest closes its file") {
    val random = new Random(5)
    // The names do not compress well, so that the manifest is longer than the part that is read at once.
    val names = Vector.fill(4000)(random.alphanumeric.take(120).mkString)
    val table = withPositionDeletes(names.map(TestTable.positionDeletes(_, Some("a"))): _*)
    assert(deleteLeaves(table).exists(_.length > (1 << 18)))
    val specs = table.testTable.tree.specs
    val long = table.files.parts.collect { case leaf: LeafPart =>
      val length = Some(20L << 20)
      new LeafPart(
        leaf.leaf.copy(fileSizeInBytes = length),
        Array.emptyByteArray,
        RootSamples.columnsOf(table.testTable.metadata),
        specs
      )
    }
    val tree = table.testTable.tree
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    val output = new ParallelWriter(table.io, "mem:/t/metadata", tree.pool)
    val writer = new LeafManifestWriter(table.testTable.header(), columns, output, () => None)
    val maintenance = new RootMaintenance(tree, columns, writer, RootLimits(), _.entries(table.io))
    val by = new RewriteManifests().rewriteOf(table.testTable.metadata)
    val Some((_, rewritten)) = maintenance.rewriteChosen(table.root, long, Vector.empty, by, None)
    assert(rewritten.movable.values.count(!_) == 3 && rewritten.replaced.size == 2 && table.io.openStreams.get == 0)
  }
}
