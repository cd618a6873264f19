package iceberglite.scan.stream

import iceberglite.scan.SnapshotRange
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.{Operation, Snapshot}

/** Determines which rows of each commit a stream reads. */
sealed trait StreamContent extends Product with Serializable {

  /** Returns whether a stream skips a commit. @param table the name of the table, for messages */
  private[stream] def skips(commit: Snapshot, table: String): Boolean = this match {
    case appends: StreamContent.Appends => appends.treatmentOf(commit, table) == CommitTreatment.Skip
    case StreamContent.Changes => SnapshotRange.isRewrite(commit)
  }
}

object StreamContent {

  /**
   * The rows that commits with the operation `append` added. Commits with the operation `replace` are skipped, because
   * they do not change rows.
   *
   * @param skipsDeletes whether commits with the operation `delete` are skipped; if not, they are an error
   * @param skipsOverwrites whether commits with the operation `overwrite` are skipped; if not, they are an error
   */
  final case class Appends(skipsDeletes: Boolean = false, skipsOverwrites: Boolean = false) extends StreamContent {

    /** Returns what the stream does with a commit. @param table the name of the table, for messages */
    private[stream] def treatmentOf(snapshot: Snapshot, table: String): CommitTreatment =
      Operation.all.find(op => snapshot.operation.contains(op.name)) match {
        case Some(Operation.Append) => CommitTreatment.Read
        case Some(Operation.Replace) => CommitTreatment.Skip
        case Some(Operation.Delete) if skipsDeletes => CommitTreatment.Skip
        case Some(Operation.Overwrite) if skipsOverwrites => CommitTreatment.Skip
        case Some(Operation.Delete) => reject(snapshot, table, SkipDeletes)
        case Some(Operation.Overwrite) => reject(snapshot, table, SkipOverwrites)
        case None => CommitTreatment.Reject(Unsupported(
            s"reading the commit of snapshot ${snapshot.snapshotId} of $table in a stream",
            "Its summary has no known operation. Start a query with a new checkpoint location and the option " +
              s"$AfterSnapshot=${snapshot.snapshotId}, which reads the later commits"
          ))
      }

    private def reject(snapshot: Snapshot, table: String, option: String): CommitTreatment =
      CommitTreatment.Reject(Unsupported(
        s"reading snapshot ${snapshot.snapshotId} of $table in a stream of appended rows, because its operation is " +
          snapshot.operation.mkString,
        s"Set $option=true to skip such commits and to read only appended rows, or read the deleted and updated rows " +
          "too: stream the table's changes, with the name of the table and .changes"
      ))
  }

  /**
   * The rows that each commit inserted and deleted, with the columns of a changelog. Commits with the operation
   * `replace` are skipped and have no ordinal. A batch contains whole commits, but the rows of the snapshot with which
   * a stream begins can be divided among batches.
   */
  case object Changes extends StreamContent

  /** The keys of read options that error messages name. */
  val SkipDeletes: String = "streaming-skip-delete-snapshots"
  val SkipOverwrites: String = "streaming-skip-overwrite-snapshots"
  val AfterSnapshot: String = "stream-from-snapshot-id"
}

/** What a stream does with a commit. */
sealed private[stream] trait CommitTreatment

private[stream] object CommitTreatment {
  case object Read extends CommitTreatment
  case object Skip extends CommitTreatment
  final case class Reject(error: IcebergError) extends CommitTreatment
}
