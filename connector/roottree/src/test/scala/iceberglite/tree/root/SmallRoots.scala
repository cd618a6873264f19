package iceberglite.tree.root

import iceberglite.sim.SimulatedIO
import iceberglite.spec.FormatVersion
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{PartitionField, TableExpression, Void}
import iceberglite.tree._

/**
 * Writes the trees of version 4 in tables of version 3 too, so that all suites for version 3 run with such trees. The
 * limits are so low that commits of small tests move files from the root to leaves, rewrite and merge leaves, and move
 * deletion vectors of leaves to Puffin files. Tables of versions 1 and 2 have manifest lists, because roots cannot list
 * their position delete files. An upgrade to version 3 or 4 keeps the manifests of these lists as leaves. Each written
 * tree is checked against the rules of version 4.
 */
object SmallRoots extends MetadataTree {
  private val limits = RootLimits(
    maxInlineFiles = 2,
    maxDataFiles = 4,
    maxDeleteFiles = 3,
    flushedShare = 2,
    foldShare = 3,
    mergeCount = 3,
    maxVectorBytes = 44L,
    maxVectorsBytes = 80L,
    maxRewriteBytes = 4000L
  )
  private val tree = new RootTree(expressions(_), limits)

  /**
   * The expressions of a table. Metadata of version 3 has no expressions, so each partition field gets an expression
   * with an id that no column of a test has, and that does not change when columns or partition fields are added, or
   * when the table is upgraded to version 4.
   */
  private def expressions(metadata: TableMetadata): Vector[TableExpression] =
    metadata.specs.flatMap(_.fields).filter(_.transform != Void).map(keyOf).distinct.zipWithIndex.map {
      case ((fieldId, transform, sources), i) =>
        TableExpression(FirstId + i, sources, transform, s"expression_$i", Some(fieldId))
    }

  private def keyOf(f: PartitionField) = (f.fieldId, f.transform, f.sourceIds)

  private val FirstId = 900000

  override def canRead(path: String, head: => Array[Byte]): Boolean = tree.canRead(path, head)

  override def canWrite(version: FormatVersion): Boolean = version >= FormatVersion.V3

  override def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles =
    tree.at(snapshot, table, cache)

  override def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    val written = tree.write(header, table, parent, changes, earlier, cache)
    check(written, header, table, parent)
    written
  }

  /**
   * Checks the tree as it will be committed. The storage of the simulation is not read, because each of its calls can
   * fail; there, [[iceberglite.sim.ValidTrees]] checks the trees.
   */
  private def check(
      written: WrittenTree,
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles]
  ): Unit = if (!table.io.isInstanceOf[SimulatedIO]) {
    val snapshot = Snapshot(
      header.snapshotId,
      header.parent.map(_.snapshotId),
      header.sequenceNumber,
      table.metadata.lastUpdatedMs,
      Some(written.pointer),
      Vector.empty,
      written.summary,
      Some(table.metadata.currentSchemaId),
      header.firstRowId,
      written.addedRows
    )
    val nextRowId = header.firstRowId.getOrElse(0L) + written.addedRows.getOrElse(0L)
    val committed = table.copy(metadata = table.metadata.edited(nextRowId = nextRowId))
    val violations = tree.at(snapshot, committed, ManifestCache.Disabled).violations(parent).toVector.flatten
    if (violations.nonEmpty) throw new AssertionError(violations.mkString("\n"))
  }
}
