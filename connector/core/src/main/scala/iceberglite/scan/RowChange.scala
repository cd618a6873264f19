package iceberglite.scan

/** The type of a row's change. An update consists of a delete and an insert. `name` is the value in the changelog. */
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
 * The change that a commit made to the rows of a task. It does not apply to rows that the task's delete files delete.
 *
 * @param ordinal the number of the commit in the changelog, starting at 0
 * @param snapshotId the snapshot of the commit
 * @param onlyDeletedBy if present, the change applies only to rows that these delete files delete; if absent, to all
 *   rows of the file
 */
final case class RowChange(
    changeType: ChangeType,
    ordinal: Int,
    snapshotId: Long,
    onlyDeletedBy: Option[Vector[DeleteFile]] = None
)
