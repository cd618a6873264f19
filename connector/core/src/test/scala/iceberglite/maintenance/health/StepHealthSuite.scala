package iceberglite.maintenance.health

import java.util.concurrent.TimeUnit.DAYS

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.compact.{GroupOptions, PositionDeleteGroup, RewriteOptions}
import iceberglite.maintenance.orphan.LocalOrphanSearch
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{BlobMetadata, BlobType, PartitionStatisticsFile, Snapshot, StatisticsFile, SummaryKey}
import iceberglite.table.{Actions, Table}
import iceberglite.table.Actions._
import iceberglite.table.TestTables.fileOf
import iceberglite.table.action.{RemoveFiles, RollbackToSnapshot, RowDelta, SetPartitionStatistics, SetStatistics}

/** Tests the parts of a table's health that concern position delete files, statistics and orphan files. */
class StepHealthSuite extends AnyFunSuite {
  private def health(table: Table): TableHealth =
    TableHealth.of(table, RewriteOptions.of(Map.empty, table.metadata), table.metadata.lastUpdatedMs)

  private def isDue(table: Table, action: MaintenanceAction): Boolean =
    MaintenancePlan.of(table, health(table), MaintenanceOptions.of(Map.empty, table.metadata))
      .find(_.action == action).exists(_.isDue)

  /** Returns a table with one data file in each partition, and several position delete files for each data file. */
  private def withDeletes(partitions: Int, deletesOfEach: Int, properties: (String, String)*): Actions = {
    val actions = tableByCategory(FormatVersion.V2, properties: _*)
    val files = (0 until partitions).map(i => fileOf(s"p$i", s"mem://t/data/f$i"))
    actions.append(files: _*)
    for (i <- 0 until deletesOfEach)
      actions.commit(new RowDelta(files.map(file => positionDeletes(s"${file.path}-deletes$i", file)).toVector))
    actions
  }

  private def planned(table: Table): Vector[PositionDeleteGroup] = {
    val options = GroupOptions.ofPositionDeletes(Map.empty, table.metadata)
    PositionDeleteGroup.plan(table, table.currentSnapshot.get, AlwaysTrue, options)
  }

  test("several position delete files of one data file are due for a rewrite, which chooses the same files") {
    val table = withDeletes(partitions = 2, deletesOfEach = 6).table
    val groups = planned(table)
    assert(groups.map(_.files) == Vector(6, 6))
    assert(health(table).deletes.rewrite == FileReplacement(12, groups.map(_.bytes).sum, 2))
    assert(isDue(table, MaintenanceAction.RewritePositionDeleteFiles))
    assert(!isDue(withDeletes(2, 4).table, MaintenanceAction.RewritePositionDeleteFiles))
  }

  test("delete files of different data files are due only if write.delete.granularity is partition") {
    for ((granularity, due) <- Seq("file" -> false, "partition" -> true)) {
      val actions = tableByCategory(FormatVersion.V2, "write.delete.granularity" -> granularity)
      val files = (0 until 6).map(i => fileOf("a", s"mem://t/data/f$i"))
      actions.append(files: _*)
      actions.commit(new RowDelta(files.map(file => positionDeletes(s"${file.path}-deletes", file)).toVector))
      assert(planned(actions.table).map(_.files) == Vector(6))
      assert(isDue(actions.table, MaintenanceAction.RewritePositionDeleteFiles) == due, granularity)
    }
  }

  test("deletion vectors are not due for a rewrite of position delete files") {
    val actions = tableByCategory(FormatVersion.V3)
    val files = (0 until 6).map(i => fileOf("a", s"mem://t/data/f$i"))
    actions.append(files: _*)
    actions.commit(new RowDelta(actions.vectors("mem://t/data/v.puffin", files.map(_ -> Seq(1L)): _*)))
    assert(!isDue(actions.table, MaintenanceAction.RewritePositionDeleteFiles))
  }

  /** Registers a statistics file for the current snapshot, with a Theta sketch for the given column. */
  private def describe(actions: Actions, fieldId: Int = 1): Unit = {
    val snapshot = actions.table.currentSnapshot.get
    val blob =
      BlobMetadata(BlobType.ThetaSketch, snapshot.snapshotId, snapshot.sequenceNumber, Vector(fieldId), Map.empty)
    val path = s"mem://t/metadata/${snapshot.snapshotId}.stats"
    actions.commit(new SetStatistics(StatisticsFile(snapshot.snapshotId, path, 1, 1, None, Vector(blob))))
  }

  private def file(name: String, records: Long): ContentFile = fileOf("a", s"mem://t/data/$name", records)

  test("numbers of distinct values are due for computation after a tenth of the rows were added or removed") {
    val actions = tableByCategory(FormatVersion.V2)
    actions.append(file("f0", 100))
    assert(!isDue(actions.table, MaintenanceAction.ComputeTableStats))
    describe(actions)
    assert(health(actions.table).statistics.sketches.contains(SketchHealth(Vector(1), Some(0), 100)))
    actions.append(file("f1", 9))
    assert(!isDue(actions.table, MaintenanceAction.ComputeTableStats))
    actions.append(file("f2", 1))
    assert(isDue(actions.table, MaintenanceAction.ComputeTableStats))
    describe(actions)
    assert(!isDue(actions.table, MaintenanceAction.ComputeTableStats))
    actions.commit(new RemoveFiles(Set("mem://t/data/f1", "mem://t/data/f2")))
    assert(health(actions.table).statistics.sketches.exists(_.changedRows.contains(10L)))
  }

  test("after a rollback, the numbers of distinct values of the current snapshot are used") {
    val actions = tableByCategory(FormatVersion.V2)
    val first = actions.append(file("f0", 100)).metadata.currentSnapshotId.get
    actions.append(file("f1", 100))
    describe(actions)
    actions.commit(new RollbackToSnapshot(first))
    assert(isDue(actions.table, MaintenanceAction.ComputeTableStats))
    describe(actions)
    assert(!isDue(actions.table, MaintenanceAction.ComputeTableStats))
    assert(SketchHealth.fileOf(actions.table.metadata).exists(_.snapshotId == first))
    actions.append(file("f2", 9))
    assert(health(actions.table).statistics.sketches.contains(SketchHealth(Vector(1), Some(9), 100)))
  }

  test("after a rollback, partition statistics of a newer snapshot are not counted for the current snapshot") {
    val actions = tableByCategory(FormatVersion.V2)
    def register(): Unit = {
      val id = actions.table.metadata.currentSnapshotId.get
      actions.commit(new SetPartitionStatistics(PartitionStatisticsFile(id, s"mem://t/metadata/$id.avro", 1)))
      assert(!isDue(actions.table, MaintenanceAction.ComputePartitionStats))
    }
    val first = actions.append(file("f0", 100)).metadata.currentSnapshotId.get
    actions.append(file("f1", 100))
    register()
    actions.commit(new RollbackToSnapshot(first))
    assert(health(actions.table).statistics.partitionStatistics.contains(StatisticsAge(isCurrent = false, None)))
    assert(isDue(actions.table, MaintenanceAction.ComputePartitionStats))
    register()
  }

  test("deletes in replaced deletion vectors and copied rows of rewritten files do not count as changed rows") {
    def changed(counts: (String, Int)*): Long = {
      val summary = counts.map { case (key, count) => key -> count.toString }.toMap
      ChangedRows.of(Snapshot(1, None, 1, 0, None, Vector.empty, summary, None))
    }
    import SummaryKey._
    assert(changed(AddedRecords -> 5) == 5 && changed(DeletedRecords -> 5) == 5 && changed() == 0)
    assert(changed(AddedPositionDeletes -> 12, RemovedPositionDeletes -> 10) == 2)
    assert(changed(AddedPositionDeletes -> 3, AddedEqualityDeletes -> 4, AddedRecords -> 2) == 9)
    val copied = Seq(AddedRecords -> 90, DeletedRecords -> 100)
    assert(changed(copied :+ (TotalRecords -> 500): _*) == 10)
    // Seven of the rows of the removed file were deleted before.
    assert(changed(copied ++ Seq(RemovedPositionDeletes -> 7, TotalRecords -> 500): _*) == 3)
    assert(changed(copied :+ (TotalRecords -> 90): _*) == 190)
    val replaced = copied.map { case (key, count) => key -> count.toString }.toMap + (ReplacePartitions -> "true")
    assert(ChangedRows.of(Snapshot(1, None, 1, 0, None, Vector.empty, replaced, None)) == 190)
  }

  test("rows that a copy-on-write statement writes again count as copied, unless the statement replaces all rows") {
    import SummaryKey._
    def copied(counts: (String, Int)*): Long = {
      val summary = counts.map { case (key, count) => key -> count.toString }.toMap
      ChangedRows.copied(Snapshot(1, None, 1, 0, None, Vector.empty, summary, None))
    }
    val updated = Seq(AddedRecords -> 100, DeletedRecords -> 100)
    assert(copied(updated :+ (TotalRecords -> 500): _*) == 100 && copied(updated :+ (TotalRecords -> 100): _*) == 0)
    assert(copied(AddedRecords -> 90, DeletedRecords -> 100, TotalRecords -> 500) == 90)
    assert(copied(AddedRecords -> 90, DeletedRecords -> 100, RemovedPositionDeletes -> 30, TotalRecords -> 500) == 70)
    assert(copied(AddedRecords -> 5) == 0 && copied(DeletedRecords -> 5) == 0)
  }

  test("a copied row counts as a tenth of a changed row when the staleness of statistics is computed") {
    def isStale(changed: Long, copied: Long) = SketchHealth(Vector(1), Some(changed), rows = 1000, copied).isStale
    assert(!isStale(changed = 99, copied = 0) && isStale(changed = 100, copied = 0))
    assert(!isStale(changed = 0, copied = 999) && isStale(changed = 0, copied = 1000))
    assert(!isStale(changed = 50, copied = 499) && isStale(changed = 50, copied = 500))
  }

  test("statistics of columns that no longer exist are not renewed") {
    val actions = tableByCategory(FormatVersion.V2)
    actions.append(file("f0", 100))
    describe(actions, fieldId = 99)
    actions.append(file("f1", 100))
    assert(!isDue(actions.table, MaintenanceAction.ComputeTableStats))
  }

  test("orphan files are counted as recent, removable or old by their age, and only if they are searched for") {
    val actions = tableByCategory(FormatVersion.V2)
    actions.append(file("f0", 100))
    Seq("o1", "o2").foreach(name => actions.store.write(s"mem://t/data/$name.parquet", Array[Byte](1, 2)))
    val table = actions.table
    val modified = actions.store.info("mem://t/data/o1.parquet").get.modifiedMs
    def orphans(ageDays: Long): OrphanHealth =
      OrphanHealth.of(table, new LocalOrphanSearch, modified + DAYS.toMillis(ageDays) + 1)
    assert(orphans(0) == OrphanHealth.Found(0, 0, 0, 0))
    def searched(ageDays: Long) = orphans(ageDays) match {
      case found: OrphanHealth.Found => found
      case other => fail(s"$other")
    }
    val (recent, removable, old) = (searched(2), searched(4), searched(31))
    assert(recent.recent == removable.removable && removable.removable == old.old && recent.recent >= 2)
    assert(recent.removable == 0 && removable.old == 0 && removable.removableBytes >= 4)
    assert(health(table).orphans == OrphanHealth.NotSearched)
  }

  test("if orphan files cannot be searched for, their number is unknown and the reason is reported") {
    val actions = tableByCategory(FormatVersion.V2, "gc.enabled" -> "false")
    actions.append(file("f0", 100))
    OrphanHealth.of(actions.table, new LocalOrphanSearch, 0) match {
      case OrphanHealth.Unknown(reason) => assert(reason.contains("gc.enabled"))
      case other => fail(s"$other")
    }
  }
}
