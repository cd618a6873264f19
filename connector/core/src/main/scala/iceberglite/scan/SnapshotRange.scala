package iceberglite.scan

import java.time.Instant

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}

/** The start of an incremental read. */
sealed trait RangeStart
object RangeStart {

  /** Starts with the oldest snapshot in the metadata. */
  case object Oldest extends RangeStart

  /** Starts after the given snapshot. */
  final case class After(snapshotId: Long) extends RangeStart

  /** Starts after the given time, in milliseconds since the epoch. */
  final case class AfterTime(epochMs: Long) extends RangeStart
}

/** The last commit of an incremental read; it is included in the read. */
sealed trait RangeEnd {

  /** Returns the read option that sets the end, as text for error messages. */
  def option: String
}
object RangeEnd {

  /** The newest commit of the branch. */
  case object Newest extends RangeEnd {
    override def option: String = "no end"
  }

  /** The commit that created the given snapshot. */
  final case class Through(snapshotId: Long) extends RangeEnd {
    override def option: String = s"end-snapshot-id=$snapshotId"
  }

  /** The newest commit at or before the given time, in milliseconds since the epoch. */
  final case class NotAfter(epochMs: Long) extends RangeEnd {
    override def option: String = s"end-timestamp=$epochMs"
  }
}

/**
 * The snapshots of an incremental read. Each snapshot is the child of the previous one.
 *
 * @param start the start that the user requested
 * @param snapshots the snapshots in the range, oldest first; empty if there are no commits in the range
 * @param end the snapshot at the end of the range; absent if there is no commit up to the requested end
 */
final case class SnapshotRange(start: RangeStart, snapshots: Vector[Snapshot], end: Option[Snapshot]) {

  /** Returns a description of the range for EXPLAIN. */
  override def toString: String = {
    val from = start match {
      case RangeStart.Oldest => "all snapshots"
      case RangeStart.After(id) => s"snapshots after $id"
      case RangeStart.AfterTime(ms) => s"snapshots after ${Instant.ofEpochMilli(ms)}"
    }
    end.fold(from)(s => s"$from until ${s.snapshotId}")
  }
}

object SnapshotRange {

  /** Returns whether a snapshot rewrites files without changing rows (spec: "Snapshots", `replace`). */
  def isRewrite(snapshot: Snapshot): Boolean = snapshot.operation.contains(Operation.Replace.name)

  /**
   * Returns the snapshots between two bounds.
   *
   * @param head the head of the branch that is read; absent while the branch is empty
   * @param branch the branch that the user requested, if any; the last snapshot must be in its history
   * @throws NotFound if a snapshot does not exist, or has expired
   * @throws InvalidArgument if the bounds are not in the same history, are in the wrong order, or refer to a time at
   *   which an expired snapshot was current
   */
  def of(
      table: TableMetadata,
      head: Option[Snapshot],
      branch: Option[String],
      start: RangeStart,
      end: RangeEnd
  ): SnapshotRange = new RangeSearch(table, head, branch).find(start, end)
}

/** Finds the snapshots of a range. */
final private class RangeSearch(table: TableMetadata, head: Option[Snapshot], branch: Option[String]) {
  private val branchName = branch.getOrElse("the table")

  def find(start: RangeStart, end: RangeEnd): SnapshotRange = {
    requireOrder(start, end)
    val last = end match {
      case RangeEnd.Newest => head
      case RangeEnd.Through(id) => Some(requireOnBranch(requireSnapshot("end", id)))
      case RangeEnd.NotAfter(ms) => historyOf(head, ms, "end-timestamp").find(_.timestampMs <= ms)
    }
    requireStartBefore(start, end, last)
    val history = last.fold(Vector.empty[Snapshot])(table.ancestors(_).toVector)
    val newestFirst = start match {
      case RangeStart.Oldest => history
      case RangeStart.After(id) => after(id, history, last)
      case RangeStart.AfterTime(ms) => historyOf(last, ms, "start-timestamp").takeWhile(_.timestampMs > ms)
    }
    SnapshotRange(start, newestFirst.reverse, last)
  }

  private def requireOrder(start: RangeStart, end: RangeEnd): Unit = (start, end) match {
    case (RangeStart.AfterTime(from), RangeEnd.NotAfter(until)) if from > until =>
      throw InvalidArgument("start-timestamp", from.toString, s"It is later than end-timestamp=$until")
    case _ => ()
  }

  private def requireStartBefore(start: RangeStart, end: RangeEnd, last: Option[Snapshot]): Unit = (start, end) match {
    case (RangeStart.AfterTime(from), RangeEnd.Through(id)) => last.filter(_.timestampMs < from).foreach { snapshot =>
        val committedAt = Instant.ofEpochMilli(snapshot.timestampMs)
        val reason = s"It is later than end-snapshot-id=$id, which was committed at $committedAt"
        throw InvalidArgument("start-timestamp", from.toString, reason)
      }
    case _ => ()
  }

  private def requireOnBranch(snapshot: Snapshot): Snapshot = {
    branch.filterNot(_ => head.exists(table.ancestors(_).exists(_.snapshotId == snapshot.snapshotId))).foreach { name =>
      throw InvalidArgument(
        "end-snapshot-id",
        snapshot.snapshotId.toString,
        s"The snapshot is not in the history of $name; omit either the branch or the option"
      )
    }
    snapshot
  }

  private def requireSnapshot(which: String, id: Long): Snapshot = table.snapshotsById.getOrElse(
    id,
    throw NotFound(
      ObjectKind.Snapshot,
      s"$id ($which-snapshot-id)",
      "It has expired or never existed. The metadata table `snapshots` lists the existing snapshots"
    )
  )

  /** Returns the snapshots after a given one, newest first. The given snapshot may have expired if its child exists. */
  private def after(id: Long, history: Vector[Snapshot], last: Option[Snapshot]): Vector[Snapshot] = {
    val found = history.takeWhile(_.snapshotId != id)
    val isStart = found.size < history.size || history.lastOption.exists(_.parentSnapshotId.contains(id))
    if (!isStart) throw notBefore(requireSnapshot("start", id), last)
    found
  }

  private def notBefore(start: Snapshot, last: Option[Snapshot]): InvalidArgument = {
    val follows = last.exists(l => table.ancestors(start).exists(_.snapshotId == l.snapshotId))
    val end = last.fold(s"the state of $branchName, which is empty")(s => s"snapshot ${s.snapshotId}")
    InvalidArgument(
      "start-snapshot-id",
      start.snapshotId.toString,
      if (follows) s"It is newer than $end; swap start and end"
      else s"It is not an ancestor of $end. The metadata table `history` lists the ancestors"
    )
  }

  /**
   * Returns the history of a snapshot. The history must reach back to the given time.
   *
   * @throws InvalidArgument if the snapshot that was current at the given time has expired
   */
  private def historyOf(snapshot: Option[Snapshot], epochMs: Long, option: String): Vector[Snapshot] = {
    val history = snapshot.fold(Vector.empty[Snapshot])(table.ancestors(_).toVector)
    history.lastOption.filter(s => s.timestampMs > epochMs && s.parentSnapshotId.isDefined).foreach { oldest =>
      throw InvalidArgument(
        option,
        epochMs.toString,
        s"The snapshots of ${Instant.ofEpochMilli(epochMs)} have expired; the oldest existing snapshot " +
          s"${oldest.snapshotId} was committed at ${Instant.ofEpochMilli(oldest.timestampMs)}"
      )
    }
    history
  }
}
