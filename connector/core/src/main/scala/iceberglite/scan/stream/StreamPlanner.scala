package iceberglite.scan.stream

import java.util.UUID

import iceberglite.scan.FileScanTask
import iceberglite.scan.stream.StreamPosition._
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.tree.{ManifestCache, MetadataPool}

/**
 * Plans the micro-batches of a stream. Remembers the batch that was planned last, the commits that were read for later
 * batches and, while the stream reads its first snapshot, the deletes of this snapshot. Not thread-safe.
 *
 * @param cache cache of decoded manifests
 */
final class StreamPlanner(content: StreamContent, cache: ManifestCache) {
  private val history = new StreamHistory
  private var planned: Option[StreamBatch] = None
  private var first: Option[WholeSnapshot] = None
  private var cursor: Option[StreamCursor] = None
  private var preparation: Option[MetadataPool.Submitted] = None

  /** Whether the stream has ended. The preparation, which reads this field, runs in another thread. */
  @volatile private var closed = false

  /**
   * Returns the next batch; absent if there is nothing to read.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if the next commit cannot be read
   * @throws iceberglite.spec.IcebergError.NotFound if a commit after the offset has expired
   * @throws ValidationFailed if the branch no longer contains the snapshot of the offset, or if the offset is that of
   *   another table
   */
  def next(state: StreamState, from: StreamOffset, limit: StreamLimit): Option[StreamBatch] = {
    awaitPreparation()
    requireSameTable(state, from)
    from.position match {
      case _: InSnapshot => ()
      case _ => first = None
    }
    if (isAtHead(state, from.position)) None
    else {
      planned = Some(withCursor(state, from.position)(_.take(from.copy(table = state.metadata.uuid), limit)))
        .filter(_.to.position != from.position)
      planned
    }
  }

  /**
   * Checks that the history of the table contains the commits up to an offset, without reading files.
   *
   * @throws iceberglite.spec.IcebergError like [[next]]
   */
  def requireContinued(state: StreamState, from: StreamOffset): Unit = {
    commitsAfter(state, from)
    ()
  }

  /**
   * Returns the commits after the commit of an offset, oldest first, without reading files.
   *
   * @throws iceberglite.spec.IcebergError like [[next]]
   */
  def commitsAfter(state: StreamState, from: StreamOffset): Vector[Snapshot] = {
    awaitPreparation()
    requireSameTable(state, from)
    pathAfter(state, from.position)
  }

  /**
   * Reads the files of the batch after an offset in the background, so that [[next]] need not read them. Only one batch
   * is read in advance. An error is not reported here: `next` reads the files again, and reports it.
   *
   * @param state a version of the table, which need not be the newest; `next` adds the later commits
   * @param from the offset after the batch that is being processed
   * @param limit the limit of the next batch
   */
  def prepare(state: StreamState, from: StreamOffset, limit: StreamLimit): Unit = {
    awaitPreparation()
    if (!isAtHead(state, from.position)) preparation = Some(MetadataPool.submit {
      withCursor(state, from.position)(_.prepare(from, limit, () => closed))
    })
  }

  /**
   * Waits for the end of the preparation, whose thread uses the fields of this object.
   *
   * @throws InterruptedException if the thread is interrupted. The next call continues to wait
   */
  private[stream] def awaitPreparation(): Unit = {
    preparation.foreach(_.awaitInterruptibly())
    preparation = None
  }

  /** Stops the preparation of a batch after the commit that is being read. Does not wait for this commit. */
  def close(): Unit = closed = true

  /** Calls a function with the steps after a position. After a failure, the steps are read again. */
  private def withCursor[A](state: StreamState, position: StreamPosition)(use: StreamCursor => A): A = {
    val steps = cursor.filter(_.position == position).filter(isContinued(_, state))
      .getOrElse(new StreamCursor(position, headOf(state), stepsAfter(state, position)))
    cursor = None
    val result = use(steps)
    cursor = Some(steps)
    result
  }

  /**
   * Adds the commits of a newer version of the table to known steps.
   *
   * @return false if the branch does not contain the commits of the known steps, because it was rolled back
   */
  private def isContinued(steps: StreamCursor, state: StreamState): Boolean = steps.head == headOf(state) || {
    val path = pathAfter(state, steps.position)
    val newer =
      if (steps.head == steps.position.snapshotId) Some(path)
      else Some(path.indexWhere(s => steps.head.contains(s.snapshotId))).filter(_ >= 0).map(i => path.drop(i + 1))
    newer.foreach(commits => steps.extend(headOf(state), filesOf(state).of(commits)))
    newer.isDefined
  }

  private def headOf(state: StreamState): Option[Long] = state.head.map(_.snapshotId)

  /** Returns the commits after the commit of a position, oldest first. */
  private def pathAfter(state: StreamState, position: StreamPosition): Vector[Snapshot] =
    position.snapshotId.fold(history.all(state))(history.after(state, _))

  /**
   * Returns the files of a batch that this planner, or the planner of an earlier run of the query, has planned.
   *
   * @throws ValidationFailed if the offsets are those of another table
   */
  def tasks(state: StreamState, from: StreamOffset, to: StreamOffset): Vector[FileScanTask] =
    planned.filter(b => b.from.position == from.position && b.to == to).fold {
      awaitPreparation()
      Seq(from, to).foreach(requireSameTable(state, _))
      replan(state, from, to)
    }(_.tasks)

  /** Plans a batch again. The commits of the batch are read even if they were rolled back after the first run. */
  private def replan(state: StreamState, from: StreamOffset, to: StreamOffset): Vector[FileScanTask] = {
    val head = to.position.snapshotId.map(snapshot(state, _))
    val end = head.fold(to.position)(endOf(state, to.position, _))
    val batch = new StreamBatchBuilder(from, StreamLimit.Unlimited)
    val steps = stepsAfter(state.copy(head = head), from.position)
    while (batch.position != end && batch.position != to.position && steps.hasNext) batch.add(steps.next())
    batch.result.tasks
  }

  /**
   * Returns the position of the step with which a batch ends.
   *
   * @param to the position in the offset after the batch, which Apache Iceberg may have written
   * @param head the snapshot of the position
   */
  private def endOf(state: StreamState, to: StreamPosition, head: Snapshot): StreamPosition = to match {
    case InCommit(_, 0) => head.parentSnapshotId.fold[StreamPosition](Empty)(After)
    case InApacheIcebergCommit(_, position) => filesOf(state).endOfForeign(head, position)
    case other => other
  }

  private def requireSameTable(state: StreamState, offset: StreamOffset): Unit =
    StreamPlanner.requireSameTable(state.table.name, offset.table, state.metadata)

  private def isAtHead(state: StreamState, position: StreamPosition): Boolean =
    position == state.head.fold[StreamPosition](Empty)(h => After(h.snapshotId))

  private def stepsAfter(state: StreamState, position: StreamPosition): Iterator[StreamStep] = {
    val files = filesOf(state)
    def later(snapshotId: Long): Iterator[StreamStep] = files.of(history.after(state, snapshotId))
    def reached(id: Long): Snapshot = {
      history.after(state, id)
      snapshot(state, id)
    }
    position match {
      case Empty => files.of(history.all(state))
      case InSnapshot(id, read) => files.rest(whole(state, reached(id)), read) ++ later(id)
      case InCommit(id, read) => files.rest(reached(id), read) ++ later(id)
      case InApacheIcebergCommit(id, foreign) => files.restOfForeign(reached(id), foreign) ++ later(id)
      case After(id) => later(id)
    }
  }

  private def filesOf(state: StreamState): StreamFiles = new StreamFiles(state, content, cache)

  private def snapshot(state: StreamState, id: Long): Snapshot =
    state.metadata.findSnapshot(id).getOrElse(throw StreamHistory.expired(state, id))

  private def whole(state: StreamState, snapshot: Snapshot): WholeSnapshot =
    first.filter(_.snapshot.snapshotId == snapshot.snapshotId).getOrElse {
      val created = new WholeSnapshot(snapshot, state.table, cache)
      first = Some(created)
      created
    }
}

object StreamPlanner {

  /**
   * Checks that a table is the table that a stream has read.
   *
   * @param table the name of the table
   * @param known the UUID of the table that the stream has read; absent if it is unknown
   * @throws ValidationFailed if the table has another UUID
   */
  def requireSameTable(table: String, known: Option[UUID], current: TableMetadata): Unit =
    for (uuid <- known if !current.uuid.contains(uuid)) throw ValidationFailed(
      s"A stream on $table has read a table with the UUID $uuid, and $table has " +
        current.uuid.fold("no UUID")(now => s"the UUID $now") +
        ". The table was dropped and created again, or the query reads another table than before. Start the query " +
        "with a new checkpoint location to read all rows of the table that has this name now; to skip rows, set " +
        s"stream-from=now, stream-from-timestamp or ${StreamContent.AfterSnapshot} too"
    )
}
