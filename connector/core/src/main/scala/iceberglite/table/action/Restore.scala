package iceberglite.table.action

import java.time.Instant

import scala.util.Try

import org.slf4j.LoggerFactory

import iceberglite.spec.IcebergError.{NotFound, UnreadableFile}
import iceberglite.spec.{ObjectKind, Redaction, Spelling}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.table.{Change, CommitContext, MetadataAction}
import iceberglite.tree.TreeTable

/** The earlier state to which a table is restored. */
sealed trait RestorePoint {

  /**
   * Returns the snapshot of the state.
   *
   * @param table the table's name, for messages
   * @throws iceberglite.spec.IcebergError.NotFound if the table has no such snapshot, branch or tag; the message lists
   *   existing ones
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the table had no snapshot yet at the given time
   */
  def snapshot(base: TableMetadata, table: String): Snapshot
}

object RestorePoint {
  final case class AtSnapshot(id: Long) extends RestorePoint {
    override def snapshot(base: TableMetadata, table: String): Snapshot = base.findSnapshot(id).getOrElse(
      throw NotFound(ObjectKind.Snapshot, id.toString, s"${didYouMean(id.toString, ids(base))}${newest(base, table)}")
    )
  }

  /** A branch or tag. */
  final case class AtRef(name: String) extends RestorePoint {
    override def snapshot(base: TableMetadata, table: String): Snapshot =
      base.snapshot(base.refs.getOrElse(name, throw noSuchRef(ObjectKind.BranchOrTag, name, base, table)).snapshotId)
  }

  /** The id of a snapshot, or the name of a branch or tag. A snapshot takes precedence, as in a query. */
  final case class AtVersion(version: String) extends RestorePoint {
    override def snapshot(base: TableMetadata, table: String): Snapshot = {
      val id = Try(version.toLong).toOption
      if (id.exists(base.hasSnapshot)) base.snapshot(id.get)
      else if (base.refs.contains(version)) AtRef(version).snapshot(base, table)
      else id.fold[Snapshot](throw noSuchRef(ObjectKind.SnapshotOrRef, version, base, table))(
        AtSnapshot(_).snapshot(base, table)
      )
    }
  }

  /**
   * The snapshot that was current at a given time. A time travel query for this time reads the same snapshot.
   *
   * @param timestampMs the time in milliseconds since the epoch
   */
  final case class AtTime(timestampMs: Long) extends RestorePoint {
    override def snapshot(base: TableMetadata, table: String): Snapshot = base.snapshotAsOf(timestampMs)
  }

  /** The number of snapshots that a message lists. */
  private val ListedSnapshots = 3

  private def ids(base: TableMetadata): Vector[String] = base.snapshots.map(_.snapshotId.toString)

  private def didYouMean(name: String, known: Iterable[String]): String =
    Spelling.closest(name, known).fold("")(near => s"Did you mean $near? ")

  private def newest(base: TableMetadata, table: String): String = {
    val listed = base.snapshots.sortBy(s => (s.timestampMs, s.sequenceNumber)).reverse.take(ListedSnapshots)
      .map(s => s"${s.snapshotId} (${Instant.ofEpochMilli(s.timestampMs)})")
    if (listed.isEmpty) s"$table has no snapshots"
    else s"The newest of ${base.snapshots.size} snapshots of $table: ${listed.mkString(", ")}"
  }

  private def noSuchRef(kind: ObjectKind, name: String, base: TableMetadata, table: String): NotFound = {
    val refs = base.refs.toVector.sortBy(_._1).map { case (refName, ref) => s"${ref.kind} $refName" }
    val existing = if (refs.isEmpty) s"$table has no branches and tags" else s"$table has ${refs.mkString(", ")}"
    NotFound(kind, name, didYouMean(name, base.refs.keys) + existing)
  }
}

/**
 * The result of a restore.
 *
 * @param previousSnapshotId the snapshot that was current before; absent if there was none
 * @param difference the files that differ between the two snapshots; absent if the metadata of the previous snapshot
 *   cannot be read
 */
final case class RestoreReport(
    previousSnapshotId: Option[Long],
    currentSnapshotId: Long,
    difference: Option[SnapshotDifference]
)

/**
 * Restores an earlier state of a table: the snapshot of this state becomes the current snapshot, even if it is not an
 * ancestor of the current one. Schemas, partition specs and properties do not change. If other writers commit before
 * the restore is committed, their changes are also undone and are included in the report.
 *
 * Before the commit, the metadata tree of the restored snapshot is read, except the parts (manifests in format versions
 * 1 to 3) that it shares with the current snapshot. If this tree is damaged, the restore fails and changes nothing.
 */
final class Restore(point: RestorePoint) extends MetadataAction {
  private var last: Option[RestoreReport] = None

  /** Returns the report about the last evaluation of [[changeFor]]. */
  def report: RestoreReport = last.getOrElse(throw new IllegalStateException("changeFor has not been called"))

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val restored = point.snapshot(base, context.table)
    val difference = differenceTo(restored, context.tree(base))
    last = Some(RestoreReport(base.currentSnapshotId, restored.snapshotId, difference))
    MoveBranch.main(base, restored.snapshotId)
  }

  private def differenceTo(restored: Snapshot, table: TreeTable): Option[SnapshotDifference] = {
    val comparison = new SnapshotComparison(table)
    val current = table.metadata.currentSnapshot
    if (current.exists(_.snapshotId == restored.snapshotId))
      Some(SnapshotDifference(FileTotals.Zero, FileTotals.Zero))
    else
      try Some(comparison.compare(current, restored))
      catch {
        case unreadable: UnreadableFile =>
          // The current snapshot may be damaged, because this may be the reason for the restore. If the restored
          // snapshot is damaged, this comparison fails.
          comparison.compare(None, restored)
          Restore.log.warn(Redaction(
            s"The files that restoring ${table.name} changes cannot be counted: ${unreadable.getMessage}"
          ))
          None
      }
  }
}

private object Restore {
  private val log = LoggerFactory.getLogger("iceberglite.table.action.Restore")
}
