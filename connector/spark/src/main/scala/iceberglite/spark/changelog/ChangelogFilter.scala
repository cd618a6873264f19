package iceberglite.spark.changelog

import iceberglite.spark.convert.ConvertedFilter
import iceberglite.spark.read.files.CommitScan

/** A filter that a changelog scan can evaluate. */
sealed private[changelog] trait ChangelogFilter

private[changelog] object ChangelogFilter {

  /** A filter on the columns of the table. */
  final case class OnTableColumns(filter: ConvertedFilter) extends ChangelogFilter

  /** A filter on [[CommitScan.changelogColumns]]. */
  final case class OnChangelogColumns(filter: ConvertedFilter) extends ChangelogFilter

  private val changelogColumnIds = CommitScan.changelogColumns.map(_.id).toSet

  /** Returns the filter, or `None` if the filter uses columns of the table and of the changelog. */
  def of(filter: ConvertedFilter): Option[ChangelogFilter] = filter.expression.fieldIds match {
    case ids if ids.forall(changelogColumnIds) => Some(OnChangelogColumns(filter))
    case ids if !ids.exists(changelogColumnIds) => Some(OnTableColumns(filter))
    case _ => None
  }
}
