package iceberglite.bench.version4

import java.util.UUID

import iceberglite.bench.MemoryIO
import iceberglite.catalog.MemoryPointer
import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.table.{Action, Change, Table, TableIdentifier, TableVersion}
import iceberglite.table.action.MergeAppend
import iceberglite.tree.{FilePart, ManifestCache, MetadataTree}

/**
 * A table with a given number of files, which exist only in metadata. The table is in the state of a table that is
 * written continuously: large appends have written the older files, and [[BenchTable.SmallAppends]] small appends have
 * written the newest files. In a table with so few files that there are no older files, one large append has written
 * all files.
 */
final class BenchTable(
    val version: FormatVersion,
    val data: SyntheticFiles,
    val files: Int,
    properties: Map[String, String] = Map.empty
) {
  import BenchTable._

  private val storage = new MemoryIO

  private val newest: TableVersion = {
    val io = new MeasuredIO(storage, 0)
    val perSmallAppend = filesPerSmallAppend(files.toDouble)
    val small = if (files > SmallAppends * perSmallAppend) SmallAppends * perSmallAppend else 0
    val sizes = batches(files - small, FilesPerLargeAppend) ++ batches(small, perSmallAppend)
    val starts = sizes.scanLeft(0)(_ + _)
    val table = starts.zip(sizes).foldLeft(create(io, version, data, properties)) { case (current, (from, count)) =>
      commit(current, new MergeAppend(data.range(from, from + count)))
    }
    table.version
  }

  /**
   * Returns a new access to the stored files of this table, with an empty cache of manifests.
   *
   * @param latencyMs the latency of each request
   */
  def cold(latencyMs: Long): MeasuredIO = new MeasuredIO(storage, latencyMs)

  /** Returns this table in its original state. Commits to a result of this method do not change other results. */
  def on(io: MeasuredIO): Table =
    new Table(Id, Id.toString, newest, io, new MemoryPointer(io, Some(newest)))

  def snapshot: Snapshot = newest.metadata.currentSnapshot.get

  /**
   * Returns the parts of the metadata tree of the newest snapshot, which are its manifests. In version 4, the last part
   * has the files that the root lists itself.
   */
  def parts: Vector[FilePart] = {
    val table = on(cold(0))
    MetadataTree.at(snapshot, table.tree(), ManifestCache.Disabled).parts
  }

  /** Returns the length of the manifest list or root of the newest snapshot, in bytes. */
  def topBytes: Long = storage.read(snapshot.manifestList.mkString).length.toLong
}

object BenchTable {

  /** The number of small appends that have written the newest files. */
  val SmallAppends = 50

  /**
   * Returns the number of files of each small append to a table, from 1 to 10. In a table of 500 files or more, at most
   * a tenth of the files are in small appends.
   */
  def filesPerSmallAppend(files: Double): Int = math.max(1, math.min(10, (files / (10 * SmallAppends)).toInt))

  private val FilesPerLargeAppend = 50000

  private val Id = TableIdentifier(Vector("db"), "t")

  private def batches(files: Int, size: Int): Vector[Int] =
    (0 until files by size).map(from => math.min(size, files - from)).toVector

  /** Creates an empty table. */
  def create(
      io: MeasuredIO,
      version: FormatVersion,
      data: SyntheticFiles,
      properties: Map[String, String] = Map.empty
  ): Table = {
    val updates = Vector(
      AssignUuid(new UUID(0, 1)),
      UpgradeFormatVersion(version),
      AddSchema(data.schema, data.schema.highestFieldId),
      SetCurrentSchema(LastAdded),
      AddPartitionSpec(data.spec),
      SetDefaultSpec(LastAdded),
      AddSortOrder(SortOrder.Unsorted),
      SetDefaultSortOrder(LastAdded),
      SetLocation(SyntheticFiles.Location),
      SetProperties(properties)
    )
    val committer = new MemoryPointer(io, None)
    new Table(Id, Id.toString, committer.commit(Id, None, Change(updates, Vector.empty)), io, committer)
  }

  def commit(table: Table, action: Action): Table = table.transaction().add(action).commit()
}
