package iceberglite.spark.changelog

import org.apache.spark.sql.DataFrame

/** The content of a changelog view. */
sealed private[iceberglite] trait ChangelogView extends Product with Serializable

private[iceberglite] object ChangelogView {

  /** The changes of each commit, without rows that it only rewrote. */
  case object OfCommits extends ChangelogView

  /**
   * The changes of each commit, in which a deleted row and the row inserted for it are one update.
   *
   * @param identifiers the columns that identify a row, by their positions in the table and in structs
   */
  final case class WithUpdates(identifiers: Seq[Identifier]) extends ChangelogView

  /** The net changes of all commits. */
  case object OfAll extends ChangelogView

  /** A column. @param places its position among the table's columns, then in each enclosing struct */
  final case class Identifier(name: String, places: Seq[Int])

  /** The `_change_type` of a row before and after an update. */
  val UpdateBefore = "UPDATE_BEFORE"
  val UpdateAfter = "UPDATE_AFTER"

  /**
   * Returns the rows of a view. Filters of a query on it reach the scan if they use the columns by which rows are
   * grouped: the table's columns or the identifiers among them and, except for [[OfAll]], the commit.
   *
   * @param changes the rows of `t.changes`, with its own three columns last
   */
  def of(changes: DataFrame, view: ChangelogView): DataFrame = {
    val rows = new ChangelogRows(changes)
    view match {
      case OfCommits => rows.ofCommits
      case WithUpdates(identifiers) => rows.withUpdates(identifiers)
      case OfAll => rows.ofAll
    }
  }
}
