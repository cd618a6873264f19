package iceberglite.spark.read.files

import iceberglite.scan.{ChangelogScan, IncrementalScan, CommitChange, ScanPlan, SnapshotRange}
import iceberglite.spec.expr.{Evaluate, Expression}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.table.Table
import iceberglite.tree.ManifestCache

/** The content of a scan that reads a range of commits rather than one snapshot. */
sealed private[iceberglite] trait CommitScan extends Product with Serializable {

  /** Plans the files of the commits. @param filter a filter on the columns of `schema` */
  def plan(table: Table, schema: Schema, filter: Expression, caseSensitive: Boolean): ScanPlan

  /** The description for EXPLAIN. */
  def description: String
}

private[iceberglite] object CommitScan {

  /** The rows that append commits added. */
  final case class Appends(range: SnapshotRange) extends CommitScan {
    override def plan(table: Table, schema: Schema, filter: Expression, caseSensitive: Boolean): ScanPlan =
      IncrementalScan(table.tree(schema), range, filter, caseSensitive, ManifestCache.of(table.io)).plan()

    override def description: String = s"appends of $range" + (IncrementalScan.skippedCommits(range) match {
      case 0 => ""
      case 1 => ", 1 other commit skipped"
      case n => s", $n other commits skipped"
    })
  }

  /**
   * The rows that the commits of a range inserted and deleted.
   *
   * @param changeFilter a bound condition on [[changelogColumns]]; only changes that satisfy it are read
   */
  final case class Changes(range: SnapshotRange, changeFilter: Expression) extends CommitScan {
    override def plan(table: Table, schema: Schema, filter: Expression, caseSensitive: Boolean): ScanPlan = {
      val matches = Evaluate.rows[CommitChange](changeFilter, value)
      ChangelogScan(table.tree(schema), range, filter, matches, caseSensitive, ManifestCache.of(table.io)).plan()
    }

    override def description: String = s"changes of $range"
  }

  /** The columns of a changelog in addition to the table's columns. */
  val changelogColumns: Vector[NestedField] =
    Vector(MetadataColumns.ChangeType, MetadataColumns.ChangeOrdinal, MetadataColumns.CommitSnapshotId)

  /**
   * Returns a function that computes the value of one of the [[changelogColumns]] for a change.
   *
   * @param id the id of the column
   */
  def value(id: Int): CommitChange => Option[Literal] = id match {
    case MetadataColumns.ChangeType.id => c => Some(Literal.StringLiteral(c.changeType.name))
    case MetadataColumns.ChangeOrdinal.id => c => Some(Literal.IntLiteral(c.ordinal))
    case MetadataColumns.CommitSnapshotId.id => c => Some(Literal.LongLiteral(c.snapshotId))
    case _ => _ => None
  }
}
