package iceberglite.maintenance

import java.util.UUID

import scala.collection.mutable

import iceberglite.data.{DataFormats, DataSource, DataTarget}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.{Encryption, PartitionStatisticsFile, Snapshot, SummaryKey, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.types.Literal
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

  private[iceberglite] def write(
      io: FileIO,
      metadata: TableMetadata,
      snapshotId: Long,
      unique: UUID,
      rows: Vector[PartitionStatistics]
  ): PartitionStatisticsFile = {
    Encryption.reject(
      metadata,
      "partition statistics of",
      "The specification has no encrypted partition statistics; the metadata table partitions computes the same values"
    )
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
  def read(io: FileIO, metadata: TableMetadata, file: PartitionStatisticsFile): Vector[PartitionStatistics] =
    reading(io, metadata, file)(_.toVector)

  private def reading[A](io: FileIO, metadata: TableMetadata, file: PartitionStatisticsFile)(
      use: Iterator[PartitionStatistics] => A
  ): A = {
    val unified = unifiedOf(metadata).structType
    val path = file.statisticsPath
    val format = FileFormat.ofRows.find(f => path.endsWith(f.extension)).getOrElse {
      val extensions = FileFormat.ofRows.map(_.extension).mkString(" or ")
      throw UnreadableFile(path, "partition statistics", s"Its name does not end with $extensions")
    }
    val source = DataSource(io, path, file.fileSizeInBytes)
    val rows = DataFormats.of(format).read(source, PartitionStatisticsColumns.readColumns(unified))
    try use(rows.map(PartitionStatisticsColumns.statistics(_, unified, path)))
    finally rows.close()
  }

  /**
   * Returns the rows of the partitions that have files, or the reason why the file cannot be used: if it omits counts,
   * has two rows for a partition, or does not match the table or the summary of the snapshot. At most `maxRows` rows
   * are kept in memory, although the writer of the file may be another program.
   *
   * @param maxRows the number of live files of the snapshot, because each of these partitions has a file
   * @throws UnreadableFile as [[read]]
   */
  private[iceberglite] def readComplete(
      io: FileIO,
      metadata: TableMetadata,
      file: PartitionStatisticsFile,
      maxRows: Long
  ): Either[String, Vector[PartitionStatistics]] = {
    val rows = reading(io, metadata, file)(complete(_, PartitionStatisticsUpdate.validity(metadata), maxRows))
    val snapshot = metadata.snapshotsById.get(file.snapshotId)
    rows.flatMap(found => snapshot.flatMap(difference(found, _)).toLeft(found))
  }

  private def complete(
      rows: Iterator[PartitionStatistics],
      isValid: PartitionStatistics => Boolean,
      maxRows: Long
  ): Either[String, Vector[PartitionStatistics]] = {
    val partitions = mutable.HashSet.empty[(Int, Vector[Option[Literal]])]
    val kept = Vector.newBuilder[PartitionStatistics]
    var problem = Option.empty[String]
    while (problem.isEmpty && rows.hasNext) {
      val row = rows.next()
      if (!isValid(row)) problem = Some("It lacks counts, or does not match the table's partition specs")
      else if (row.hasFiles) {
        if (!partitions.add((row.specId, row.partition))) problem = Some("It has two rows for a partition")
        else if (partitions.size > maxRows)
          problem = Some(s"It has more partitions than the snapshot has files: $maxRows")
        else kept += row
      }
    }
    problem.toLeft(kept.result())
  }

  /** Returns how the sums of the rows differ from the totals in the summary of the snapshot, if it has totals. */
  private def difference(rows: Vector[PartitionStatistics], snapshot: Snapshot): Option[String] = {
    val sums = Seq(
      SummaryKey.TotalDataFiles -> rows.iterator.map(_.dataFileCount.toLong).sum,
      SummaryKey.TotalRecords -> rows.iterator.map(_.dataRecordCount).sum
    )
    sums.collectFirst(Function.unlift { case (key, sum) =>
      snapshot.count(key).filter(_ != sum).map(total => s"Its sum is $sum, but $key of the snapshot is $total")
    })
  }

  private def unifiedOf(metadata: TableMetadata): UnifiedPartition =
    if (metadata.specs.exists(_.isPartitioned)) new UnifiedPartition(metadata)
    else throw ValidationFailed("An unpartitioned table has no partition statistics, because its specs have no fields")
}
