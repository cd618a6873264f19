package iceberglite.maintenance.health

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.maintenance.compact.{ClusterDegree, ClusteredFiles, FileGroup, RewriteOptions}
import iceberglite.maintenance.orphan.OrphanSearch
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.table.Retention
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/**
 * The data files of a snapshot.
 *
 * @param bytes the total size in bytes
 * @param records the number of rows, including deleted rows
 * @param smallFiles the number of files below the minimum size, in partitions with at least `min-input-files` such
 *   files
 * @param smallBytes the size of these files in bytes
 * @param filesWithManyDeletes the number of files whose ratio of deleted rows reaches `delete-ratio-threshold`,
 *   according to deletion vectors and to position delete files that cover only one data file
 * @param deletedBytes the estimated size of the deleted rows in these files, in bytes
 * @param rewrite the files that a rewrite would replace: by bin-packing, or by clustering in a clustered table
 * @param clustering how well the files are clustered; absent for a table that is not clustered
 */
final case class DataFileHealth(
    files: Long,
    bytes: Long,
    records: Long,
    smallFiles: Long,
    smallBytes: Long,
    filesWithManyDeletes: Long,
    deletedBytes: Long,
    rewrite: FileReplacement,
    clustering: Option[ClusterHealth]
)

/** How well the data files of a clustered table are clustered. @param columns the clustering columns */
final case class ClusterHealth(columns: ClusterColumns, degree: ClusterDegree)

/**
 * Files that a rewrite would replace.
 *
 * @param bytes the total size of the replaced files in bytes
 * @param newFiles the expected number of new files
 */
final case class FileReplacement(files: Long, bytes: Long, newFiles: Long) {
  def ++(that: FileReplacement): FileReplacement =
    FileReplacement(files + that.files, bytes + that.bytes, newFiles + that.newFiles)
}

object FileReplacement {
  val Empty: FileReplacement = FileReplacement(0, 0, 0)

  /** Returns the files that a rewrite of the given file groups would replace. */
  def of(groups: Vector[FileGroup], options: RewriteOptions): FileReplacement = FileReplacement(
    groups.iterator.map(_.files.toLong).sum,
    groups.iterator.map(_.bytes).sum,
    groups.iterator.map(group => options.group.outputFiles(group.bytes).toLong).sum
  )
}

/**
 * The delete files of a snapshot. A deletion vector counts as one file, with the size of the vector.
 *
 * @param positionDeleteFiles the number of position delete files and deletion vectors
 * @param deletedPositions the number of positions in these files
 * @param equalityDeleteFiles the number of equality delete files
 * @param equalityDeleteRecords the number of rows in these files
 * @param equalityDeleteBytes the size of equality delete files in bytes
 * @param bytes the size of all delete files in bytes
 * @param danglingFiles the number of delete files that certainly apply to no data file: the only data file that they
 *   reference was removed, or their sequence number is too low. Other delete files may also apply to no data file
 * @param danglingBytes the size of these files in bytes
 * @param rewrite the position delete files that `rewrite_position_delete_files` would replace by fewer files, or in
 *   format version 3 and later by deletion vectors
 */
final case class DeleteFileHealth(
    positionDeleteFiles: Long,
    deletedPositions: Long,
    equalityDeleteFiles: Long,
    equalityDeleteRecords: Long,
    equalityDeleteBytes: Long,
    bytes: Long,
    danglingFiles: Long,
    danglingBytes: Long,
    rewrite: FileReplacement
)

/**
 * The manifests of a snapshot.
 *
 * @param count the number of manifests
 * @param bytes their size in bytes
 * @param smallCount the number of manifests below half of `commit.manifest.target-size-bytes`
 * @param rewrite the manifests that `rewrite_manifests` would replace: those of the current partition spec
 */
final case class ManifestHealth(count: Long, bytes: Long, smallCount: Long, rewrite: FileReplacement)

/**
 * The snapshots, branches and tags of a table.
 *
 * @param expirable the number of snapshots that the next expiration would remove, according to the retention properties
 *   of the table
 * @param expirableRefs the number of branches and tags that the next expiration would remove
 * @param deletesAllowed whether `gc.enabled` is true
 */
final case class SnapshotHealth(count: Long, expirable: Long, expirableRefs: Long, deletesAllowed: Boolean)

/**
 * The state of a table that determines which maintenance it needs.
 *
 * @param snapshotId the current snapshot, which the numbers of files describe; absent for a table without snapshots
 * @param metadataBytes the size of the metadata file; absent if the storage does not return it
 * @param orphans the orphan files in the table's directory
 */
final case class TableHealth(
    snapshotId: Option[Long],
    data: DataFileHealth,
    deletes: DeleteFileHealth,
    manifests: ManifestHealth,
    snapshots: SnapshotHealth,
    statistics: StatisticsHealth,
    metadataBytes: Option[Long],
    orphans: OrphanHealth
)

object TableHealth {

  /**
   * Reads the health of a table from its metadata and manifests. No data file is read. The entries of manifests are
   * summed while they are read, in memory that `limits` bounds, see [[FileSums]]. For a clustered table, the bounds of
   * all data files are compared, as for a rewrite, so that the memory grows with the number of data files.
   *
   * @param options the options of the rewrite that would combine small files
   * @param nowMs the current time in milliseconds since the epoch, for the retention of snapshots
   * @param orphanSearch searches for orphan files; if absent, or if `gc.enabled` is false, the table's directory is not
   *   listed
   * @param limits the maximum numbers of sums in memory
   * @throws iceberglite.spec.IcebergError.UnreadableFile if a manifest is missing or damaged
   */
  def of(
      table: Table,
      options: RewriteOptions,
      nowMs: Long,
      orphanSearch: Option[OrphanSearch] = None,
      limits: HealthLimits = HealthLimits.ofHeap
  ): TableHealth = {
    val metadata = table.metadata
    val tree = metadata.currentSnapshot.map(MetadataTree.at(_, table.tree()))
    val sums = new FileSums(options, PositionDeleteRules.of(metadata), limits)
    tree.foreach(sums.read(_, table.io))
    val snapshotHealth = snapshots(metadata, nowMs)
    TableHealth(
      metadata.currentSnapshotId,
      sums.data(clusteredFiles(table, options)),
      sums.deletes,
      sums.manifests(metadata.defaultSpecId, TableProperty.of(TableProperty.ManifestTargetSize, metadata.properties)),
      snapshotHealth,
      StatisticsHealth.of(metadata),
      table.io.info(table.metadataLocation).map(_.length),
      orphanSearch.filter(_ => snapshotHealth.deletesAllowed)
        .fold[OrphanHealth](OrphanHealth.NotSearched)(OrphanHealth.of(table, _, nowMs))
    )
  }

  /**
   * Returns the files of a clustered table; absent if the table is not clustered, or if its clustering columns are
   * invalid.
   */
  private def clusteredFiles(table: Table, options: RewriteOptions): Option[ClusteredFiles] =
    for (columns <- clusterColumns(table.metadata); snapshot <- table.currentSnapshot)
      yield ClusteredFiles.of(table, snapshot, columns, options)

  /**
   * Returns the clustering columns; absent if the table is not clustered, or if its clustering columns are invalid. The
   * step that rewrites data files reports invalid columns.
   */
  private def clusterColumns(metadata: TableMetadata): Option[ClusterColumns] =
    try ClusterColumns.of(metadata)
    catch { case _: InvalidArgument => None }

  private def snapshots(metadata: TableMetadata, nowMs: Long): SnapshotHealth = {
    val expired = Retention.of(metadata, nowMs).expired(metadata, nowMs)
    SnapshotHealth(
      metadata.snapshots.size.toLong,
      expired.snapshotIds.size.toLong,
      expired.refs.size.toLong,
      TableProperty.of(TableProperty.Gc, metadata.properties)
    )
  }
}
