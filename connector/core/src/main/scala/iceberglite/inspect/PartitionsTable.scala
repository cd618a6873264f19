package iceberglite.inspect

import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.{Encryption, PartitionStatisticsFile, Snapshot}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, TimestampTzType}
import iceberglite.table.Table
import iceberglite.tree.{BoundedEntries, FilePart, MetadataTree}

/**
 * The record and file counts of each partition in a snapshot. There is one row for each partition of each partition
 * spec. An unpartitioned table has a single row, or no row if it has no files.
 */
object PartitionsTable extends GroupedTable {
  override val name = "partitions"
  override val showsOneSnapshot = true

  /**
   * The columns whose values a partition statistics file does not have. The file states when a partition was last
   * updated, but there, the removal of a file also counts as an update.
   */
  private lazy val updates: Vector[NestedField] = Vector(
    NestedField.optional(9, "last_updated_at", TimestampTzType, "Time at which a file of the partition was last added"),
    NestedField.optional(10, "last_updated_snapshot_id", LongType, "Snapshot that last added a file of the partition")
  )

  private lazy val measures: Vector[NestedField] = Vector(
    NestedField.required(2, "record_count", LongType, "Number of rows in data files"),
    NestedField.required(3, "file_count", IntType, "Number of data files"),
    NestedField.required(11, "total_data_file_size_in_bytes", LongType, "Size of data files in bytes"),
    NestedField.required(5, "position_delete_record_count", LongType, "Number of positions in delete files"),
    NestedField.required(
      6,
      "position_delete_file_count",
      IntType,
      "Number of position delete files and deletion vectors"
    ),
    NestedField.required(7, "equality_delete_record_count", LongType, "Number of rows in equality delete files"),
    NestedField.required(8, "equality_delete_file_count", IntType, "Number of equality delete files")
  ) ++ updates

  override def schema(table: Table): Schema = {
    val partition = new PartitionStruct(table.metadata)
    val key = Vector(
      NestedField.required(1, "partition", partition.structType),
      NestedField.required(4, "spec_id", IntType, "Id of the partition spec of the files")
    )
    Schema(0, if (partition.isEmpty) measures else key ++ measures)
  }

  /**
   * Returns one group, which reads the statistics file of the snapshot; or, if the file cannot be used, groups of
   * manifests such that each partition belongs to only one group.
   */
  override def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows] = {
    val (tree, metadata) = (table.tree(), table.metadata)
    val (partition, columns) = (new PartitionStruct(metadata), schema(table))
    val pruning = new EntryPruning(request, tree.specs)
    val needsUpdates = updates.exists(request.needs)
    val times =
      if (needsUpdates) metadata.snapshots.map(s => s.snapshotId -> s.timestampMs).toMap else Map.empty[Long, Long]
    snapshot.toVector.flatMap { s =>
      val files = MetadataTree.at(s, tree)
      val parts = files.parts.filter(part => request.filter == AlwaysTrue || pruning.mightMatch(part))
      val cached = BoundedEntries.cached(files, parts)
      def fromParts(group: Vector[FilePart]) =
        new PartitionRows(group, table.io, partition, columns, request, times, cached)
      val statistics = statisticsOf(table, s).filterNot(_ => needsUpdates || partition.isEmpty).map { file =>
        // A part without a count has at most one file for each byte.
        val maxRows = files.parts.iterator.map(part => part.liveFiles.getOrElse(part.length)).sum
        val (io, ofSnapshot) = (table.io, metadata.forReading(s))
        new PartitionStatisticsRows(file, io, ofSnapshot, columns, request, fromParts(parts), maxRows)
      }
      statistics.filter(_.mayBeUsed).fold[Vector[MetadataRows]](
        PartitionGroups.of(parts, tree.specs).map(fromParts(_))
      )(
        Vector(_)
      )
    }
  }

  private def statisticsOf(table: Table, snapshot: Snapshot): Option[PartitionStatisticsFile] =
    Encryption.readablePartitionStatistics(table.metadata).find(_.snapshotId == snapshot.snapshotId)
}
