package iceberglite.tree.root

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.spec.file.{ContentFile, FileFormat, Metrics, PartSummary}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.Version4Property
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{
  CloseableIterator,
  FileChanges,
  ManifestRewrite,
  ParallelWriter,
  PartitionOrdering,
  SeenParts,
  TestTable
}
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

  test("the properties of a table set the limits of its root") {
    val properties = Version4Property.all.zipWithIndex.map { case (property, i) => property.key -> s"${i + 1}" }.toMap
    val limits = RootLimits(
      maxInlineFiles = 1,
      maxDataFiles = 2,
      maxDeleteFiles = 3,
      inlineBytes = 4L,
      maxRootBytes = 5L,
      maxVectorBytes = 6L,
      maxVectorsBytes = 7L
    )
    assert(RootLimits().withProperties(properties) == limits)
  }

  test("the oldest files of a root with too many files move to leaves, with their deletion vectors") {
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

  test("delete files whose data files are in no common leaf move to a delete manifest without a referenced file") {
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

  test("a leaf that is too large to be rewritten does not prevent the rewrite of a smaller leaf") {
    val large = (1 to 40).map(i => s"large-$i")
    def history(limits: RootLimits): RootTable = {
      val table = newTable(limits)
      table.append(large: _*)
      table.append("a", "b", "c", "d")
      table.remove(large.take(30) :+ "b": _*)
      table
    }
    val sizes = of(history(RootLimits(maxInlineFiles = 3)), EntryContent.DataManifest)
      .map(e => e.recordCount -> e.fileSizeInBytes.getOrElse(0L)).toMap
    assert(sizes(40L) > sizes(4L))
    val table = history(RootLimits(maxInlineFiles = 3, maxFoldBytes = sizes(40L) - 1))
    table.append("e")
    assert(of(table, EntryContent.DataManifest).map(_.recordCount).toSet == Set(3L, 40L))
    assert(of(table, EntryContent.ManifestVector).size == 1 && table.names.size == 14)
  }

  test("a rewritten leaf without live entries is dropped with its deletion vector") {
    val table = newTable(RootLimits(maxInlineFiles = 3))
    table.append("a", "b", "c", "d")
    table.remove("b")
    val sparse = table.files.parts.collect { case leaf: LeafPart => leaf }
    val (tree, columns) = (table.testTable.tree, RootSamples.columnsOf(table.testTable.metadata))
    val output = new ParallelWriter(table.io, "mem:/t/metadata", tree.pool)
    val leaves = new LeafManifestWriter(table.testTable.header(), columns, output, () => None)
    val maintenance =
      new RootMaintenance(tree, columns, leaves, RootLimits(), _ => CloseableIterator.of(Iterator.empty))
    assert(sparse.size == 1 && maintenance.rewrite(table.root, sparse).isEmpty && output.paths.isEmpty)
  }

  test("a rewrite of manifests sorts the files of all leaves by partition, and changes no files") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId), RootLimits(maxInlineFiles = 1))
    def file(id: Long) = ManifestSamples.dataFile(s"f$id", Some(id))
    table.commit(Seq(file(5), file(1)))
    table.commit(Seq(file(2), file(4)))
    table.commit(Seq.empty, new NamedSelector(Set("f4")))
    val before = table.live.map(e => e.file.path -> e.file.firstRowId).toMap
    val rewrite = new RewriteManifests().rewriteOf(table.testTable.metadata)
    val written = table.write(FileChanges(Vector.empty, mergesManifests = false, rewrite = Some(rewrite)))
    table.testTable.adopt(written)
    table.check()
    assert(written.changesFiles && written.summary("entries-processed") == "3")
    assert(written.summary("manifests-replaced") == "2" && written.summary("manifests-created") == "1")
    assert(table.root.map(e => e.content -> e.version.status) == Vector(EntryContent.DataManifest -> Existing))
    assert(table.live.map(_.file.path.split('/').last) == Vector("f1.parquet", "f2.parquet", "f5.parquet"))
    assert(table.live.map(e => e.file.path -> e.file.firstRowId).toMap == before)
    assert(table.changes == ((Set.empty, Set.empty)))
  }

  test("small leaves are merged when there are enough of them") {
    val table = newTable(RootLimits(maxInlineFiles = 1, mergeCount = 3))
    Seq("a", "b", "c").foreach(name => table.append(s"${name}1", s"${name}2"))
    assert(of(table, EntryContent.DataManifest).size == 3)
    table.append("d")
    assert(of(table, EntryContent.DataManifest).map(_.recordCount) == Vector(6L))
    assert(table.names.size == 7 && table.changes == ((Set("d"), Set.empty)))
  }

  /** A table with two leaves and with the file f9 in the root, in partitions by id. */
  private def partitioned(limits: RootLimits): RootTable = {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId), limits.copy(maxInlineFiles = 1))
    table.commit(Seq(5L, 1L, 3L).map(file))
    table.commit(Seq(2L, 4L, 6L).map(file))
    table.commit(Seq(file(9L)))
    table.commit(Seq.empty, new NamedSelector(Set("f4")))
    table
  }

  private def file(id: Long): ContentFile = ManifestSamples.dataFile(s"f$id", Some(id))

  private def rewrite(table: RootTable): FileChanges = FileChanges(
    Vector.empty,
    mergesManifests = false,
    rewrite = Some(new RewriteManifests().rewriteOf(table.testTable.metadata))
  )

  private def names(table: RootTable): Vector[String] =
    table.live.map(_.file.path.split('/').last.stripSuffix(".parquet"))

  test("a rewrite of manifests includes the files that the root lists itself") {
    val table = partitioned(RootLimits())
    val written = table.write(rewrite(table))
    table.testTable.adopt(written)
    table.check()
    assert(table.root.map(e => e.content -> e.version.status) == Vector(EntryContent.DataManifest -> Existing))
    assert(names(table) == Vector("f1", "f2", "f3", "f5", "f6", "f9") && table.changes == ((Set.empty, Set.empty)))
  }

  test("a rewrite of more entries than fit into memory writes a leaf for each range of partitions") {
    val table = partitioned(RootLimits(maxRewriteBytes = 1L))
    val ids = table.live.map(e => e.file.path -> ((e.file.firstRowId, e.sequenceNumber, e.snapshotId))).toMap
    table.testTable.adopt(table.write(rewrite(table)))
    table.check()
    assert(of(table, EntryContent.DataManifest).map(_.recordCount) == Vector.fill(6)(1L))
    assert(names(table) == Vector("f1", "f2", "f3", "f5", "f6", "f9"))
    assert(table.live.map(e => e.file.path -> ((e.file.firstRowId, e.sequenceNumber, e.snapshotId))).toMap == ids)
  }

  test("a rewrite of more entries than fit into memory holds only the metrics of the entries of a batch") {
    val table = partitioned(RootLimits())
    val leaves = table.files.parts.collect { case leaf: LeafPart => leaf }
    val held = new ConcurrentLinkedQueue[Metrics]
    val rewriter = new LeafRewriter(
      table.testTable.tree,
      _.entries(table.io),
      new LeafRuns(RootSamples.columnsOf(table.testTable.metadata)),
      { batch =>
        batch.foreach(e => held.add(e.file.metrics))
        leaves.head.leaf
      },
      isMovable = _ => true,
      maxHeapBytes = 1L
    )
    val by = new RewriteManifests().rewriteOf(table.testTable.metadata)
    assert(rewriter.rewrite(leaves, Vector.empty, by, None).exists(_.parts == 2))
    val metrics = held.asScala.toVector
    assert(metrics.size == 5 && metrics.forall {
      case _: LeafMetrics => false
      case kept => kept.valueCount(1).isDefined
    })
  }

  test("a retry of a rewrite reuses the leaves of the earlier attempt, unless a replaced leaf has changed") {
    val table = partitioned(RootLimits(foldShare = 1))
    val lost = table.write(rewrite(table), attempt = 1)
    table.commit(Seq(file(7L)))
    val retry = table.write(rewrite(table), Some(lost), attempt = 2)
    assert(retry.written == Vector(retry.pointer) && retry.references.intersect(lost.written.toSet).size == 1)
    table.commit(Seq.empty, new NamedSelector(Set("f1")))
    val second = table.write(rewrite(table), Some(retry), attempt = 3)
    assert(second.written.size == 2)
    table.testTable.adopt(second)
    table.check()
    assert(names(table).toSet == Set("f2", "f3", "f5", "f6", "f7", "f9"))
  }

  test("a retry of a rewrite checks only the leaves that the earlier attempt has not checked") {
    val table = partitioned(RootLimits())
    table.commit(Seq(7L, 8L).map(file))
    val Vector(first, second, third) = table.files.parts.collect { case leaf: LeafPart => leaf }
    val checked = new ConcurrentLinkedQueue[String]
    val rewriter = new LeafRewriter(
      table.testTable.tree,
      _.entries(table.io),
      new LeafRuns(RootSamples.columnsOf(table.testTable.metadata)),
      _ => first.leaf,
      isMovable = leaf => checked.add(leaf.path),
      maxHeapBytes = Long.MaxValue
    )
    val onlyFirst = new ManifestRewrite {
      override def choose[P <: PartSummary](parts: Vector[P]): Vector[P] = parts.take(1)
      override def order(spec: PartitionSpec): Ordering[PartitionTuple] = new PartitionOrdering(Vector(0))
    }
    val earlier = rewriter.rewrite(Vector(first, second), Vector.empty, onlyFirst, None)
    assert(checked.asScala.toSet == Set(first.path, second.path))
    checked.clear()
    val retry = rewriter.rewrite(Vector(second, third), Vector.empty, onlyFirst, earlier)
    assert(retry.exists(_.replaced == Set(second.id -> second.leaf.firstRowId)))
    assert(checked.asScala.toVector == Vector(third.path))
  }

  test("files move to a leaf if they are too large for the root, although they are few") {
    val table = newTable(RootLimits(inlineBytes = 250L))
    table.append("a", "b")
    table.append("c", "d")
    table.append("e", "f")
    assert(of(table, EntryContent.DataManifest).isEmpty)
    table.append("g", "h")
    assert(of(table, EntryContent.DataManifest).map(_.recordCount) == Vector(5L))
    assert(table.changes == ((Set("g", "h"), Set.empty)) && table.names.size == 8)
  }

  test("if the root is too large, all older files move to leaves and all older vectors to a Puffin file") {
    val table = newTable(RootLimits(maxInlineFiles = 3, foldShare = 1, maxRootBytes = 1L))
    table.append("a", "b", "c", "d")
    table.append("e")
    table.remove("b")
    assert(of(table, EntryContent.Data).isEmpty && vectors(table).forall(_.location.isEmpty))
    val written = table.append("f")
    assert(vectors(table).forall(_.location.endsWith(".puffin")) && table.changes == ((Set("f"), Set.empty)))
    assert(written.references.exists(_.endsWith(".puffin")) && table.names == Set("a", "c", "d", "e", "f"))
  }

  private def vectors(table: RootTable): Vector[ContentEntry] = of(table, EntryContent.ManifestVector)

  /** A table with three leaves, each with a deletion vector. */
  private def withVectors(limits: RootLimits): RootTable = {
    val table = newTable(limits.copy(maxInlineFiles = 3, foldShare = 1, mergeCount = 100))
    Seq("a", "b", "c").foreach(name => table.append((1 to 5).map(i => s"$name$i"): _*))
    table.remove("a1", "b1", "c1")
    table
  }

  test("a vector that is too large moves to a Puffin file, but not in the commit that writes it") {
    val table = withVectors(RootLimits(maxVectorBytes = 1L))
    assert(vectors(table).size == 3 && vectors(table).forall(_.location.isEmpty))
    val written = table.append("x")
    assert(written.written.size == 2 && vectors(table).map(_.location).distinct.size == 1)
    assert(table.names.size == 13 && !table.names("b1"))
    assert(table.files.reachable(new SeenParts).metadata.toSet == written.references)
    table.remove("b2")
    assert(table.changes == ((Set.empty, Set("b2"))) && vectors(table).count(_.location.isEmpty) == 1)
    table.append("y")
    assert(vectors(table).forall(_.location.nonEmpty) && vectors(table).map(_.location).distinct.size == 2)
    assert(table.names.size == 13 && table.files.reachable(new SeenParts).metadata.count(_.endsWith(".puffin")) == 2)
  }

  test("if the vectors are too large together, the largest ones move to a Puffin file") {
    val table = withVectors(RootLimits(maxVectorsBytes = 120L))
    table.append("x")
    assert(vectors(table).count(_.location.isEmpty) == 2 && table.names.size == 13)
  }

  test("leaves are larger in large tables, so that the root does not grow in proportion to the number of files") {
    assert(EntrySizes.leafTarget(8L << 20, files = 1000000L, entryBytes = 230L) == (8L << 20))
    assert(EntrySizes.leafTarget(8L << 20, files = 100000000L, entryBytes = 950L) == 21517276L)
    assert(EntrySizes.leafTarget(8L << 20, files = 1000000000L, entryBytes = 950L) == (64L << 20))
    assert(EntrySizes.leafTarget(128L << 20, files = 100000000L, entryBytes = 950L) == (128L << 20))
  }

  test("the summary counts the added deletion vectors of leaves, and those that rewritten leaves no longer need") {
    def counts(written: WrittenRoot) = Seq("added-manifest-dvs", "folded-manifest-dvs").map(written.summary.get)
    val table = newTable(RootLimits(maxInlineFiles = 3))
    assert(counts(table.append("a", "b", "c", "d")) == Seq(None, None))
    assert(counts(table.remove("a", "b")) == Seq(Some("1"), None))
    assert(counts(table.append("x")) == Seq(None, Some("1")))
    val emptied = newTable(RootLimits(maxInlineFiles = 3))
    emptied.append("a", "b", "c", "d")
    emptied.remove("a", "b", "c", "d")
    assert(counts(emptied.append("x")) == Seq(None, None), "a leaf without live files is not rewritten")
  }

  test("a commit whose root is too large warns once for each table") {
    def at(location: String, limits: RootLimits): RootTable = {
      val table = newTable(limits)
      table.testTable.metadata = table.testTable.metadata.edited(location = location)
      table.append("a")
      table
    }
    def message(table: RootTable) = RootSizeWarning.message(table.testTable.tree, 9L << 20, 8L << 20)
    assert(message(at("mem:/large", RootLimits(maxRootBytes = 1000L))).isEmpty, "the commit has warned")
    val small = at("mem:/small", RootLimits())
    val first = message(small)
    assert(first.exists(text => text.contains("9437184 bytes") && text.contains("write.v4.root.max-bytes")))
    assert(message(small).isEmpty)
  }
}
