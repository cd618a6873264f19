package iceberglite.spark.procedure

import java.nio.file.Files

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{IcebergTable, SharedSession}
import iceberglite.spark.rowlevel.StatementFixture

/** `CALL maintain` and the metadata table `health`. Rows are compared with Apache Iceberg. */
class MaintainSuite extends AnyFunSuite with StatementFixture {
  // Only this session has procedures of Apache Iceberg.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with small files in several partitions, deleted rows and expired snapshots. */
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
      sql(s"INSERT INTO ${peer(t)} SELECT id, id % 3, 'x' FROM range(${i * 30}, ${i * 30 + 30}, 1, 1)")
    sql(s"DELETE FROM ${peer(t)} WHERE id % 7 = 1")
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

  for (version <- Seq(2, 3)) test(s"maintenance keeps all rows in Apache Iceberg, version $version", Slow) {
    val t = neglected(version)
    val before = contents(t, version)
    val planned = assertPlanned(t)
    val done = call(t)
    assert(planned.map(_.getString(0)) == done.map(_.getString(0)))
    assert(statusOf(done, "rewrite_data_files") == "done" && statusOf(done, "expire_snapshots") == "done")
    val rewrite = done.find(_.getString(0) == "rewrite_data_files").get
    assert(rewrite.getLong(3) == 18 && rewrite.getLong(4) == 3 && rewrite.getLong(5) > 0 && rewrite.getDouble(6) > 0)
    assert(count(s"$t.data_files") == 3)
    sql(s"REFRESH TABLE ${peer(t)}")
    assert(contents(t, version) == before && contents(peer(t), version) == before)
    val again = call(t)
    assert(statusOf(again, "rewrite_data_files") == "skipped" && contents(t, version) == before)
  }

  /** Checks that a dry run returns the steps of the metadata table `health`, and changes nothing. */
  private def assertPlanned(t: String): Seq[Row] = {
    var planned = Seq.empty[Row]
    assertUnchanged(t) { planned = call(t, "dry_run => true") }
    val health = rows(s"SELECT action, is_due, files, files_after, bytes_to_rewrite FROM $t.health")
    assert(planned.map(_.getString(0)) == health.map(_.getString(0)))
    assert(planned.map(_.getString(1) == "planned") == health.map(_.getBoolean(1)))
    val rewrite = planned.find(_.getString(0) == "rewrite_data_files").get
    assert(rewrite.getLong(3) == 18 && rewrite.getLong(4) == 3)
    assert(rows(s"SELECT measures['data_files'] FROM $t.health WHERE action = 'rewrite_data_files'") == Seq(Row(18L)))
    planned
  }

  test("a step that fails is reported, and the others are done", Slow) {
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
    assert(planned.map(_._1) == done.map(_.step.action))
    val statistics = done.find(_.step.action.name == "compute_partition_stats").get
    assert(statistics.status.name == "done" && sorted(s"SELECT * FROM $t") == before)
    assert(live(t).metadata.partitionStatistics.map(_.snapshotId).contains(live(t).metadata.currentSnapshotId.get))
  }

  test("orphan files are removed on request", Slow) {
    val t = neglected(2)
    val done = call(t, "options => map('remove-orphan-files', 'true')")
    assert(statusOf(done, "remove_orphan_files") == "done" && statusOf(call(t), "remove_orphan_files") == "absent")
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
      assert(messages(intercept[Exception](call(t, arguments))).contains(message), arguments)
    }
    assert(messages(intercept[Exception](call("lite.db.none"))).contains("none"))
  }
}
