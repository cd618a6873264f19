package iceberglite.inspect

import scala.collection.mutable

import org.slf4j.LoggerFactory

import iceberglite.maintenance.{PartitionStatistics, PartitionStatisticsFiles}
import iceberglite.spec.{IcebergError, Redaction}
import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.spec.metadata.{PartitionStatisticsFile, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal
import iceberglite.storage.FileIO
import iceberglite.tree.{BoundedEntries, BoundedSums, FilePart, MetadataPool, SnapshotFiles}

/**
 * The rows of the partitions whose files a group of parts of a metadata tree (manifests in format versions 1 to 3)
 * lists. Only the sums are kept in memory. If there are more than `maxPartitions` partitions, the parts of the tree are
 * read several times, each time for some of the partitions.
 *
 * @param columns the columns of the metadata table
 * @param times the commit times of the snapshots by their ids, in milliseconds since 1970
 * @param cached the snapshot whose cached entries are used; absent on executors, which do not cache parts
 * @param maxPartitions the maximum number of partitions whose sums are in memory, at least 2; by default, it depends on
 *   the heap of the JVM that produces the rows
 */
final private[inspect] class PartitionRows(
    parts: Vector[FilePart],
    io: FileIO,
    partition: PartitionStruct,
    columns: Schema,
    request: RowRequest,
    times: Map[Long, Long],
    cached: Option[SnapshotFiles],
    maxPartitions: () => Int = PartitionRows.MaxPartitions
) extends MetadataRows {
  import PartitionRows._

  override def bytes: Long = parts.iterator.map(_.length).sum
  override def estimatedRows: Long = parts.iterator.map(_.estimatedLiveFiles).sum

  override def forReading: MetadataRows =
    new PartitionRows(parts.map(_.forReading), io, partition, columns, request, times, None, maxPartitions)

  override def rows(): GroupRows = {
    val selection = new RequestedRows(columns, request)
    // One half is for the sums of a pass, and the other one for those of the parts that are read at the same time.
    val half = math.max(1, maxPartitions() / 2)
    val passes = BoundedSums.passes[Key, PartitionSums](half)(read(_, half.toLong))
    GroupRows(passes.flatMap(_.iterator).flatMap { case ((specId, key), sum) =>
      val values = if (partition.isEmpty) sum.values else Vector(PartitionStruct.row(key), specId) ++ sum.values
      selection(values)
    })
  }

  /** Reads the parts, several at the same time. Their sums are merged in the order of the parts. */
  private def read(sums: BoundedSums[Key, PartitionSums], maxFiles: Long): Unit = batches(maxFiles).foreach {
    case Vector(part) => entries(part).foreach { case (key, e) =>
        sums.at(key)(new PartitionSums).foreach(_.add(e, times))
      }
    case batch => for (found <- MetadataPool.map(batch)(sumsOf(_, sums)); (key, sum) <- found)
        sums.at(key)(new PartitionSums).foreach(_.add(sum))
  }

  /** Divides the parts into batches that are read at the same time, of which each has at most `maxFiles` files. */
  private def batches(maxFiles: Long): Iterator[Vector[FilePart]] = {
    val all = Vector.newBuilder[Vector[FilePart]]
    var (batch, files) = (Vector.empty[FilePart], 0L)
    parts.foreach { part =>
      if (batch.size == MetadataPool.Width || batch.nonEmpty && files + part.estimatedLiveFiles > maxFiles) {
        all += batch
        batch = Vector.empty
        files = 0
      }
      batch :+= part
      files += part.estimatedLiveFiles
    }
    (if (batch.isEmpty) all else all += batch).result().iterator
  }

  private def sumsOf(
      part: FilePart,
      pass: BoundedSums[Key, PartitionSums]
  ): mutable.LinkedHashMap[Key, PartitionSums] = {
    val sums = mutable.LinkedHashMap.empty[Key, PartitionSums]
    entries(part).foreach { case (key, e) =>
      if (pass.keeps(key)) sums.getOrElseUpdate(key, new PartitionSums).add(e, times)
    }
    sums
  }

  private def entries(part: FilePart): Iterator[(Key, ManifestEntry)] =
    BoundedEntries.of(part, io, cached).filter(_.isLive).map { e =>
      (e.file.specId, partition.values(e.file.specId, e.file.partition)) -> e
    }
}

private[inspect] object PartitionRows {

  /**
   * The id of the partition spec and the partition values. The key has literals instead of the values of rows, because
   * NaN is not equal to itself, and -0.0 equals 0.0.
   */
  private type Key = (Int, Vector[Option[Literal]])

  private val BytesPerPartition = 600

  /** The tasks that run in a JVM at the same time share a quarter of its heap. */
  private val MaxPartitions: () => Int =
    () => BoundedSums.maxKeys(BytesPerPartition, 0.25 / Runtime.getRuntime.availableProcessors)
}

/** Sums over the files of a partition. */
final private class PartitionSums {

  /** The number of records and the number of files for each content type (data, position deletes, equality deletes). */
  private val totals = new Array[Long](2 * Content.all.size)
  private var dataBytes = 0L

  /** The id and the commit time of the snapshot that last added a file. */
  private var lastUpdate: Option[(Long, Long)] = None

  def add(e: ManifestEntry, times: Map[Long, Long]): Unit = {
    val i = 2 * Content.all.indexOf(e.file.content)
    totals(i) += e.file.recordCountOrZero
    totals(i + 1) += 1
    if (e.file.content == Content.Data) dataBytes += e.file.fileSizeInBytes
    for (id <- e.snapshotId; time <- times.get(id)) recordUpdate(id, time)
  }

  def add(that: PartitionSums): Unit = {
    for (i <- totals.indices) totals(i) += that.totals(i)
    dataBytes += that.dataBytes
    that.lastUpdate.foreach { case (id, time) => recordUpdate(id, time) }
  }

  private def recordUpdate(id: Long, time: Long): Unit =
    if (lastUpdate.forall(_._2 < time)) lastUpdate = Some((id, time))

  def values: Vector[Any] = {
    val Seq(data, positions, equality) = Content.all.indices.map(i => (totals(2 * i), totals(2 * i + 1).toInt))
    Vector(
      data._1,
      data._2,
      dataBytes,
      positions._1,
      positions._2,
      equality._1,
      equality._2,
      lastUpdate.map { case (_, time) => Micros.ofMillis(time) },
      lastUpdate.map(_._1)
    )
  }
}

/**
 * The rows of a snapshot from its partition statistics file (spec: "Partition Statistics"). It is much smaller than the
 * manifests. It does not tell when a file was last added to a partition, because it counts removals as updates too.
 *
 * @param metadata metadata with the partition specs of the table
 * @param fallback the rows from the manifests, which are used if the file is damaged or incomplete
 * @param maxRows the number of live files of the snapshot
 */
final private[inspect] class PartitionStatisticsRows(
    file: PartitionStatisticsFile,
    io: FileIO,
    metadata: TableMetadata,
    columns: Schema,
    request: RowRequest,
    fallback: MetadataRows,
    maxRows: Long
) extends MetadataRows {
  import PartitionStatisticsRows._

  override def bytes: Long = file.fileSizeInBytes
  override def estimatedRows: Long = math.min(fallback.estimatedRows, file.fileSizeInBytes)

  override def forReading: MetadataRows =
    new PartitionStatisticsRows(file, io, metadata, columns, request, fallback.forReading, maxRows)

  /**
   * Returns whether the file can be used, as far as this is known when the query is planned: only a small file is read
   * for this.
   */
  def mayBeUsed: Boolean = file.fileSizeInBytes > MaxPlanningBytes || valuesOfFile.isDefined

  override def rows(): GroupRows = valuesOfFile.fold(fallback.rows()) { all =>
    val selection = new RequestedRows(columns, request)
    GroupRows(all.iterator.flatMap(selection(_)))
  }

  /** Returns the values of the partitions; absent if the file cannot be used. */
  @transient private lazy val valuesOfFile: Option[Vector[Vector[Any]]] =
    try PartitionStatisticsFiles.readComplete(io, metadata, file, maxRows) match {
        case Right(rows) => Some(rows.map(values))
        case Left(reason) =>
          warn(reason)
          None
      }
    catch {
      case e: IcebergError =>
        warn(e.getMessage)
        None
    }

  private def values(s: PartitionStatistics): Vector[Any] = Vector(
    PartitionStruct.row(s.partition),
    s.specId,
    s.dataRecordCount,
    s.dataFileCount,
    s.totalDataFileSizeInBytes,
    s.positionDeleteRecordCount.getOrElse(0L),
    s.positionDeleteFileCount.getOrElse(0) + s.dvCount,
    s.equalityDeleteRecordCount.getOrElse(0L),
    s.equalityDeleteFileCount.getOrElse(0),
    None,
    None
  )

  private def warn(reason: String): Unit = log.warn(Redaction(
    s"The metadata table partitions reads the manifests instead of the partition statistics ${file.statisticsPath}: " +
      reason
  ))
}

private[inspect] object PartitionStatisticsRows {
  private val log = LoggerFactory.getLogger("iceberglite.inspect.PartitionStatisticsRows")

  /** The largest statistics file that is read when a query is planned. */
  private val MaxPlanningBytes = 8L << 20
}
