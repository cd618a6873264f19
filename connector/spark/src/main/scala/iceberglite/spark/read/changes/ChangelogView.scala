package iceberglite.spark.read.changes

import org.apache.spark.sql.DataFrame

/** What a view of a changelog shows. */
sealed private[spark] trait ChangelogView extends Product with Serializable

private[spark] object ChangelogView {

  /** What each commit changed; rows that it only wrote again are left out. */
  case object OfCommits extends ChangelogView

  /**
   * The same, with a row that was deleted and the one that was inserted for it as one update.
   *
   * @param identifiers the columns that tell rows apart: the place of each in the table, and in structs
   */
  final case class WithUpdates(identifiers: Seq[Identifier]) extends ChangelogView

  /** What all commits together changed. */
  case object OfAll extends ChangelogView

  /** A column. @param places of it among the table's columns, then in each struct that it is in */
  final case class Identifier(name: String, places: Seq[Int])

  /** The `_change_type` of a row that an update took away, and of the one that it put in its place. */
  val UpdateBefore = "UPDATE_BEFORE"
  val UpdateAfter = "UPDATE_AFTER"

  /**
   * The rows of a view. Filters of a query of it reach the scan where they are about what rows are grouped by: the
   * table's columns or the identifiers among them, and, but for [[OfAll]], the commit.
   *
   * @param changes the rows of `t.changes`, its own three columns last
   */
  def of(changes: DataFrame, view: ChangelogView): DataFrame = {
    val rows = new ChangedRows(changes)
    view match {
      case OfCommits => rows.ofCommits
      case WithUpdates(identifiers) => rows.withUpdates(identifiers)
      case OfAll => rows.ofAll
    }
  }
}
