package iceberglite.maintenance

import org.slf4j.LoggerFactory

import iceberglite.spec.{IcebergError, Redaction}
import iceberglite.spec.metadata.{PartitionStatisticsFile, Snapshot, TableMetadata}
import iceberglite.spec.types.{Literal, Type}
import iceberglite.spec.types.Literal.DecimalLiteral
import iceberglite.spec.types.Type.DecimalType
import iceberglite.storage.FileIO
import iceberglite.tree.{MetadataPool, MetadataTree, SnapshotFiles, TreeTable, UnifiedPartition}

/**
 * Computes the partition statistics of a snapshot from those of an ancestor and from the changes after the ancestor.
 * Only the manifests that the snapshots after the ancestor wrote are read.
 */
private[maintenance] object PartitionStatisticsUpdate {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.PartitionStatisticsUpdate")

  /**
   * Returns the sorted rows. The rows may differ from those of a full computation in these ways:
   *
   *   - The last update of a partition may be later. The reason is that a full computation does not find the files that
   *     older snapshots removed if the manifests of these snapshots were rewritten.
   *   - A partition without files has a row only if its last file was removed after the ancestor.
   *
   * @return absent if the statistics must be computed from all files: if no ancestor in the metadata has a statistics
   *   file, if the file of the nearest such ancestor is damaged, if the manifests with the changes have more bytes than
   *   all manifests of the snapshot, or if the rows of the ancestor are inconsistent with the changes or with the
   *   table's partition specs
   */
  def of(io: FileIO, metadata: TableMetadata, snapshot: Snapshot): Option[Vector[PartitionStatistics]] =
    for {
      (file, newer) <- base(metadata, snapshot)
      trees = newer.map(MetadataTree.at(_, TreeTable(metadata.location, io, metadata)))
      if isCheaper(trees)
      rows <- read(io, metadata, file)
      changes = changesOf(metadata, trees)
      updated <- combined(metadata, rows, changes)
    } yield updated

  /** Returns the statistics file of the nearest ancestor that has one, and the snapshots after this ancestor. */
  private def base(metadata: TableMetadata, snapshot: Snapshot): Option[(PartitionStatisticsFile, Vector[Snapshot])] = {
    val files = metadata.partitionStatistics.map(file => file.snapshotId -> file).toMap - snapshot.snapshotId
    val (newer, rest) = metadata.ancestors(snapshot).span(s => !files.contains(s.snapshotId))
    val snapshots = newer.toVector
    if (rest.hasNext) Some((files(rest.next().snapshotId), snapshots)) else None
  }

  private def isCheaper(newer: Vector[SnapshotFiles]): Boolean = {
    val changed = newer.iterator.flatMap(_.changedParts.iterator.map(_.length)).sum
    newer.headOption.exists(newest => changed <= newest.parts.iterator.map(_.length).sum)
  }

  /**
   * Reads a statistics file; absent if the file is damaged, as a file of another writer may be. In this case, the
   * statistics are computed without the file.
   */
  private def read(
      io: FileIO,
      metadata: TableMetadata,
      file: PartitionStatisticsFile
  ): Option[Vector[PartitionStatistics]] =
    try Some(PartitionStatisticsFiles.read(io, metadata, file))
    catch {
      case e: IcebergError =>
        val message = "Partition statistics are computed from all files, without the previous statistics file"
        log.warn(Redaction(s"$message: ${e.getMessage}"))
        None
    }

  private def changesOf(metadata: TableMetadata, newer: Vector[SnapshotFiles]): Vector[PartitionStatistics] = {
    val unified = new UnifiedPartition(metadata)
    def newSums = new PartitionStatistics.Sums(unified, metadata.snapshotsById.get)
    val parts = newer.flatMap(tree => tree.changedParts.map(tree -> _))
    val sums = MetadataPool.map(parts) { case (tree, part) =>
      tree.changesIn(part).foldLeft(newSums)(_.addChange(tree.snapshot, _))
    }
    sums.foldLeft(newSums)(_ ++= _).result()
  }

  private def combined(
      metadata: TableMetadata,
      old: Vector[PartitionStatistics],
      changes: Vector[PartitionStatistics]
  ): Option[Vector[PartitionStatistics]] = {
    val changed = changes.map(row => (row.specId, row.partition) -> row).toMap
    val rows = old.filter(row => row.hasFiles || changed.contains((row.specId, row.partition)))
    val known = rows.map(row => (row.specId, row.partition)).toSet
    val updated = rows.map(row => changed.get((row.specId, row.partition)).fold(row)(row ++ _)) ++
      changes.filterNot(row => known((row.specId, row.partition)))
    if (known.size == rows.size && updated.forall(validity(metadata)))
      Some(updated.map(_.copy(totalRecordCount = None)).sorted(PartitionStatistics.ordering))
    else None
  }

  /**
   * Returns the function that tells whether a row matches the table, as far as this can be seen without the files of
   * the snapshot.
   */
  def validity(metadata: TableMetadata): PartitionStatistics => Boolean = {
    val types = new UnifiedPartition(metadata).structType.fields.map(_.fieldType)
    isValid(metadata, types, _)
  }

  /**
   * Returns whether the partition spec of a row exists, its counts are present and not negative, and its partition
   * values have the current types of the partition fields.
   */
  private def isValid(metadata: TableMetadata, types: Vector[Type], row: PartitionStatistics): Boolean =
    metadata.specsById.contains(row.specId) && row.counts.forall(_.exists(_ >= 0)) &&
      row.partition.zip(types).forall { case (value, fieldType) => value.forall(hasType(_, fieldType)) }

  /**
   * Returns whether a value has a type. The precision of a decimal is not compared, because a value does not contain
   * the precision of its type.
   */
  private def hasType(value: Literal, fieldType: Type): Boolean = (value, fieldType) match {
    case (DecimalLiteral(decimal), DecimalType(_, scale)) => decimal.scale == scale
    case _ => value.dataType == fieldType
  }
}
