package iceberglite.maintenance.expire

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.storage.FileIO
import iceberglite.table.{ReachableFiles, TableVersion}
import iceberglite.tree.{FilePart, ManifestCache, MetadataTree, SeenParts, TreeTable}

/**
 * The metadata trees of expired snapshots, compared with the trees of the remaining snapshots. A file may be deleted
 * only if the later metadata of the table refers to it neither directly nor through the tree of a snapshot.
 *
 * @param roots paths of the manifest lists of expired snapshots, or of their roots in version 4
 * @param manifests paths of other metadata files that only expired trees have
 * @param statistics paths of the statistics files that the table no longer refers to
 * @param expired the parts that only expired trees have (manifests in format versions 1 to 3). These parts list the
 *   data and delete files that may be unreachable
 * @param retained the parts of the remaining trees
 * @param needed keys ([[UnreachableFiles.keys]]) of the metadata and statistics files that the table still needs, even
 *   if expired trees refer to them
 */
final case class ExpiredTrees(
    roots: Vector[String],
    manifests: Vector[String],
    statistics: Vector[String],
    expired: Vector[FilePart],
    retained: Vector[FilePart],
    needed: Set[String]
)

object ExpiredTrees {

  /**
   * Compares the snapshots of two versions of a table. The parts of the trees are listed, but not read.
   *
   * @param table the table's name, for messages
   * @param before the version from which snapshots were removed
   * @param removedIds the ids of the removed snapshots
   * @param afterVersion a later version without these snapshots
   */
  def of(
      table: String,
      io: FileIO,
      before: TableMetadata,
      removedIds: Set[Long],
      afterVersion: TableVersion
  ): ExpiredTrees = {
    val after = afterVersion.metadata
    val seen = new SeenParts
    def trees(metadata: TableMetadata, snapshots: Vector[Snapshot]) = {
      val treeTable = TreeTable(table, io, metadata)
      snapshots.map(MetadataTree.at(_, treeTable, ManifestCache.Disabled).reachable(seen))
    }
    val retained = trees(after, after.snapshots)
    val removed = before.snapshots.filter(s => removedIds(s.snapshotId))
    val expired = trees(before, removed)
    val keyOf = UnreachableFiles.keys(io)
    val needed =
      (retained.iterator.flatMap(_.metadata) ++ ReachableFiles.namedInMetadataFile(afterVersion)).map(keyOf).toSet
    def isUnneeded(path: String) = !needed(keyOf(path))
    val rootPaths = removed.flatMap(_.manifestList).toSet
    val (roots, manifests) = expired.flatMap(_.metadata).distinct.filter(isUnneeded).partition(rootPaths)
    val statistics = statisticsOf(before).filter(isUnneeded)
    ExpiredTrees(roots, manifests, statistics, expired.flatMap(_.parts), retained.flatMap(_.parts), needed)
  }

  private def statisticsOf(metadata: TableMetadata): Vector[String] =
    (metadata.statistics.map(_.statisticsPath) ++ metadata.partitionStatistics.map(_.statisticsPath)).distinct
}
