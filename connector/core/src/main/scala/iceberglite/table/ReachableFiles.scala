package iceberglite.table

import iceberglite.io.FileIO
import iceberglite.tree.{InParallel, ManifestCache, MetadataTree}

/** Every file that a version of a table refers to, directly or through its snapshots. */
private[iceberglite] object ReachableFiles {

  /** @throws iceberglite.spec.IcebergError a file of the table's metadata cannot be read */
  def of(io: FileIO, version: TableVersion): Vector[String] = {
    val metadata = version.metadata
    val tree = MetadataTree.of(io, metadata, ManifestCache.Off)
    val manifests = metadata.snapshots.flatMap(tree.manifests).groupBy(_.path).values.map(_.head).toVector
    val files = InParallel.map(manifests)(manifest => tree.entries(manifest).map(_.file.path).toVector).flatten
    files ++ manifests.map(_.path) ++ besides(version)
  }

  /** Those that the metadata file itself names, and that file. */
  def besides(version: TableVersion): Vector[String] = {
    val metadata = version.metadata
    metadata.snapshots.flatMap(_.manifestList) ++ metadata.statistics.map(_.statisticsPath) ++
      metadata.partitionStatistics.map(_.statisticsPath) ++ metadata.metadataLog.map(_.metadataFile) :+
      version.metadataLocation
  }
}
