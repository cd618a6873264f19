package iceberglite.scan

import iceberglite.scan.deletes.DeleteFile

/** The type of a change to a row. An update of a row is shown as a delete and an insert. */
sealed abstract class ChangeType extends Product with Serializable {
  def name: String
}
object ChangeType {
  case object Insert extends ChangeType {
    override def name: String = "INSERT"
  }
  case object Delete extends ChangeType {
    override def name: String = "DELETE"
  }
}

/**
 * The change that a commit made to the rows of a task. The change does not include rows that the task's delete files
 * remove.
 *
 * @param ordinal the number of the commit in the changelog, starting at 0
 * @param snapshotId the snapshot of the commit
 * @param deletesOfChangedRows if present, only the rows that these delete files remove are changed; if absent, all rows
 *   of the file are changed
 */
final case class CommitChange(
    changeType: ChangeType,
    ordinal: Int,
    snapshotId: Long,
    deletesOfChangedRows: Option[Vector[DeleteFile]] = None
)
