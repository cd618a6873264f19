package iceberglite.scan

/** The type of a row's change. An update is a delete and an insert. `name` is the value in the changelog. */
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
 * The change of a commit to the rows of a task that are not deleted by the task's deletes.
 *
 * @param ordinal the number of the commit in the changelog, starting at 0
 * @param snapshotId the snapshot of the commit
 * @param onlyDeletedBy if given, only the rows that these delete files delete are affected; if absent, all rows of the
 *   file
 */
final case class RowChange(
    changeType: ChangeType,
    ordinal: Int,
    snapshotId: Long,
    onlyDeletedBy: Option[Vector[DeleteFile]] = None
)
