package iceberglite.spark.changelog

import iceberglite.spark.convert.ConvertedFilter
import iceberglite.spark.read.files.CommitScan
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, Not, Or}

/** A filter of a changelog that a scan can use. */
sealed private[changelog] trait ChangelogFilter

private[changelog] object ChangelogFilter {

  /** A filter on the columns of the table. */
  final case class OfRow(filter: ConvertedFilter) extends ChangelogFilter

  /** A filter on [[CommitScan.columns]]. */
  final case class OfChange(filter: ConvertedFilter) extends ChangelogFilter

  private val ofChange = CommitScan.columns.map(_.id).toSet

  /** Returns the filter; absent if it uses both kinds of columns. */
  def of(filter: ConvertedFilter): Option[ChangelogFilter] = columns(filter.expression) match {
    case ids if ids.forall(ofChange) => Some(OfChange(filter))
    case ids if !ids.exists(ofChange) => Some(OfRow(filter))
    case _ => None
  }

  private def columns(e: Expression): Set[Int] = e match {
    case And(l, r) => columns(l) ++ columns(r)
    case Or(l, r) => columns(l) ++ columns(r)
    case Not(child) => columns(child)
    case p: Predicate => ScanFiles.columnOf(p.term).toSet
    case AlwaysTrue | AlwaysFalse => Set.empty
  }
}
