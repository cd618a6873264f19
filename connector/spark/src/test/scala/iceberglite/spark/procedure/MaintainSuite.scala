package iceberglite.spark.procedure

import java.nio.file.Files
import java.nio.file.attribute.FileTime
import java.util.concurrent.TimeUnit.DAYS
import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.compact.FileGroupBudget
import iceberglite.maintenance.health.{MaintenanceAction, MaintenanceOptions, StepLimits}
import iceberglite.spark.maintenance.{DataFileRewrite, RowOrdering, SessionSteps}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.{Environment, SnapshotTarget}
import iceberglite.spark.{IcebergTable, SharedSession}
import iceberglite.spark.rowlevel.StatementFixture

/** Tests `CALL maintain` and the metadata table `health`. Some tests check that Apache Iceberg reads the same rows. */
class MaintainSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with small files in several partitions, deleted rows, and snapshots that are due to expire. */
  private def neglected(version: Int): String = {
    val t = create(
      "id BIGINT, p INT, s STRING",
      version,
      "merge-on-read",
      "write.distribution-mode" -> "none",
      "history.expire.max-snapshot-age-ms" -> "1",
      "commit.manifest-merge.enabled" -> "false"
    )
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    for (i <- 0 until 6)
      sql(s"INSERT INTO ${inApacheIceberg(t)} SELECT id, id % 3, 'x' FROM range(${i * 30}, ${i * 30 + 30}, 1, 1)")
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 7 = 1")
    sql(s"REFRESH TABLE $t")
    t
  }

  private def call(table: String, arguments: String*): Seq[Row] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.maintain(${(s"table => '$rest'" +: arguments).mkString(", ")})")
  }

  private def statusOf(reports: Seq[Row], action: String): String =
    reports.find(_.getString(0) == action).fold("absent")(_.getString(1))

  private def contents(t: String, version: Int): Seq[Row] = {
    val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
    rows(s"SELECT *$lineage FROM $t ORDER BY id")
  }

  for (version <- Seq(2, 3)) test(s"maintenance keeps all rows that each connector reads, version $version", Slow) {
    val t = neglected(version)
    val before = contents(t, version)
    val planned = assertPlanned(t)
    val done = call(t)
    assert(planned.map(_.getString(0)).filterNot(_ == "remove_orphan_files") == done.map(_.getString(0)))
    assert(statusOf(done, "rewrite_data_files") == "done" && statusOf(done, "expire_snapshots") == "done")
    val rewrite = done.find(_.getString(0) == "rewrite_data_files").get
    assert(rewrite.getLong(3) == 18 && rewrite.getLong(4) == 3 && rewrite.getLong(5) > 0 && rewrite.getDouble(6) > 0)
    assert(count(s"$t.data_files") == 3)
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(contents(t, version) == before && contents(inApacheIceberg(t), version) == before)
    val again = call(t)
    assert(statusOf(again, "rewrite_data_files") == "skipped" && contents(t, version) == before)
  }

  /** Checks that a dry run returns the steps of the metadata table `health`, and changes nothing. */
  private def assertPlanned(t: String): Seq[Row] = {
    var planned = Seq.empty[Row]
    assertUnchanged(t) { planned = call(t, "dry_run => true") }
    val health = rows(s"SELECT action, is_due, files, files_after, bytes_to_rewrite FROM $t.health")
    val (orphans, others) = planned.partition(_.getString(0) == "remove_orphan_files")
    assert(others.map(_.getString(0)) == health.map(_.getString(0)))
    assert(others.map(_.getString(1) == "planned") == health.map(_.getBoolean(1)))
    assert(orphans.map(_.getString(1)) == Seq("skipped") && orphans.head.getString(2).contains("0 orphan files"))
    val rewrite = planned.find(_.getString(0) == "rewrite_data_files").get
    assert(rewrite.getLong(3) == 18 && rewrite.getLong(4) == 3)
    assert(rows(s"SELECT measures['data_files'] FROM $t.health WHERE action = 'rewrite_data_files'") == Seq(Row(18L)))
    planned
  }

  test("a step that fails is reported, and the other steps are run", Slow) {
    val t = neglected(2)
    Files.delete(dataFilesOf(t).filter(_.toString.contains("p=1")).minBy(_.toString))
    val done = call(t)
    assert(statusOf(done, "rewrite_data_files") == "failed" && statusOf(done, "expire_snapshots") == "done")
    assert(done.find(_.getString(0) == "rewrite_data_files").get.getString(7).nonEmpty)
  }

  test("the budget of bytes limits the rewritten files", Slow) {
    val t = neglected(2)
    val size = rows(s"SELECT sum(file_size_in_bytes) FROM $t.data_files WHERE partition.p = 1").head.getLong(0)
    val done = call(t, s"options => map('max-bytes', '${size + size / 2}', 'min-input-files', '4')")
    val rewrite = done.find(_.getString(0) == "rewrite_data_files").get
    assert(rewrite.getLong(3) < 18 && rewrite.getLong(3) > 0 && rewrite.getLong(5) <= size + size / 2)
    assert(rewrite.getString(7).contains("max-bytes"))
  }

  test("equality deletes are converted, partition statistics are renewed, and Scala can run the maintenance") {
    val t = create("id BIGINT NOT NULL, n BIGINT", 2, "merge-on-read")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id")
    sql(s"INSERT INTO $t SELECT id, id FROM range(0, 100, 1, 1)")
    spark.range(0, 10).selectExpr("id", "-id AS n").writeTo(t).option("upsert", "true").append()
    call(t)
    val Array(catalog, rest) = t.split("\\.", 2)
    assert(count(s"$t.delete_files", "content = 2") == 0)
    sql(s"CALL $catalog.system.compute_partition_stats('$rest')")
    (0 until 5).foreach(i => sql(s"INSERT INTO $t VALUES (${200 + i}, 0)"))
    val before = sorted(s"SELECT * FROM $t")
    val table = IcebergTable.forName(spark, t)
    val planned = table.maintain(Map("min-input-files" -> "3"), dryRun = true).map(r => r.step.action -> r.status.name)
    val done = table.maintain(Map("min-input-files" -> "3"))
    assert(planned.map(_._1).filterNot(_.name == "remove_orphan_files") == done.map(_.step.action))
    val statistics = done.find(_.step.action.name == "compute_partition_stats").get
    assert(statistics.status.name == "done" && sorted(s"SELECT * FROM $t") == before)
    assert(live(t).metadata.partitionStatistics.map(_.snapshotId).contains(live(t).metadata.currentSnapshotId.get))
  }

  for (version <- Seq(2, 3)) test(s"position delete files are combined, version $version", Slow) {
    val t = create("id BIGINT, s STRING", 2, "merge-on-read", "write.delete.granularity" -> "partition")
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, 'x' FROM range(0, 1000, 1, 1)")
    (0 until 6).foreach(i => sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 100 = $i"))
    if (version == 3) sql(s"ALTER TABLE ${inApacheIceberg(t)} SET TBLPROPERTIES ('format-version' = '3')")
    sql(s"REFRESH TABLE $t")
    val (before, files) = (contents(t, 2), count(s"$t.delete_files"))
    assert(files > 1 && before.size == 940)
    val done = call(t)
    assert(statusOf(done, "rewrite_position_delete_files") == "done" && count(s"$t.delete_files") == 1)
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(contents(t, 2) == before && contents(inApacheIceberg(t), 2) == before)
    assert(statusOf(call(t), "rewrite_position_delete_files") == "skipped")
  }

  test("numbers of distinct values are renewed for the columns that have them", Slow) {
    val t = create("id BIGINT, n BIGINT", 2, "merge-on-read")
    val Array(catalog, rest) = t.split("\\.", 2)
    sql(s"INSERT INTO $t SELECT id, id FROM range(0, 100, 1, 1)")
    sql(s"CALL $catalog.system.compute_table_stats(table => '$rest', columns => array('n'))")
    assert(statusOf(call(t), "compute_table_stats") == "skipped")
    sql(s"INSERT INTO $t SELECT id, id FROM range(100, 150, 1, 1)")
    assert(statusOf(call(t), "compute_table_stats") == "done")
    val metadata = live(t).metadata
    val newest = metadata.statistics.find(file => metadata.currentSnapshotId.contains(file.snapshotId)).get
    val blobs = newest.blobMetadata
    assert(blobs.map(_.fields) == Vector(Vector(2)) && blobs.head.properties("ndv") == "150")
    assert(statusOf(call(t), "compute_table_stats") == "skipped")
  }

  test(
    "numbers of distinct values are renewed once copy-on-write updates have written as many rows as the table has",
    Slow
  ) {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    val Array(catalog, rest) = t.split("\\.", 2)
    for (i <- 0 until 3) sql(s"INSERT INTO $t SELECT id, 0 FROM range(${i * 100}, ${i * 100 + 100}, 1, 1)")
    sql(s"CALL $catalog.system.compute_table_stats(table => '$rest', columns => array('n'))")
    def planned = call(t, "dry_run => true")
    for (i <- 0 until 3) {
      assert(statusOf(planned, "compute_table_stats") == "skipped", s"after $i updates")
      sql(s"UPDATE ${inApacheIceberg(t)} SET n = id WHERE id BETWEEN ${i * 100} AND ${i * 100 + 98}")
      sql(s"REFRESH TABLE $t")
    }
    assert(statusOf(planned, "compute_table_stats") == "planned")
  }

  test("a rewrite stops at the deadline between its commits, and the next call rewrites the remaining files", Slow) {
    val t = neglected(2)
    val before = contents(t, 2)
    val now = new AtomicLong(-1L)
    // The clock advances by 1 ms with each reading, so the deadline has passed before the second commit begins.
    val environment = Environment.system.copy(nowMs = () => now.incrementAndGet())
    val (steps, table) = (new SessionSteps(spark), live(t))
    val options = MaintenanceOptions.of(Map.empty, table.metadata)
    def run(deadline: Option[Deadline]) =
      steps.run(MaintenanceAction.RewriteDataFiles, live(t), options, StepLimits(None, deadline))
    val stopped = run(Some(new Deadline(1, environment)))
    assert(stopped.filesBefore == 6 && stopped.filesAfter == 1)
    assert(stopped.message.exists(m => m.contains("12 data files") && m.contains("max-seconds")))
    sql(s"REFRESH TABLE $t")
    assert(contents(t, 2) == before && count(s"$t.data_files") == 13)
    val rest = run(None)
    sql(s"REFRESH TABLE $t")
    assert(rest.filesBefore == 12 && contents(t, 2) == before && count(s"$t.data_files") == 3)
  }

  test("the commits before a failed commit of a rewrite are reported", Slow) {
    val t = neglected(2)
    val (steps, table) = (new SessionSteps(spark), live(t))
    val options = MaintenanceOptions.of(Map.empty, table.metadata)
      .copy(rewriteOptions = Map("max-concurrent-file-group-rewrites" -> "1"))
    val rewrite = options.rewrite(table.metadata)
    val groups = new DataFileRewrite(
      spark,
      table,
      SnapshotTarget.Main,
      AlwaysTrue,
      rewrite,
      RowOrdering.default(table),
      FileGroupBudget(Long.MaxValue).select(_, rewrite, table.properties)
    ).groups
    val lost = groups.last.tasks.head.file.path
    Files.delete(dataFilesOf(t).find(path => lost.endsWith(path.getFileName.toString)).get)
    val deadline = Some(new Deadline(Long.MaxValue, Environment.system))
    val result = steps.run(MaintenanceAction.RewriteDataFiles, table, options, StepLimits(None, deadline))
    assert(result.filesBefore == 12 && result.filesAfter == 2 && result.bytesRewritten == groups.init.map(_.bytes).sum)
    assert(result.failure.isDefined && result.message.exists(_.contains("6 data files")))
    sql(s"REFRESH TABLE $t")
    assert(count(s"$t.data_files") == 8)
  }

  test("maintain runs remove_orphan_files only if the option remove-orphan-files is set", Slow) {
    val t = neglected(2)
    val done = call(t, "options => map('remove-orphan-files', 'true')")
    assert(statusOf(done, "remove_orphan_files") == "done" && statusOf(call(t), "remove_orphan_files") == "absent")
  }

  test("an old orphan file is removed and counted once, and a young one is kept", Slow) {
    val t = neglected(2)
    val data = dataFilesOf(t).minBy(_.toString).getParent
    val Seq(old, young) = Seq("old.parquet", "young.parquet").map(data.resolve)
    Seq(old, young).foreach(Files.write(_, Array[Byte](1)))
    Files.setLastModifiedTime(old, FileTime.fromMillis(System.currentTimeMillis - DAYS.toMillis(4)))
    def filesBeforeAndAfter() = {
      val step = call(t, "options => map('remove-orphan-files', 'true')")
        .find(_.getString(0) == "remove_orphan_files").get
      (step.getString(1), step.getLong(3), step.getLong(4))
    }
    assert(filesBeforeAndAfter() == (("done", 1L, 0L)))
    assert(!Files.exists(old) && Files.exists(young))
    assert(filesBeforeAndAfter() == (("done", 0L, 0L)))
  }

  test("invalid arguments are rejected, and nothing changes", Slow) {
    val t = neglected(2)
    for (
      (arguments, message) <- Seq(
        "options => map('max-byte', '5')" -> "Did you mean max-bytes",
        "options => map('max-bytes', 'five')" -> "It must be an integer from 1",
        "options => map('remove-orphan-files', '1')" -> "It must be true or false",
        "options => map('target-file-size-bytes', '0')" -> "target-file-size-bytes",
        "dry => true" -> "dry_run"
      )
    ) assertUnchanged(t) {
      assert(messages(intercept[AnalysisException](call(t, arguments))).contains(message), arguments)
    }
    assert(messages(intercept[AnalysisException](call("lite.db.none"))).contains("none"))
  }
}
