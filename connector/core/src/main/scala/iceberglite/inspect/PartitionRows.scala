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
import iceberglite.tree.{FilePart, MetadataPool, SnapshotFiles}

/**
 * The rows of the partitions whose files a group of parts of a metadata tree (manifests in format versions 1 to 3)
 * lists. Each part is read once, several parts are read at the same time, and only the sums are kept in memory.
 *
 * @param columns the columns of the metadata table
 * @param times the commit times of the snapshots by their ids, in milliseconds since 1970
 * @param cached the snapshot whose cached entries are used; absent on executors, which do not cache parts
 */
final private[inspect] class PartitionRows(
    parts: Vector[FilePart],
    io: FileIO,
    partition: PartitionStruct,
    columns: Schema,
    request: RowRequest,
    times: Map[Long, Long],
    cached: Option[SnapshotFiles]
) extends MetadataRows {
  override def bytes: Long = parts.iterator.map(_.length).sum
  override def estimatedRows: Long = parts.iterator.map(_.estimatedLiveFiles).sum

  override def forReading: MetadataRows =
    new PartitionRows(parts.map(_.forReading), io, partition, columns, request, times, None)

  override def rows(): GroupRows = {
    val selection = new RequestedRows(columns, request)
    val sums = newSums
    parts.grouped(MetadataPool.Width).foreach { batch =>
      for (found <- MetadataPool.map(batch)(sumsOf); (key, sum) <- found)
        sums.get(key).fold[Unit](sums.update(key, sum))(_.add(sum))
    }
    GroupRows(sums.iterator.flatMap { case ((specId, key), sum) =>
      val values = if (partition.isEmpty) sum.values else Vector(PartitionStruct.row(key), specId) ++ sum.values
      selection(values)
    })
  }

  /**
   * Returns an empty map of sums by partition spec id and partition. The keys contain literals and not the values of
   * rows, because the value NaN is not equal to itself, and the value -0.0 equals 0.0.
   */
  private def newSums: mutable.LinkedHashMap[(Int, Vector[Option[Literal]]), PartitionSums] =
    mutable.LinkedHashMap.empty

  private def sumsOf(part: FilePart): mutable.LinkedHashMap[(Int, Vector[Option[Literal]]), PartitionSums] = {
    val sums = newSums
    cached.fold(part.entries(io))(_.entries(part)).filter(_.isLive).foreach { e =>
      val key = partition.values(e.file.specId, e.file.partition)
      sums.getOrElseUpdate((e.file.specId, key), new PartitionSums).add(e, times)
    }
    sums
  }
}

/** Sums over the files of a partition. */
final private class PartitionSums {

  /** The number of records and the number of files for each content type (data, position deletes, equality deletes). */
  private val totals = Content.all.map(_ -> new Array[Long](2)).toMap
  private var dataBytes = 0L

  /** The id and the commit time of the snapshot that last added a file. */
  private var lastUpdate: Option[(Long, Long)] = None

  def add(e: ManifestEntry, times: Map[Long, Long]): Unit = {
    val recordsAndFiles = totals(e.file.content)
    recordsAndFiles(0) += e.file.recordCountOrZero
    recordsAndFiles(1) += 1
    if (e.file.content == Content.Data) dataBytes += e.file.fileSizeInBytes
    for (id <- e.snapshotId; time <- times.get(id)) recordUpdate(id, time)
  }

  def add(that: PartitionSums): Unit = {
    for ((content, sums) <- totals; i <- sums.indices) sums(i) += that.totals(content)(i)
    dataBytes += that.dataBytes
    that.lastUpdate.foreach { case (id, time) => recordUpdate(id, time) }
  }

  private def recordUpdate(id: Long, time: Long): Unit =
    if (lastUpdate.forall(_._2 < time)) lastUpdate = Some((id, time))

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
      lastUpdate.map { case (_, time) => Micros.ofMillis(time) },
      lastUpdate.map(_._1)
    )
  }
}

/**
 * The rows of a snapshot from its partition statistics file (spec: "Partition Statistics"). The file is much smaller
 * than the manifests. It does not tell when a file was last added to a partition, because in this file, the removal of
 * a file also counts as an update of the partition.
 *
 * @param metadata metadata with the partition specs of the table
 * @param fallback the rows from the manifests, which are used if the file is damaged or incomplete
 * @param maxRows the number of live files of the snapshot, or a greater number if their exact number is not known
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
   * Returns whether the file can be used, as far as this is known when the query is planned. Only a small file is read
   * to determine this.
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
