package iceberglite.maintenance

import scala.collection.mutable

import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal
import iceberglite.tree.UnifiedPartition

/**
 * The contents of one partition of one partition spec in a snapshot: a row of a partition statistics file (spec:
 * "Partition Statistics File"). Counts that are optional in a file of version 1 or 2 are absent if the file omits them.
 *
 * @param partition the partition values, in the order of the unified partition type; `None` is null
 * @param totalRecordCount the number of rows after all deletes; absent if they were not counted
 * @param lastUpdatedAt the commit time of the last snapshot that added or removed a file of the partition, in
 *   milliseconds since the epoch
 * @param lastUpdatedSnapshotId the id of that snapshot
 */
final case class PartitionStatistics(
    partition: Vector[Option[Literal]],
    specId: Int,
    dataRecordCount: Long,
    dataFileCount: Int,
    totalDataFileSizeInBytes: Long,
    positionDeleteRecordCount: Option[Long],
    positionDeleteFileCount: Option[Int],
    equalityDeleteRecordCount: Option[Long],
    equalityDeleteFileCount: Option[Int],
    totalRecordCount: Option[Long],
    lastUpdatedAt: Option[Long],
    lastUpdatedSnapshotId: Option[Long],
    dvCount: Int
) {

  /**
   * All counts of files, rows and bytes except the total record count. A count is absent if it is optional and the
   * statistics file omits it.
   */
  private[maintenance] def counts: Vector[Option[Long]] = Vector(
    Some(dataRecordCount),
    Some(dataFileCount.toLong),
    Some(totalDataFileSizeInBytes),
    positionDeleteRecordCount,
    positionDeleteFileCount.map(_.toLong),
    equalityDeleteRecordCount,
    equalityDeleteFileCount.map(_.toLong),
    Some(dvCount.toLong)
  )

  /** Whether the partition has data files or delete files, as far as the counts are known. */
  private[iceberglite] def hasFiles: Boolean = counts.flatten.exists(_ != 0)

  /**
   * Adds later changes to the same partition. The total record count of the result is always absent. Another count is
   * absent if the count of this row or of `changes` is absent.
   *
   * @param changes the sums of the added files, minus those of the removed files
   */
  private[maintenance] def ++(changes: PartitionStatistics): PartitionStatistics = {
    def sum[A](a: Option[A], b: Option[A])(plus: (A, A) => A): Option[A] = for (x <- a; y <- b) yield plus(x, y)
    val isNewer = changes.lastUpdatedAt.exists(time => lastUpdatedAt.forall(_ < time))
    PartitionStatistics(
      partition,
      specId,
      dataRecordCount + changes.dataRecordCount,
      dataFileCount + changes.dataFileCount,
      totalDataFileSizeInBytes + changes.totalDataFileSizeInBytes,
      sum(positionDeleteRecordCount, changes.positionDeleteRecordCount)(_ + _),
      sum(positionDeleteFileCount, changes.positionDeleteFileCount)(_ + _),
      sum(equalityDeleteRecordCount, changes.equalityDeleteRecordCount)(_ + _),
      sum(equalityDeleteFileCount, changes.equalityDeleteFileCount)(_ + _),
      totalRecordCount = None,
      if (isNewer) changes.lastUpdatedAt else lastUpdatedAt,
      if (isNewer) changes.lastUpdatedSnapshotId else lastUpdatedSnapshotId,
      dvCount + changes.dvCount
    )
  }
}

object PartitionStatistics {

  /**
   * The order of rows that the specification requires for the file: by partition, ascending with nulls first. Equal
   * tuples of different partition specs are ordered by partition spec id.
   */
  val ordering: Ordering[PartitionStatistics] = new Ordering[PartitionStatistics] {
    override def compare(a: PartitionStatistics, b: PartitionStatistics): Int = {
      val values = a.partition.iterator.zip(b.partition.iterator).map { case (x, y) => compareValues(x, y) }
      values.find(_ != 0).getOrElse(Integer.compare(a.specId, b.specId))
    }
  }

  private def compareValues(a: Option[Literal], b: Option[Literal]): Int = (a, b) match {
    case (Some(x), Some(y)) => Literal.ordering.compare(x, y)
    case _ => java.lang.Boolean.compare(a.isDefined, b.isDefined)
  }

  /**
   * Sums the manifest entries of a snapshot, in any order. Entries of deleted files are not counted, but they determine
   * when a partition was last updated. The class is not thread-safe.
   */
  final class Sums(unified: UnifiedPartition, snapshotOf: Long => Option[Snapshot]) {
    private val byPartition = mutable.HashMap.empty[(Int, PartitionTuple), PartitionStatisticsSum]

    def +=(entry: ManifestEntry): this.type = {
      val sum = of(entry.file.specId, entry.file.partition)
      if (entry.isLive) sum.add(entry.file, 1)
      entry.snapshotId.flatMap(snapshotOf).foreach(sum.recordUpdate)
      this
    }

    /**
     * Adds or subtracts a file that a snapshot added or removed.
     *
     * @param entry an entry of the changes of the snapshot
     */
    def addChange(snapshot: Snapshot, entry: ManifestEntry): this.type = {
      val sum = of(entry.file.specId, entry.file.partition)
      sum.add(entry.file, if (entry.isLive) 1 else -1)
      sum.recordUpdate(snapshot)
      this
    }

    /** Adds the sums of other manifests. */
    def ++=(that: Sums): this.type = {
      that.forEach((specId, tuple, sum) => of(specId, tuple).add(sum))
      this
    }

    /** Returns the sorted rows. A partition whose added entries are all of deleted files has a row with zero counts. */
    def result(): Vector[PartitionStatistics] = byPartition.iterator.map { case ((specId, tuple), sum) =>
      sum.result(unified.values(specId, tuple), specId)
    }.toVector.sorted(ordering)

    private def of(specId: Int, tuple: PartitionTuple): PartitionStatisticsSum =
      byPartition.getOrElseUpdate((specId, tuple), new PartitionStatisticsSum)

    private def forEach(f: (Int, PartitionTuple, PartitionStatisticsSum) => Unit): Unit =
      byPartition.foreach { case ((specId, tuple), sum) => f(specId, tuple, sum) }
  }
}

/** Sums over the files of a partition. */
final private class PartitionStatisticsSum {
  private var (dataRecords, dataFiles, dataBytes) = (0L, 0, 0L)
  private var (positionRecords, positionFiles, vectors) = (0L, 0, 0)
  private var (equalityRecords, equalityFiles) = (0L, 0)
  private var lastUpdate: Option[Snapshot] = None

  /** @param sign 1 to add the file, -1 to subtract it */
  def add(file: ContentFile, sign: Int): Unit = file.content match {
    case Content.Data =>
      dataRecords += sign * file.recordCountOrZero
      dataFiles += sign
      dataBytes += sign * file.fileSizeInBytes
    case Content.PositionDeletes =>
      positionRecords += sign * file.recordCount
      if (file.isDeletionVector) vectors += sign else positionFiles += sign
    case Content.EqualityDeletes =>
      equalityRecords += sign * file.recordCount
      equalityFiles += sign
  }

  def add(that: PartitionStatisticsSum): Unit = {
    dataRecords += that.dataRecords
    dataFiles += that.dataFiles
    dataBytes += that.dataBytes
    positionRecords += that.positionRecords
    positionFiles += that.positionFiles
    vectors += that.vectors
    equalityRecords += that.equalityRecords
    equalityFiles += that.equalityFiles
    that.lastUpdate.foreach(recordUpdate)
  }

  def recordUpdate(snapshot: Snapshot): Unit =
    if (lastUpdate.forall(_.timestampMs < snapshot.timestampMs)) lastUpdate = Some(snapshot)

  /**
   * Returns the row. The total record count is omitted, even for partitions without deletes, for which it is known. The
   * reason is that Apache Iceberg does not correct an existing count when it updates the statistics incrementally.
   */
  def result(partition: Vector[Option[Literal]], specId: Int): PartitionStatistics = PartitionStatistics(
    partition,
    specId,
    dataRecords,
    dataFiles,
    dataBytes,
    Some(positionRecords),
    Some(positionFiles),
    Some(equalityRecords),
    Some(equalityFiles),
    totalRecordCount = None,
    lastUpdate.map(_.timestampMs),
    lastUpdate.map(_.snapshotId),
    vectors
  )
}
