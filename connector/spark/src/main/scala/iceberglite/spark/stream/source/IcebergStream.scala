package iceberglite.spark.stream.source

import java.util
import java.util.Optional

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.read.{InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.connector.read.streaming.{
  Offset,
  ReadLimit,
  ReportsSourceMetrics,
  SupportsTriggerAvailableNow
}
import org.slf4j.LoggerFactory

import iceberglite.scan.{FileScanTask, ScanReport}
import iceberglite.scan.stream.{StreamBacklog, StreamContent, StreamOffset, StreamPlanner, StreamPosition, StreamState}
import iceberglite.spark.conf.StreamSettings
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{IcebergScan, ScanStream}
import iceberglite.spec.IcebergError
import iceberglite.tree.ManifestCache

/**
 * The micro-batches of a streaming query. Each trigger loads the newest version of the table with one request to the
 * catalog. If the table has no new snapshot, no other file is read. Files are read with the columns that the table had
 * when the query began, and are matched by field id.
 *
 * @param scan the columns to read, and how files are packed into tasks
 */
final private[source] class IcebergStream(
    scan: IcebergScan,
    table: StreamTable,
    settings: StreamSettings,
    initial: InitialOffset
) extends ScanStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics
    with ErrorBoundary {
  private val planner = new StreamPlanner(settings.content, ManifestCache.of(table.current.io))

  /** With `Trigger.AvailableNow`, the version of the table when the query began. */
  private var target: Option[StreamState] = None

  private var batch: ScanReport = IcebergStream.report(table.current.name, None, Vector.empty)

  private val tag = settings.consumer.map(ConsumerTag(_, settings.retentionMs))

  private lazy val first: StreamOffset = {
    val offset = initial.getOrWrite(settings.start.offset(target.getOrElse(table.poll()), settings.content))
    tag.foreach(_.advance(table, offset.position))
    offset
  }

  override protected def errorName: String = table.current.name

  override def initialOffset(): Offset = in(IcebergOffset(first))

  override def deserializeOffset(json: String): Offset = in(IcebergOffset.parse(json))

  override def getDefaultReadLimit: ReadLimit = in(IcebergReadLimit(settings.limit))

  override def prepareForTriggerAvailableNow(): Unit = in {
    target = Some(table.poll())
  }

  override def latestOffset(): Offset = in(latestOffset(initialOffset(), getDefaultReadLimit))

  /**
   * Returns the offset after the next micro-batch; null if there is nothing to read. Spark calls this method when the
   * micro-batches up to `start` are complete, so the tag of the consumer moves to `start`.
   */
  override def latestOffset(start: Offset, limit: ReadLimit): Offset = in {
    val state = target.getOrElse(table.poll())
    val from = IcebergOffset.of(start)
    moveTag(_.advanceKnown(table, from.position))
    planner.next(state, from, IcebergReadLimit.of(limit)).map(b => IcebergOffset(b.to)).orNull
  }

  /** Returns the offset after all available rows, for the progress of the query; null for an empty table. */
  override def reportLatestOffset(): Offset = in {
    val state = table.state
    state.head.map { head =>
      IcebergOffset(StreamOffset(StreamPosition.After(head.snapshotId), table = state.metadata.uuid))
    }.orNull
  }

  override def planInputPartitions(start: Offset, end: Offset): Array[InputPartition] = in {
    val (from, to) = (IcebergOffset.of(start), IcebergOffset.of(end))
    val state = table.including(to.position)
    val tasks = planner.tasks(state, from, to)
    batch = IcebergStream.report(table.current.name, to.position.snapshotId, tasks)
    val snapshot = to.position.snapshotId.flatMap(state.metadata.findSnapshot)
    scan.batchAt(table.current, snapshot, tasks).planInputPartitions()
  }

  override def createReaderFactory(): PartitionReaderFactory = in {
    scan.batchAt(table.current, None, Vector.empty).createReaderFactory()
  }

  /** Moves the tag of the consumer, if there is one. Spark calls this method when the next micro-batch is planned. */
  override def commit(end: Offset): Unit = in {
    moveTag(_.advance(table, IcebergOffset.of(end).position))
  }

  /** Moves the tag of the consumer, if there is one. After a failure, the next micro-batch tries again. */
  private def moveTag(move: ConsumerTag => Unit): Unit =
    try tag.foreach(move)
    catch {
      case e: IcebergError =>
        IcebergStream.log.warn(s"Could not move the tag of a consumer of ${table.current.name}: ${e.getMessage}")
    }

  override def stop(): Unit = in(())

  /** Returns how far the query is behind the table, for the progress of the query. */
  override def metrics(latestConsumed: Optional[Offset]): util.Map[String, String] = in {
    val consumed = if (latestConsumed.isPresent) IcebergOffset.of(latestConsumed.get) else first
    val backlog = StreamBacklog.after(table.state, consumed)
    Map(
      "snapshotsBehind" -> backlog.snapshots.toString,
      "filesBehind" -> backlog.files.toString,
      "bytesBehind" -> backlog.bytes.toString
    ).asJava
  }

  override def lastBatch: ScanReport = in(batch)

  override def description: String = in(s"$toString [files=${batch.resultFiles}, bytes=${batch.resultBytes}]")

  /** Returns the description of the source in the progress of the query. */
  override def toString: String = {
    val content = if (settings.content == StreamContent.Changes) "changes" else "appends"
    s"iceberg-lite ${table.current.name} (stream of $content)"
  }
}

private object IcebergStream {
  private val log = LoggerFactory.getLogger("iceberglite.spark.stream.source.IcebergStream")

  /** Returns the report of a micro-batch. Its planning does not count the manifests. */
  private def report(table: String, snapshotId: Option[Long], tasks: Vector[FileScanTask]): ScanReport = ScanReport(
    table = table,
    snapshotId = snapshotId,
    totalManifests = 0,
    skippedManifests = 0,
    totalFiles = None,
    prunedFiles = 0L,
    resultFiles = tasks.size.toLong,
    resultRecords = tasks.iterator.map(_.liveRecords).sum,
    resultBytes = tasks.iterator.map(_.length).sum
  )
}
