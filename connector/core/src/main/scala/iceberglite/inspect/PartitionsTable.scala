package iceberglite.inspect

import scala.collection.mutable

import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, TimestampTzType}
import iceberglite.table.Table

/**
 * The record and file counts of each partition in a snapshot. There is one row for each partition of each partition
 * spec. An unpartitioned table has a single row, or no row if it has no files.
 */
object PartitionsTable extends MetadataTable {
  override val name = "partitions"
  override val showsOneSnapshot = true

  private val measures: Vector[NestedField] = Vector(
    NestedField.required(2, "record_count", LongType, "Number of rows in data files"),
    NestedField.required(3, "file_count", IntType, "Number of data files"),
    NestedField.required(11, "total_data_file_size_in_bytes", LongType, "Size of data files in bytes"),
    NestedField.required(5, "position_delete_record_count", LongType, "Number of positions in delete files"),
    NestedField.required(6, "position_delete_file_count", IntType, "Number of position delete files"),
    NestedField.required(7, "equality_delete_record_count", LongType, "Number of rows in equality delete files"),
    NestedField.required(8, "equality_delete_file_count", IntType, "Number of equality delete files"),
    NestedField.optional(9, "last_updated_at", TimestampTzType, "Time at which a file of the partition was last added"),
    NestedField.optional(10, "last_updated_snapshot_id", LongType, "Snapshot that last added a file of the partition")
  )

  override def schema(table: Table): Schema = {
    val partition = new PartitionStruct(table.metadata)
    val key = Vector(
      NestedField.required(1, "partition", partition.structType),
      NestedField.required(4, "spec_id", IntType, "Id of the partition spec of the files")
    )
    Schema(0, if (partition.isEmpty) measures else key ++ measures)
  }

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val partition = new PartitionStruct(table.metadata)
    val sums = mutable.LinkedHashMap.empty[(Int, MetadataRow), PartitionSums]
    FileScope.OneSnapshot.entries(table, snapshot).filter(_.isLive).foreach { e =>
      val row = partition.row(e.file.specId, e.file.partition)
      sums.getOrElseUpdate((e.file.specId, row), new PartitionSums).add(e, table.metadata.snapshotsById.get)
    }
    sums.iterator.map { case ((specId, row), sum) =>
      MetadataRow(if (partition.isEmpty) sum.values else Vector(row, specId) ++ sum.values)
    }
  }
}

/** Sums over the files of a partition. */
final private class PartitionSums {

  /** The number of records and the number of files for each content type (data, position deletes, equality deletes). */
  private val totals = Content.all.map(_ -> new Array[Long](2)).toMap
  private var dataBytes = 0L
  private var lastUpdate: Option[Snapshot] = None

  def add(e: ManifestEntry, snapshotOf: Long => Option[Snapshot]): Unit = {
    val recordsAndFiles = totals(e.file.content)
    recordsAndFiles(0) += e.file.recordCountOrZero
    recordsAndFiles(1) += 1
    if (e.file.content == Content.Data) dataBytes += e.file.fileSizeInBytes
    e.snapshotId.flatMap(snapshotOf).foreach(recordUpdate)
  }

  private def recordUpdate(snapshot: Snapshot): Unit =
    if (lastUpdate.forall(_.timestampMs < snapshot.timestampMs)) lastUpdate = Some(snapshot)

  def values: Vector[Any] = {
    val Seq(data, positions, equality) = Content.all.map(totals)
    Vector(
      data(0),
      data(1).toInt,
      dataBytes,
      positions(0),
      positions(1).toInt,
      equality(0),
      equality(1).toInt,
      lastUpdate.map(s => Micros.ofMillis(s.timestampMs)),
      lastUpdate.map(_.snapshotId)
    )
  }
}
