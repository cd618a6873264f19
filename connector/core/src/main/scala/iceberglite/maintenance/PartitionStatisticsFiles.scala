package iceberglite.maintenance

import java.util.UUID

import iceberglite.data.{DataFormats, DataSource, DataTarget}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.{PartitionStatisticsFile, Snapshot, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, TableLocations}
import iceberglite.tree.{MetadataPool, MetadataTree, TreeTable, UnifiedPartition}

/** Computes, writes and reads the partition statistics of a snapshot (spec: "Partition Statistics"). */
object PartitionStatisticsFiles {

  /**
   * Computes the sorted statistics of a snapshot from all of its files.
   *
   * @throws ValidationFailed if no partition spec of the table has a partition field
   */
  def compute(io: FileIO, metadata: TableMetadata, snapshot: Snapshot): Vector[PartitionStatistics] = {
    val unified = unifiedOf(metadata)
    val tree = MetadataTree.at(snapshot, TreeTable(metadata.location, io, metadata))
    def newSums = new PartitionStatistics.Sums(unified, metadata.snapshotsById.get)
    val sumsByPart = MetadataPool.map(tree.parts)(tree.entries(_).foldLeft(newSums)(_ += _))
    sumsByPart.foldLeft(newSums)(_ ++= _).result()
  }

  /**
   * Writes the statistics of a snapshot, in the format that the table uses for data files. If the metadata has
   * statistics of an ancestor of the snapshot, the new statistics are computed from these and from the changes after
   * the ancestor; see [[PartitionStatisticsUpdate]]. The file is not used until `SetPartitionStatistics` adds it to the
   * table metadata.
   *
   * @param unique a part of the file name that distinguishes the file from other files of the snapshot
   * @return absent if there are no rows, because no manifest of the snapshot has entries
   */
  def write(io: FileIO, metadata: TableMetadata, snapshot: Snapshot, unique: UUID): Option[PartitionStatisticsFile] =
    Some(rowsOf(io, metadata, snapshot)).filter(_.nonEmpty).map(write(io, metadata, snapshot.snapshotId, unique, _))

  private def rowsOf(io: FileIO, metadata: TableMetadata, snapshot: Snapshot): Vector[PartitionStatistics] = {
    unifiedOf(metadata)
    PartitionStatisticsUpdate.of(io, metadata, snapshot).getOrElse(compute(io, metadata, snapshot))
  }

  private[maintenance] def write(
      io: FileIO,
      metadata: TableMetadata,
      snapshotId: Long,
      unique: UUID,
      rows: Vector[PartitionStatistics]
  ): PartitionStatisticsFile = {
    val (unified, version) = (unifiedOf(metadata).structType, metadata.formatVersion)
    val format = TableProperty.of(TableProperty.WriteFormat, metadata.properties)
    val path = s"${TableLocations.metadata(metadata)}/partition-stats-$snapshotId-$unique${format.extension}"
    val schema = PartitionStatisticsColumns.schema(unified, version)
    val target = DataTarget(io, path, schema, metadata.properties, MetricsModes(Map.empty))
    val writer = created(io, path)(DataFormats.of(format).write(target))
    try {
      rows.foreach(row => writer.write(PartitionStatisticsColumns.record(row, unified, version)))
      PartitionStatisticsFile(snapshotId, path, writer.close().fileSizeInBytes)
    } catch {
      case e: Throwable =>
        writer.abort()
        throw e
    }
  }

  /**
   * Creates a file. If the storage reports a failure, the file is deleted, because the storage may have created it in
   * spite of the failure.
   */
  private def created[A](io: FileIO, path: String)(create: => A): A =
    try create
    catch {
      case e: Throwable =>
        Cleanup.delete(io, Vector(path))
        throw e
    }

  /**
   * Returns the rows of a file, in file order.
   *
   * @param metadata the table's metadata; partition specs may have been added since the file was written
   * @throws UnreadableFile if the file is damaged, or is not a partition statistics file
   */
  def read(io: FileIO, metadata: TableMetadata, file: PartitionStatisticsFile): Vector[PartitionStatistics] = {
    val unified = unifiedOf(metadata).structType
    val path = file.statisticsPath
    val format = FileFormat.ofRows.find(f => path.endsWith(f.extension)).getOrElse {
      val extensions = FileFormat.ofRows.map(_.extension).mkString(" or ")
      throw UnreadableFile(path, "partition statistics", s"Its name does not end with $extensions")
    }
    val source = DataSource(io, path, file.fileSizeInBytes)
    val rows = DataFormats.of(format).read(source, PartitionStatisticsColumns.readColumns(unified))
    try rows.map(PartitionStatisticsColumns.statistics(_, unified, path)).toVector
    finally rows.close()
  }

  /**
   * Returns the rows of a file; absent if the file omits counts, has two rows for a partition, or does not match the
   * table's partition specs.
   *
   * @throws UnreadableFile as [[read]]
   */
  private[iceberglite] def readComplete(
      io: FileIO,
      metadata: TableMetadata,
      file: PartitionStatisticsFile
  ): Option[Vector[PartitionStatistics]] = {
    val rows = read(io, metadata, file)
    val isDistinct = rows.iterator.map(row => (row.specId, row.partition)).toSet.size == rows.size
    Some(rows).filter(_ => isDistinct && PartitionStatisticsUpdate.areValid(metadata, rows))
  }

  private def unifiedOf(metadata: TableMetadata): UnifiedPartition =
    if (metadata.specs.exists(_.isPartitioned)) new UnifiedPartition(metadata)
    else throw ValidationFailed("An unpartitioned table has no partition statistics, because its specs have no fields")
}
