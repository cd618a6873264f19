package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.table.Actions

/** Tests which snapshots are between the start and the end of a range. */
class SnapshotRangeSuite extends AnyFunSuite {

  // Main has the snapshots 1 to 5 with the timestamps 100 to 500. The branch b starts at snapshot 2, and its head is
  // snapshot 9 with the timestamp 350.
  private def snapshot(id: Long, parent: Option[Long], time: Long): Snapshot =
    Snapshot(id, parent, id, time, Some(s"list-$id"), Vector.empty, Map("operation" -> "append"), None)

  private val mainSnapshots = (1L to 5L).map(id => snapshot(id, Some(id - 1).filter(_ > 0), id * 100)).toVector
  private val branchSnapshot = snapshot(9, Some(2), 350)

  private def metadata(snapshots: Vector[Snapshot]): TableMetadata =
    Actions.unpartitionedTable(FormatVersion.V2).table.metadata.edited(
      snapshots = snapshots,
      currentSnapshotId = Some(5),
      refs = Map("main" -> SnapshotRef.Branch(5), "b" -> SnapshotRef.Branch(9))
    )

  private val whole = metadata(mainSnapshots :+ branchSnapshot)
  private val expired = metadata(mainSnapshots.drop(2) :+ branchSnapshot)

  private def ids(
      start: RangeStart,
      end: RangeEnd = RangeEnd.Newest,
      table: TableMetadata = whole,
      branch: Option[String] = None
  ): Seq[Long] = {
    val head = branch.fold(table.currentSnapshot)(table.snapshotOf)
    SnapshotRange.of(table, head, branch, start, end).snapshots.map(_.snapshotId)
  }

  import RangeEnd._
  import RangeStart._

  test("the start is exclusive, and the end inclusive") {
    assert(ids(After(2), Through(4)) == Seq(3, 4) && ids(After(2)) == Seq(3, 4, 5))
    assert(ids(Oldest, Through(2)) == Seq(1, 2))
    assert(ids(After(4), Through(4)) == Nil && ids(Oldest) == (1L to 5L))
    assert(ids(AfterTime(200), NotAfter(400)) == Seq(3, 4) && ids(AfterTime(199), NotAfter(399)) == Seq(2, 3))
    assert(ids(AfterTime(0), NotAfter(99)) == Nil && ids(AfterTime(501)) == Nil)
    assert(ids(After(3), NotAfter(400)) == Seq(4))
  }

  test("the snapshots of a branch are the ancestors of its head, and an end snapshot must be one of them") {
    assert(ids(After(1), branch = Some("b")) == Seq(2, 9))
    assert(ids(AfterTime(100), NotAfter(300), branch = Some("b")) == Seq(2))
    assert(ids(After(1), Through(9)) == Seq(2, 9))
    assert(intercept[InvalidArgument](ids(After(1), Through(5), branch = Some("b"))).reason.contains("history of b"))
  }

  test("a start after the end, or a start that is no ancestor of the end, is rejected") {
    assert(intercept[InvalidArgument](ids(After(4), Through(2))).reason.contains("swap start and end"))
    assert(intercept[InvalidArgument](ids(After(9), Through(4))).reason.contains("not an ancestor of snapshot 4"))
    assert(intercept[InvalidArgument](ids(AfterTime(5), NotAfter(4))).reason.contains("later than end-timestamp=4"))
    assert(intercept[InvalidArgument](ids(AfterTime(301), Through(3))).reason.contains("later than end-snapshot-id=3"))
    assert(ids(AfterTime(300), Through(3)) == Nil)
    assert(intercept[NotFound](ids(After(77))).name.contains("start-snapshot-id"))
    assert(intercept[NotFound](ids(Oldest, Through(77))).name.contains("end-snapshot-id"))
  }

  test("an expired start snapshot is accepted if the snapshot after it still exists") {
    assert(ids(After(2), table = expired) == Seq(3, 4, 5) && ids(Oldest, table = expired) == Seq(3, 4, 5))
    assert(intercept[NotFound](ids(After(1), table = expired)).advice.contains("expired"))
    assert(ids(AfterTime(300), table = expired) == Seq(4, 5))
    assert(intercept[InvalidArgument](ids(AfterTime(299), table = expired)).reason.contains("existing snapshot 3 was"))
    assert(intercept[InvalidArgument](ids(Oldest, NotAfter(250), expired)).reason.contains("have expired"))
  }

  test("an empty table has no snapshots in any time range, and a start snapshot is an error") {
    val empty = Actions.unpartitionedTable(FormatVersion.V2).table.metadata
    assert(ids(Oldest, table = empty) == Nil && ids(AfterTime(5), NotAfter(6), empty) == Nil)
    intercept[NotFound](ids(After(1), table = empty))
  }
}
