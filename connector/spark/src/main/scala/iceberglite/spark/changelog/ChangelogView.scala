package iceberglite.spark.changelog

import org.apache.spark.sql.DataFrame

/** The content of a changelog view. */
sealed private[iceberglite] trait ChangelogView extends Product with Serializable

private[iceberglite] object ChangelogView {

  /** The changes of each commit. Rows that a commit rewrote without changing them are omitted. */
  case object PerCommit extends ChangelogView

  /**
   * The changes of each commit. A deleted row and an inserted row of the same commit with the same identifier values
   * become an update.
   *
   * @param identifiers the columns whose values identify a row
   */
  final case class WithUpdates(identifiers: Seq[Identifier]) extends ChangelogView

  /** The net changes of all commits. */
  case object NetChanges extends ChangelogView

  /**
   * An identifier column.
   *
   * @param positions the path to the column: its position in the table, then in each nested struct
   */
  final case class Identifier(name: String, positions: Seq[Int])

  /** The `_change_type` of a row before and after an update. */
  val UpdateBefore = "UPDATE_BEFORE"
  val UpdateAfter = "UPDATE_AFTER"

  /**
   * Returns the rows of a view. Spark pushes a filter on the view down to the scan if the filter uses only columns by
   * which the view groups rows. The view groups rows by the columns of the table or, for [[WithUpdates]], by the
   * identifier columns only. Views other than [[NetChanges]] also group rows by the columns that identify the commit.
   *
   * @param changes the rows of `t.changes`; the three columns of the changelog come last
   */
  def of(changes: DataFrame, view: ChangelogView): DataFrame = {
    val rows = new ChangelogRows(changes)
    view match {
      case PerCommit => rows.perCommit
      case WithUpdates(identifiers) => rows.withUpdates(identifiers)
      case NetChanges => rows.netChanges
    }
  }
}
