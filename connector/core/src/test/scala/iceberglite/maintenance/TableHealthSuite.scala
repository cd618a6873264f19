package iceberglite.maintenance

import java.util.concurrent.TimeUnit.DAYS

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.maintenance.compact.{FileGroup, FileGroupBudget, RewriteOptions, PartitionsWithSmallFiles}
import iceberglite.maintenance.health.{
  DataFileHealth,
  DeleteFileHealth,
  FileReplacement,
  HealthLimits,
  MaintenanceAction,
  MaintenanceOptions,
  OrphanHealth,
  StepLimits,
  StepReport,
  StepResult,
  StepRunner,
  StepStatus,
  TableHealth,
  TableMaintenance
}
import iceberglite.maintenance.health.MaintenanceAction._
import iceberglite.maintenance.orphan.{LocalOrphanSearch, OrphanSearch}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.table.{Actions, Environment, Table, TestTables}
import iceberglite.table.Actions._
import iceberglite.table.TestTables.fileOf
import iceberglite.table.action.{FastAppend, RemoveFiles, RowDelta, SetPartitionStatistics}

/** Tests the measures of a table's health, and the maintenance steps that are planned from them. */
class TableHealthSuite extends AnyFunSuite {
  private val target = "write.target-file-size-bytes" -> "10000"

  private def options(table: Table, texts: (String, String)*): MaintenanceOptions =
    MaintenanceOptions.of(texts.toMap, table.metadata)

  private def health(table: Table, texts: (String, String)*): TableHealth =
    TableHealth.of(table, options(table, texts: _*).rewrite(table.metadata), table.metadata.lastUpdatedMs)

  private def created(version: FormatVersion = FormatVersion.V2): Actions =
    tableByCategory(version, target, "commit.manifest-merge.enabled" -> "false")

  private def sized(file: ContentFile, bytes: Long): ContentFile = file.copy(fileSizeInBytes = bytes)

  test("a table without snapshots needs no maintenance") {
    val table = created().table
    val found = health(table)
    assert(found.snapshotId.isEmpty && found.data.files == 0 && found.manifests.count == 0)
    assert(found.metadataBytes.exists(_ > 100) && found.orphans == OrphanHealth.NotSearched)
    val maintenance = new TableMaintenance(table, options(table), new Recorder, TestTables.environment)
    assert(maintenance.plan().map(_.status).distinct == Vector(StepStatus.Skipped))
  }

  test("small files count only in partitions with at least min-input-files small files") {
    val actions = created()
    actions.append((1 to 6).map(i => fileOf("a", s"a$i")): _*)
    actions.append((1 to 3).map(i => fileOf("b", s"b$i")) :+ sized(fileOf("b", "large"), 9000): _*)
    val rewrite = FileReplacement(6, 6000, 1)
    assert(health(actions.table).data == DataFileHealth(10, 18000, 100, 6, 6000, 0, 0, rewrite, None))
    val three = health(actions.table, "min-input-files" -> "3").data
    assert(three.smallFiles == 9 && three.rewrite == FileReplacement(9, 9000, 2))
    assert(health(actions.table, "min-input-files" -> "7").data.rewrite == FileReplacement.Empty)
  }

  test("data files with many deletes, and delete files that apply to no data file, are counted") {
    val actions = created()
    val (a, b) = (fileOf("a", "a"), fileOf("b", "b"))
    actions.commit(new RowDelta(Vector(equalityDeletes("early", a, (0, 1)))))
    actions.append(a, b)
    val (few, many) = (positionDeletes("few", a), positionDeletes("many", b).copy(recordCount = 5))
    actions.commit(new RowDelta(Vector(few, many, equalityDeletes("late", a, (0, 1)))))
    val found = health(actions.table)
    assert(found.data.filesWithManyDeletes == 1 && found.data.deletedBytes == 500)
    assert(found.data.rewrite == FileReplacement(1, 1000, 1))
    val size = 100L
    assert(found.deletes == DeleteFileHealth(
      positionDeleteFiles = 2,
      deletedPositions = 6,
      equalityDeleteFiles = 2,
      equalityDeleteRecords = 2,
      equalityDeleteBytes = 2 * size,
      bytes = 2 * size + few.fileSizeInBytes + many.fileSizeInBytes,
      danglingFiles = 1,
      danglingBytes = size,
      rewrite = FileReplacement.Empty
    ))
  }

  test("the deletion vector of a removed data file is removed with it, and is not counted as dangling") {
    val actions = created(FormatVersion.V3)
    val (a, b) = (fileOf("a", "a"), fileOf("b", "b"))
    actions.append(a, b)
    actions.commit(new RowDelta(actions.vectors("mem://t/data/v.puffin", a -> Seq(1L), b -> Seq(2L, 3L))))
    assert(health(actions.table).deletes.danglingFiles == 0)
    actions.commit(new RemoveFiles(Set(a.path)))
    val deletes = health(actions.table).deletes
    // `RemoveFiles` has removed the deletion vector together with its data file, so only the other vector is counted.
    assert(deletes.positionDeleteFiles == 1 && deletes.deletedPositions == 2 && deletes.danglingFiles == 0)
  }

  test("TableHealth counts exactly the files that a rewrite chooses") {
    for (round <- 0 until 20) {
      val random = new Random(Fuzz.seed + round)
      val actions = created()
      val files = (1 to 40).map { i =>
        sized(fileOf(('a' + random.nextInt(5)).toChar.toString, s"f$i"), 1L + random.nextInt(25000))
      }
      files.grouped(10).foreach(group => actions.append(group: _*))
      val deletes = random.shuffle(files).take(8).map { file =>
        positionDeletes(s"${file.path}-deletes", file).copy(recordCount = 1L + random.nextInt(6))
      }
      actions.commit(new RowDelta(deletes.toVector))
      val table = actions.table
      val rewrite = RewriteOptions.of(Map("min-input-files" -> (2 + random.nextInt(6)).toString), table.metadata)
      val groups = FileGroup.plan(table, table.currentSnapshot.get, AlwaysTrue, rewrite)
      val expected = FileReplacement(
        groups.map(_.tasks.size.toLong).sum,
        groups.map(_.bytes).sum,
        groups.map(group => rewrite.group.outputFiles(group.bytes).toLong).sum
      )
      assert(TableHealth.of(table, rewrite, 0L).data.rewrite == expected, s"seed ${Fuzz.seed + round}")
    }
  }

  for (version <- Seq(FormatVersion.V2, FormatVersion.V3))
    test(s"the health is the same if only a part of the sums fits into memory, in version ${version.number}") {
      for (round <- 0 until 20) {
        val random = new Random(Fuzz.seed + round)
        val actions = created(version)
        val files = (1 to 60).map { i =>
          sized(fileOf(('a' + random.nextInt(12)).toChar.toString, s"mem://t/data/f$i"), 1L + random.nextInt(25000))
        }
        actions.commit(new RowDelta(Vector(equalityDeletes("early", files.head, (0, 1)))))
        files.grouped(15).foreach(group => actions.append(group: _*))
        val chosen = files.head +: random.shuffle(files.tail).take(19)
        val deletes =
          if (version == FormatVersion.V3)
            actions.vectors("mem://t/data/v.puffin", chosen.map(_ -> Seq(1L, 2L, 3L, 4L)): _*)
          else chosen.map(file => positionDeletes(s"${file.path}-deletes", file).copy(recordCount = 4)).toVector ++
            (1 to 5).map(i => positionDeletes(s"${files.head.path}-deletes$i", files.head)) ++
            chosen.groupBy(_.partition).values.map(same => positionDeletes(s"${same.head.path}-of-many", same: _*))
        actions.commit(new RowDelta(deletes :+ equalityDeletes("late", files(1), (0, 1))))
        val table = actions.table
        val rewrite = options(table, "min-input-files" -> "2").rewrite(table.metadata)
        val expected = TableHealth.of(table, rewrite, 0L)
        assert(expected.deletes.danglingFiles == 1 && expected.data.filesWithManyDeletes == chosen.size)
        assert((expected.deletes.rewrite == FileReplacement.Empty) == (version == FormatVersion.V3))
        for (limits <- Seq(HealthLimits(1, 1000), HealthLimits(3, 2), HealthLimits(1000, 1), HealthLimits(5, 7)))
          assert(TableHealth.of(table, rewrite, 0L, limits = limits) == expected, s"$limits, seed ${Fuzz.seed + round}")
      }
    }

  /** Returns a table for which the actions in [[order]] are due. */
  private def neglected: Actions = {
    val actions = created()
    def file(category: String, name: String) = fileOf(category, s"mem://t/data/$name")
    actions.commit(new RowDelta(Vector(equalityDeletes("mem://t/data/early", file("a", "a"), (0, 1)))))
    for (i <- 0 until 12) actions.append(file("a", s"a$i"))
    val snapshot = actions.table.currentSnapshot.get
    PartitionStatisticsFiles.write(actions.store, actions.table.metadata, snapshot, new java.util.UUID(1, 1))
      .foreach(file => actions.commit(new SetPartitionStatistics(file)))
    actions.commit(new FastAppend(Vector(file("b", "b"))))
    actions
  }

  private def laterThan(table: Table): Environment =
    TestTables.environment.copy(nowMs = () => table.metadata.lastUpdatedMs + DAYS.toMillis(30))

  private def maintenance(
      actions: Actions,
      runner: StepRunner,
      texts: (String, String)*
  ): TableMaintenance = {
    val table = actions.table
    new TableMaintenance(table, options(table, texts: _*), runner, laterThan(table))
  }

  private val order = Vector(
    RemoveDanglingDeletes,
    ConvertEqualityDeletes,
    ExpireSnapshots,
    RewriteDataFiles,
    RewriteManifests,
    ComputePartitionStats
  )

  private def due(reports: Vector[StepReport]): Vector[StepReport] = reports.filter(_.step.isDue)

  private def actionsOf(reports: Vector[StepReport]): Vector[MaintenanceAction] = reports.map(_.step.action)

  test("the steps of a table are ordered by their gain per rewritten byte, and a plan changes nothing") {
    val actions = neglected
    val (paths, version) = (actions.store.paths, actions.table.metadataLocation)
    val runner = new Recorder
    val planned = due(maintenance(actions, runner).plan())
    assert(actionsOf(planned) == order && planned.forall(_.status == StepStatus.Planned))
    val gains = planned.map(_.step.gainPerByte)
    assert(gains == gains.sortBy(-_) && gains.last == 0)
    assert(runner.calls.isEmpty && actions.store.paths == paths && actions.table.metadataLocation == version)
    val done = due(maintenance(actions, runner).run())
    assert(actionsOf(done) == order && runner.calls.map(_._1) == order && done.forall(_.status == StepStatus.Done))
  }

  test("a step that fails is reported, and the other steps are run") {
    val runner = new Recorder {
      override def run(a: MaintenanceAction, table: Table, o: MaintenanceOptions, limit: StepLimits): StepResult =
        if (a == RewriteDataFiles) throw ValidationFailed("Rows were deleted: https://u:secret@host/f")
        else super.run(a, table, o, limit)
    }
    val reports = due(maintenance(neglected, runner).run())
    val (failed, others) = reports.partition(_.step.action == RewriteDataFiles)
    assert(failed.map(_.status) == Vector(StepStatus.Failed) && others.forall(_.status == StepStatus.Done))
    assert(failed.head.message.exists(m => m.contains("Rows were deleted") && !m.contains("secret")))
  }

  test("a cancellation ends the maintenance") {
    val runner = new Recorder {
      override def run(a: MaintenanceAction, table: Table, o: MaintenanceOptions, limit: StepLimits): StepResult =
        if (a == ConvertEqualityDeletes) throw new IllegalStateException("cancelled")
        else super.run(a, table, o, limit)
      override def isCancellation(error: Throwable): Boolean = error.getMessage == "cancelled"
    }
    intercept[IllegalStateException](maintenance(neglected, runner).run())
    assert(runner.calls.map(_._1) == Vector(RemoveDanglingDeletes))
  }

  test("max-bytes limits the rewrite of data files, and steps that would exceed the limit are skipped") {
    val runner = new Recorder
    val reports = due(maintenance(neglected, runner, "max-bytes" -> "3100").run())
    assert(runner.calls.collect { case (RewriteDataFiles, limit) => limit } == Vector(Some(3000L)))
    val skipped = reports.filter(_.status == StepStatus.Skipped)
    assert(actionsOf(skipped).contains(RewriteManifests) && skipped.forall(_.message.exists(_.contains("max-bytes"))))
    val planned = due(maintenance(neglected, runner, "max-bytes" -> "3100").plan())
    assert(planned.map(_.bytesRewritten).sum <= 3100 && actionsOf(planned) == order)
  }

  test("a rewrite is reported as skipped if it rewrites no file, and otherwise with the number of files") {
    def reportOf(runner: Recorder): StepReport =
      due(maintenance(neglected, runner, "max-bytes" -> "3100").run()).find(_.step.action == RewriteDataFiles).get
    class Unchanged(message: Option[String]) extends Recorder {
      override def run(a: MaintenanceAction, table: Table, o: MaintenanceOptions, limit: StepLimits): StepResult =
        if (a == RewriteDataFiles) StepResult(0, 0, 0, message) else super.run(a, table, o, limit)
    }
    val none = reportOf(new Unchanged(None))
    assert(none.status == StepStatus.Skipped && none.message.exists(_.contains("3000 bytes of the option max-bytes")))
    val late = reportOf(new Unchanged(Some("max-seconds have passed")))
    assert(late.status == StepStatus.Skipped && late.message.contains("max-seconds have passed"))
    val some = reportOf(new Recorder)
    val files = some.step.filesBefore.get
    assert(some.status == StepStatus.Done && some.message.exists(_.contains(s"1 of $files files")) && files > 1)
  }

  test("after max-seconds, no further step begins") {
    val actions = neglected
    val table = actions.table
    var now = laterThan(table).nowMs()
    val environment = TestTables.environment.copy(nowMs = () => now)
    val runner = new Recorder {
      override def run(a: MaintenanceAction, table: Table, o: MaintenanceOptions, limit: StepLimits): StepResult = {
        now += 4000
        super.run(a, table, o, limit)
      }
    }
    val reports =
      due(new TableMaintenance(table, options(table, "max-seconds" -> "5"), runner, environment).run())
    assert(reports.map(_.status).take(2).forall(_ == StepStatus.Done) && reports.head.seconds == 4.0)
    assert(reports.drop(2).forall(r => r.status == StepStatus.Skipped && r.message.exists(_.contains("max-seconds"))))
  }

  test("a value of max-seconds beyond the range of timestamps sets no limit") {
    val reports = due(maintenance(neglected, new Recorder, "max-seconds" -> Long.MaxValue.toString).run())
    assert(actionsOf(reports) == order && reports.forall(_.status == StepStatus.Done))
  }

  test("a step that fails after some commits is reported as failed, and these commits count towards max-bytes") {
    val runner = new Recorder {
      override def run(a: MaintenanceAction, table: Table, o: MaintenanceOptions, limit: StepLimits): StepResult = {
        val result = super.run(a, table, o, limit)
        if (a == RewriteDataFiles) result.copy(failure = Some("No file: https://u:secret@host/f")) else result
      }
    }
    val reports = due(maintenance(neglected, runner, "max-bytes" -> "3100").run())
    val failed = reports.find(_.step.action == RewriteDataFiles).get
    assert(failed.status == StepStatus.Failed && failed.bytesRewritten == 3000 && failed.filesBefore.contains(1L))
    assert(failed.message.exists(m =>
      m.contains("after some commits") && m.contains("No file") && !m.contains("secret")
    ))
    val manifests = reports.find(_.step.action == RewriteManifests).get
    assert(
      manifests.status == StepStatus.Skipped && manifests.message.exists(_.contains("0 bytes of the option max-bytes"))
    )
  }

  test("orphan files are removed only on request, and counted by a plan") {
    val actions = neglected
    actions.store.write("mem://t/data/orphan.parquet", Array[Byte](1))
    val runner = new Recorder
    val unrequested = maintenance(actions, runner).plan().find(_.step.action == RemoveOrphanFiles).get
    assert(unrequested.status == StepStatus.Skipped)
    assert(unrequested.step.reason.contains("remove-orphan-files") && unrequested.step.measures("orphan_files") > 0)
    assert(!actionsOf(maintenance(actions, runner).run()).contains(RemoveOrphanFiles))
    val planned = maintenance(actions, new Recorder, "remove-orphan-files" -> "true").plan()
      .find(_.step.action == RemoveOrphanFiles).get
    assert(planned.status == StepStatus.Planned && planned.filesBefore.exists(_ > 0))
  }

  test("the steps that delete files are skipped if gc.enabled is false") {
    val actions = tableByCategory(FormatVersion.V2, "gc.enabled" -> "false")
    actions.append(fileOf("a", "a"))
    actions.append(fileOf("a", "b"))
    val planned = maintenance(actions, new Recorder, "remove-orphan-files" -> "true").plan()
    assert(planned.forall(_.status == StepStatus.Skipped))
    assert(planned.count(_.step.reason.contains("gc.enabled")) == 2)
  }

  test("invalid options are rejected") {
    val table = created().table
    for (
      (key, value, hint) <- Seq(
        ("max-byte", "1", "max-bytes"),
        ("rewrite-all", "true", "The options are"),
        ("max-bytes", "0", "1 to"),
        ("max-bytes", "1e9", "1 to"),
        ("max-seconds", "-1", "1 to"),
        ("remove-orphan-files", "yes", "true or false"),
        ("min-input-files", "0", "min-input-files")
      )
    ) assert(intercept[InvalidArgument](options(table, key -> value)).getMessage.contains(hint), key)
  }

  test("a compaction after a write is limited to the partitions to which the write has added files") {
    val actions = created()
    def partition(category: String) = PartitionTuple(Vector(Some(StringLiteral(category))))
    actions.append((1 to 4).map(i => fileOf("a", s"a$i")) ++ (1 to 4).map(i => fileOf("b", s"b$i")): _*)
    actions.append(fileOf("b", "b5"), fileOf("c", "c1"))
    val table = actions.table
    val rewrite = RewriteOptions.of(Map("min-input-files" -> "5"), table.metadata)
    val touched = PartitionsWithSmallFiles.of(table, table.currentSnapshot.get, rewrite)
    assert(touched.tuples == Set(partition("b")))
    val groups = FileGroup.plan(table, table.currentSnapshot.get, touched.where, rewrite)
    assert(groups.filter(touched.contains).map(_.tasks.size) == Vector(5))
    def selected(budget: FileGroupBudget) = {
      val limited = budget.limit(rewrite)
      val planned = FileGroup.plan(table, table.currentSnapshot.get, touched.where, limited).filter(touched.contains)
      budget.select(planned, limited, table.properties).map(_.tasks.size).sum
    }
    assert(selected(FileGroupBudget(5000)) == 5 && selected(FileGroupBudget(4999)) < 5)
    assert(selected(FileGroupBudget(5000, maxFiles = 4)) < 5)
  }

  /**
   * Records the steps without running them, and reports that each step rewrote its maximum number of bytes, if it has
   * one.
   */
  private class Recorder extends StepRunner {
    var calls: Vector[(MaintenanceAction, Option[Long])] = Vector.empty

    override def run(
        action: MaintenanceAction,
        table: Table,
        options: MaintenanceOptions,
        limits: StepLimits
    ): StepResult = {
      calls :+= action -> limits.maxBytes
      StepResult(1, 0, limits.maxBytes.getOrElse(if (action == ConvertEqualityDeletes) 100 else 0))
    }

    override def orphanSearch: OrphanSearch = new LocalOrphanSearch

    override def isCancellation(error: Throwable): Boolean = false
  }
}
