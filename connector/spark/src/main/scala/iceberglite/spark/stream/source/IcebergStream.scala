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
import iceberglite.scan.stream.{
  StreamBacklog,
  StreamColumns,
  StreamContent,
  StreamLimit,
  StreamOffset,
  StreamPlanner,
  StreamPosition,
  StreamState,
  TrackedSchema
}
import iceberglite.spark.conf.StreamSettings
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{ChangeView, IcebergScan, ScanStream}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.tree.ManifestCache

/**
 * The micro-batches of a streaming query. Except with `Trigger.AvailableNow`, each trigger loads the newest version of
 * the table with one request to the catalog. If the table has no new snapshot, nothing else is read. While a
 * micro-batch is processed, the files of the next one are planned. Files are read with the columns of the DataFrame,
 * which are matched by field id: those that the table had when the DataFrame was created or, with [[SchemaTracking]],
 * those that the query has recorded.
 *
 * @param scan the columns to read, and how files are packed into tasks
 * @param changeView how the rows of a micro-batch are computed from its changes; absent for a stream of appends, and
 *   for a stream that returns each deleted and inserted row
 * @param tracking records the columns of the query; absent if a change of the columns of the table ends the query
 */
final private[source] class IcebergStream(
    scan: IcebergScan,
    table: StreamTable,
    settings: StreamSettings,
    initial: InitialOffset,
    override val changeView: Option[ChangeView] = None,
    tracking: Option[QueryColumns] = None
) extends ScanStream
    with SupportsTriggerAvailableNow
    with ReportsSourceMetrics
    with ErrorBoundary {
  private val planner = new StreamPlanner(settings.content, ManifestCache.of(table.current.io))

  /** With `Trigger.AvailableNow`, the version of the table when the query began; otherwise absent. */
  private var target: Option[StreamState] = None

  /** The limit of the last micro-batch, which is usually also the limit of the next micro-batch. */
  private var lastLimit: StreamLimit = settings.limit

  private var batch: ScanReport = IcebergStream.report(table.current.name, None, Vector.empty)
  private var nextRows: Option[Long] = None

  /** Whether operators of the query may return rows of earlier micro-batches. */
  private var keepsState = false

  /**
   * The tag of the consumer; absent without a consumer. A consumer is a streaming query with the option `consumer-id`.
   */
  private val tag = settings.consumer.map { consumer =>
    val moves = ConsumerMoves.of(initial.query, table.current.metadata.uuid, consumer.tag)
    new ConsumerTag(consumer, settings.retentionMs, moves = moves)
  }

  private lazy val first: StreamOffset = {
    val offset = initial.getOrWrite {
      val state = newest()
      tracking.foreach(_.requireUnused(state))
      settings.start.offset(state, settings.content)
    }
    tag.foreach(_.advance(table, offset.position))
    offset
  }

  /** The columns that the query has recorded; absent without tracking, and before the first micro-batch is planned. */
  private var recorded: Option[SchemaTracking.Recorded] = None

  /** The version of the table before the next change of the columns; absent if no change is known. */
  private var readable: Option[StreamState] = None

  /** Returns the version of the table up to which the query reads. */
  private def newest(): StreamState = target.getOrElse(table.poll())

  /**
   * Checks that the query reads the columns that a version of the table has. With tracking, [[changeAfter]] compares
   * the columns of each commit instead. If the columns differ because the table was replaced, the method reports the
   * replacement and not the columns: with the checkpoint of the old table, no query can continue. If the columns are
   * equal, a replacement is reported when the next micro-batch is planned.
   */
  private def checkColumns(state: StreamState, from: StreamOffset): Unit = {
    val current = table.columnsOf(state)
    if (tracking.isEmpty && scan.files.schema.fields != current.fields) {
      planner.requireContinued(state, from)
      StreamColumns.check(table.current.name, scan.files.schema, current)
    }
  }

  /** Returns the commit after an offset whose rows have other columns, and the version of the table before it. */
  private def changeAfter(state: StreamState, from: StreamOffset): Option[(TrackedSchema.Change, Option[StreamState])] =
    tracking.flatMap { columns =>
      val commits = planner.commitsAfter(state, from)
      val known = recorded.getOrElse(columns.start(scan.files.schema, table.columnsOf(state), state))
      recorded = Some(known)
      known.columns.firstChange(state, commits, settings.content).map(c => c -> c.before(state, from.position, commits))
    }

  override protected def errorName: String = table.current.name

  override def initialOffset(): Offset = in(IcebergOffset(first))

  override def deserializeOffset(json: String): Offset = in(IcebergOffset.parse(json))

  override def getDefaultReadLimit: ReadLimit = in(IcebergReadLimit(settings.limit))

  override def prepareForTriggerAvailableNow(): Unit = in {
    target = Some(newest())
  }

  override def latestOffset(): Offset = in(latestOffset(initialOffset(), getDefaultReadLimit))

  /**
   * Returns the offset after the next micro-batch; null if there is nothing to read. Spark calls this method when the
   * micro-batches up to `start` are complete, so the tag of the consumer ([[ConsumerTag]]) moves to `start`.
   *
   * @throws IcebergError if the columns of the table changed, so that the query must be started again
   */
  override def latestOffset(start: Offset, limit: ReadLimit): Offset = in {
    val state = newest()
    val from = IcebergOffset.of(start)
    checkColumns(state, from)
    moveTag(from.position)
    lastLimit = IcebergReadLimit.of(limit)
    val change = changeAfter(state, from)
    readable = change.flatMap(_._2)
    val next = change.fold(Option(state))(_._2).flatMap(planner.next(_, from, lastLimit))
    if (next.isEmpty)
      for ((reached, _) <- change; columns <- tracking; known <- recorded) columns.advance(state, known, reached)
    nextRows = next.flatMap(b => IcebergStream.knownRows(b.tasks))
    if (next.isDefined && from.position.snapshotId.isEmpty) protectHistory(state)
    next.map(b => IcebergOffset(b.to)).orNull
  }

  /** Moves the tag to the oldest snapshot. Called if the query began with an empty table and has read no rows yet. */
  private def protectHistory(state: StreamState): Unit =
    state.newestFirst.toVector.lastOption.foreach(oldest => moveTag(StreamPosition.After(oldest.snapshotId)))

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
    if (recorded.isEmpty) tracking.foreach(_.check(scan.files.schema, state))
    val tasks = planner.tasks(state, from, to)
    batch = IcebergStream.report(table.current.name, to.position.snapshotId, tasks)
    nextRows = IcebergStream.knownRows(tasks)
    planner.prepare(readable.orElse(target).getOrElse(state), to, lastLimit)
    val snapshot = to.position.snapshotId.flatMap(state.metadata.findSnapshot)
    scan.batchAt(table.current, snapshot, tasks).planInputPartitions()
  }

  override def createReaderFactory(): PartitionReaderFactory = in {
    scan.batchAt(table.current, None, Vector.empty).createReaderFactory()
  }

  /**
   * Moves the tag of the consumer, if there is one. Spark calls this method when the next micro-batch is planned, and
   * usually [[latestOffset]] has moved the tag already, so that nothing is committed.
   */
  override def commit(end: Offset): Unit = in(moveTag(IcebergOffset.of(end).position))

  /**
   * Moves the tag of the consumer, if there is one. After a failure, the next micro-batch tries again.
   *
   * @throws IcebergError if another query has the same consumer
   */
  private def moveTag(position: StreamPosition): Unit = tag.foreach { consumer =>
    consumer.requireSingleQuery(table)
    try consumer.advance(table, position)
    catch {
      case e: IcebergError =>
        IcebergStream.log.warn(s"Could not move the tag of a consumer of ${table.current.name}: ${e.getMessage}")
        e match {
          case _: CommitConflict =>
            table.poll()
            consumer.requireSingleQuery(table)
          case _ => ()
        }
    }
  }

  override def stop(): Unit = in {
    planner.close()
    tag.foreach(_.release())
  }

  /** Returns how far the query is behind the table, for the progress of the query. */
  override def metrics(latestConsumed: Optional[Offset]): util.Map[String, String] = in {
    val consumed = if (latestConsumed.isPresent) IcebergOffset.of(latestConsumed.get) else first
    val backlog = StreamBacklog.after(table.state, consumed)
    Map(
      "snapshotsBehind" -> backlog.snapshots.toString,
      "filesBehind" -> backlog.files.toString,
      "rowsBehind" -> backlog.rows.toString,
      "bytesBehind" -> backlog.bytes.toString
    ).asJava
  }

  override def lastBatch: ScanReport = in(batch)

  override def plannedRows: Option[Long] = in(if (keepsState) None else nextRows)

  /** Makes [[plannedRows]] absent from now on; no rows are hidden. */
  override def omitRowCounts(): Unit = in {
    keepsState = true
  }

  override def description: String = in(s"$toString [files=${batch.resultFiles}, bytes=${batch.resultBytes}]")

  /** Returns the description of the source in the progress of the query. */
  override def toString: String = {
    val content = if (settings.content == StreamContent.Changes) "changes" else "appends"
    s"iceberg-lite ${table.current.name} (stream of $content)"
  }
}

private object IcebergStream {
  private val log = LoggerFactory.getLogger("iceberglite.spark.stream.source.IcebergStream")

  /** Returns the report of a micro-batch. The report contains no numbers of manifests. */
  private def report(table: String, snapshotId: Option[Long], tasks: Vector[FileScanTask]): ScanReport = ScanReport(
    table = table,
    snapshotId = snapshotId,
    totalManifests = 0,
    skippedManifests = 0,
    totalFiles = None,
    prunedFiles = 0L,
    resultFiles = tasks.size.toLong,
    resultRecords = rowsOf(tasks),
    resultBytes = tasks.iterator.map(_.length).sum
  )

  /**
   * Returns an upper bound of the number of rows, from metadata only: rows that equality deletes or position delete
   * files delete are included. Absent if the metadata does not contain the record count of a file, or if delete files
   * must be read to count the rows that a commit changed.
   */
  private def knownRows(tasks: Vector[FileScanTask]): Option[Long] =
    if (tasks.forall(_.hasLiveRecords)) Some(rowsOf(tasks)) else None

  private def rowsOf(tasks: Vector[FileScanTask]): Long = tasks.iterator.map(_.liveRecords).sum
}
