package iceberglite.scan

/** What a commit does to a row; an update is a delete and an insert. `name` as the changelog shows it. */
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
 * What a commit did to the rows of a task: to those that the task's deletes leave.
 *
 * @param ordinal the place of the commit among those of the changelog, from 0 on
 * @param snapshotId the snapshot that the commit made
 * @param among only rows that these delete files take out are meant; absent where it is all rows of the file
 */
final case class RowChange(
    changeType: ChangeType,
    ordinal: Int,
    snapshotId: Long,
    among: Option[Vector[DeleteFile]] = None
)
