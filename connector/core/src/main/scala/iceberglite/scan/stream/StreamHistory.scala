package iceberglite.scan.stream

import java.time.Instant

import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.tree.TreeTable

/**
 * The version of a table that a stream reads.
 *
 * @param table the table, with its current schema
 * @param head the newest snapshot of the branch that the stream follows; absent while the branch is empty
 */
final case class StreamState(table: TreeTable, head: Option[Snapshot]) {
  def metadata: TableMetadata = table.metadata

  /** Returns the snapshots of the branch, newest first. */
  def newestFirst: Iterator[Snapshot] = head.iterator.flatMap(metadata.ancestors)
}

/**
 * Finds the commits that follow a position of a stream. Remembers the last result, because it usually contains the
 * commits after the next position.
 */
final private[stream] class StreamHistory {
  private var known: Option[StreamHistory.Path] = None

  /**
   * Returns the snapshots after a given one, oldest first. The given snapshot may have expired if its child exists.
   *
   * @throws NotFound if a commit after the given snapshot has expired
   * @throws ValidationFailed if the snapshot is no longer in the history of the branch
   */
  def after(state: StreamState, snapshotId: Long): Vector[Snapshot] = {
    val headId = state.head.map(_.snapshotId)
    val path = known.filter(p => headId.contains(p.head)).flatMap(_.from(snapshotId)).getOrElse {
      StreamHistory.Path(snapshotId, StreamHistory.search(state, snapshotId).reverse)
    }
    known = Some(path).filter(_.snapshots.nonEmpty)
    path.snapshots
  }

  /**
   * Returns all snapshots of the branch, oldest first.
   *
   * @throws NotFound if the first commit of the branch has expired
   */
  def all(state: StreamState): Vector[Snapshot] = {
    val snapshots = StreamHistory.of(state).reverse
    snapshots.headOption.filter(_.parentSnapshotId.isDefined).foreach { oldest =>
      throw StreamHistory.expired(state, oldest.parentSnapshotId.getOrElse(oldest.snapshotId))
    }
    snapshots
  }
}

private[stream] object StreamHistory {

  /**
   * The snapshots after a given one.
   *
   * @param start the id of the snapshot before the first of `snapshots`
   * @param snapshots oldest first; the last one is the head of the branch
   */
  final private case class Path(start: Long, snapshots: Vector[Snapshot]) {
    def head: Long = snapshots.lastOption.fold(start)(_.snapshotId)

    /** Returns the part of the path that begins after a snapshot; absent if the path does not contain the snapshot. */
    def from(snapshotId: Long): Option[Path] =
      if (snapshotId == start) Some(this)
      else Some(snapshots.indexWhere(_.snapshotId == snapshotId)).filter(_ >= 0)
        .map(i => Path(snapshotId, snapshots.drop(i + 1)))
  }

  /** Returns the snapshots of the branch, newest first. */
  def of(state: StreamState): Vector[Snapshot] = state.newestFirst.toVector

  /** Returns the snapshots after the given one, newest first. */
  private def search(state: StreamState, snapshotId: Long): Vector[Snapshot] = {
    val newer = Vector.newBuilder[Snapshot]
    var isFound = state.head.exists(_.snapshotId == snapshotId)
    val newestFirst = state.newestFirst
    while (!isFound && newestFirst.hasNext) {
      val snapshot = newestFirst.next()
      newer += snapshot
      isFound = snapshot.parentSnapshotId.contains(snapshotId)
    }
    if (!isFound) throw lost(state, snapshotId)
    newer.result()
  }

  private def lost(state: StreamState, snapshotId: Long): Exception = state.metadata.findSnapshot(snapshotId) match {
    case Some(snapshot) if !isBefore(snapshot, of(state)) => removed(state, snapshotId)
    case _ => expired(state, snapshotId)
  }

  /**
   * Returns whether a snapshot, to which a tag may refer, is older than the remaining history of the branch. If it is,
   * the commits between the two have expired.
   */
  private def isBefore(snapshot: Snapshot, newestFirst: Vector[Snapshot]): Boolean = newestFirst.lastOption.exists {
    oldest =>
      oldest.parentSnapshotId.isDefined && snapshot.sequenceNumber <= oldest.sequenceNumber &&
      snapshot.timestampMs <= oldest.timestampMs
  }

  /** Returns the error for a snapshot that exists, but is no longer in the history of the branch. */
  private def removed(state: StreamState, snapshotId: Long): ValidationFailed = {
    val history = of(state).iterator.map(_.snapshotId).toSet
    val common = state.metadata.ancestors(state.metadata.snapshot(snapshotId)).find(s => history(s.snapshotId))
    val advice =
      common.fold("stream-from=oldest or stream-from=current")(s => s"${StreamContent.AfterSnapshot}=${s.snapshotId}")
    ValidationFailed(
      s"A stream has read ${state.table.name} up to snapshot $snapshotId, which is no longer in the history that the " +
        "stream follows. The table was rolled back or replaced" +
        state.head.fold(", and has no snapshot")(h => s", and its newest snapshot is ${h.snapshotId}") +
        s". The stream may have returned rows of commits that were rolled back. To read the commits since then, " +
        s"start the query with a new checkpoint location and the option $advice"
    )
  }

  /** Returns the error for a snapshot that expired before the stream read the commits after it. */
  def expired(state: StreamState, snapshotId: Long): NotFound = {
    val missing = of(state).lastOption.fold("The table has no snapshots") { oldest =>
      s"The oldest snapshot that still exists is ${oldest.snapshotId}, of ${Instant.ofEpochMilli(oldest.timestampMs)}" +
        s", and the rows that commits before it and after snapshot $snapshotId added cannot be read. To continue " +
        s"without them, start the query with a new checkpoint location and the option ${StreamContent.AfterSnapshot}=" +
        oldest.parentSnapshotId.getOrElse(oldest.snapshotId)
    }
    NotFound(
      ObjectKind.Snapshot,
      s"$snapshotId, the position of a stream on ${state.table.name}",
      s"It has expired. $missing. To read all rows of the table again, set stream-from=current instead. Expire " +
        "snapshots only after the streams have read them"
    )
  }
}
