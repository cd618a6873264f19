package iceberglite.table

import iceberglite.storage.{EncryptedTableIO, FileIO}
import iceberglite.tree.{ManifestCache, MetadataPool, MetadataTree, SeenParts, TreeTable}

/** Lists all files that a version of a table refers to, directly or through its snapshots. */
private[iceberglite] object ReachableFiles {

  /**
   * Returns the paths of all files.
   *
   * @param io the storage of any table: the files may belong to a table that shares a directory with it
   * @throws iceberglite.spec.IcebergError if a file of the table's metadata cannot be read
   */
  def of(io: FileIO, version: TableVersion): Vector[String] = {
    val metadata = version.metadata
    val ofTable = EncryptedTableIO.of(io.unguarded, metadata)
    val table = TreeTable(version.metadataLocation, ofTable, metadata)
    val seen = new SeenParts
    val reachable = metadata.snapshots.map(MetadataTree.at(_, table, ManifestCache.Disabled).reachable(seen))
    val files = MetadataPool.map(reachable.flatMap(_.parts))(_.entries(ofTable).map(_.file.path).toVector).flatten
    files ++ reachable.flatMap(_.metadata) ++ namedInMetadataFile(version)
  }

  /**
   * Returns the metadata file and the files that it names directly, except the manifests of version 1 snapshots without
   * a manifest list.
   */
  def namedInMetadataFile(version: TableVersion): Vector[String] = {
    val metadata = version.metadata
    metadata.snapshots.flatMap(_.manifestList) ++ metadata.statistics.map(_.statisticsPath) ++
      metadata.partitionStatistics.map(_.statisticsPath) ++ metadata.metadataLog.map(_.metadataFile) :+
      version.metadataLocation
  }
}
