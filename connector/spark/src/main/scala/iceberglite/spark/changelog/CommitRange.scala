package iceberglite.spark.changelog

import iceberglite.scan.{RangeEnd, SnapshotRange}
import iceberglite.spark.conf.{RangeOptions, TimeTravel}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.Table

/** Determines the commits that read options select. */
object CommitRange {

  /**
   * Returns the table with all its snapshots. The table is refreshed if its catalog has loaded only the snapshots to
   * which branches and tags refer.
   */
  def withAllSnapshots(table: Table): Table = if (table.version.hasAllSnapshots) table else table.refresh()

  /**
   * Returns the range of commits that a read selects.
   *
   * @param travel the requested state of the table; its snapshot is the end of the range, unless the options select
   *   another end
   * @throws iceberglite.spec.IcebergError.NotFound if a snapshot does not exist
   * @throws InvalidArgument if the options contradict each other, `travel`, or the table's history
   */
  def of(table: TableMetadata, travel: TimeTravel, options: RangeOptions): SnapshotRange = {
    val branch = travel match {
      case TimeTravel.OnBranch(name) => Some(name)
      case TimeTravel.Latest => None
      case _ if options.end == RangeEnd.Newest => None
      case state => throw InvalidArgument(
          "read options",
          s"${options.end.option} and ${state.selector}",
          "Both select the end of the range; remove one of them"
        )
    }
    SnapshotRange.of(table, travel.snapshot(table), branch, options.start, options.end)
  }
}
