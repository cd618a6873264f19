package iceberglite.tree.root

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ContentFile, ManifestEntry}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, TableExpression}
import iceberglite.spec.schema.Schema
import iceberglite.tree._

/**
 * A table whose metadata exists only in memory. Its commits write the metadata trees of version 4 (a root manifest that
 * lists files and leaf manifests), whatever its format version.
 *
 * @param limits when commits move files from the root to leaves, and merge or rewrite leaves
 * @param expressions returns the expressions of the table
 */
final private[root] class RootTable(
    schema: Schema,
    specs: Vector[PartitionSpec] = Vector(PartitionSpec.Unpartitioned),
    limits: RootLimits = RootLimits(maxInlineFiles = 3),
    version: FormatVersion = FormatVersion.V3,
    expressions: TableMetadata => Vector[TableExpression] = RootSamples.expressions
) {
  val testTable = new TestTable(schema, specs, version)
  private val tree = new RootTree(expressions, limits)

  def io: CountingMemoryIO = testTable.io

  def files(snapshot: Snapshot): SnapshotFiles =
    if (snapshot.manifestList.exists(_.endsWith(".avro")))
      MetadataTree.at(snapshot, testTable.tree, ManifestCache.Disabled)
    else tree.at(snapshot, testTable.tree, ManifestCache.Disabled)

  def files: SnapshotFiles = files(testTable.metadata.currentSnapshot.get)

  def entries(snapshot: Snapshot): Vector[ManifestEntry] = {
    val found = files(snapshot)
    found.parts.flatMap(found.entries)
  }

  def live: Vector[ManifestEntry] = entries(testTable.metadata.currentSnapshot.get).filter(_.isLive)

  def names: Set[String] = live.map(e => TestTable.nameOf(e.file)).toSet

  /** Returns the names of the files that the current snapshot added and removed. */
  def changes: (Set[String], Set[String]) = {
    val (added, removed) = files.changes(PartFilter.All).toVector.partition(_.isLive)
    (added.map(e => TestTable.nameOf(e.file)).toSet, removed.map(e => TestTable.nameOf(e.file)).toSet)
  }

  def root: Vector[ContentEntry] = files match {
    case root: RootFiles => root.root
    case other => throw new AssertionError(s"Snapshot ${other.snapshot.snapshotId} has no root")
  }

  def write(changes: FileChanges, earlier: Option[WrittenTree] = None, attempt: Int = 0): WrittenRoot = {
    val header = testTable.header(attempt).copy(firstRowId = Some(testTable.metadata.nextRowId))
    tree.write(header, testTable.tree, header.parent.map(files(_)), changes, earlier, ManifestCache.Disabled) match {
      case root: WrittenRoot => root
      case other => throw new AssertionError(s"$other is not a root")
    }
  }

  def commit(added: Seq[ContentFile], remove: FileSelector = FileSelector.NoFiles): WrittenRoot = {
    val written = write(FileChanges(added.toVector, remove))
    testTable.adopt(written)
    check()
    written
  }

  /** Checks the invariants of the tree of the current snapshot. */
  def check(): Unit = files match {
    case root: RootFiles =>
      val parent = root.snapshot.parentSnapshotId.map(id => files(testTable.metadata.snapshot(id)))
      val violations = new TreeInvariants(root, parent, testTable.tree).violations
      if (violations.nonEmpty) throw new AssertionError(violations.mkString("\n"))
    case other => throw new AssertionError(s"Snapshot ${other.snapshot.snapshotId} has no root")
  }

  def append(names: String*): WrittenRoot = commit(names.map(TestTable.file(_)))

  def remove(names: String*): WrittenRoot = commit(Vector.empty, TestTable.removing(names: _*))
}
