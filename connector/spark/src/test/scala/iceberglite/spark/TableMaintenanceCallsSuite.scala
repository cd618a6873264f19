package iceberglite.spark

import java.nio.file.Files

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.maintenance.CloneOptions
import iceberglite.maintenance.relocate.{PathPrefixes, PathRewriteOptions}
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.table.action.{ExpireOptions, RestorePoint}

/** Checks the Scala maintenance API, and compares results with those of the procedures on an equal table. */
class TableMaintenanceCallsSuite extends AnyFunSuite with StatementFixture {
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with small data files, small position delete files and many manifests in two partitions. */
  private def table(): String = {
    val t = create(
      "id BIGINT, p INT",
      2,
      "merge-on-read",
      "write.distribution-mode" -> "none",
      "write.delete.granularity" -> "partition",
      "commit.manifest-merge.enabled" -> "false"
    )
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    for (i <- 0 until 3) sql(s"INSERT INTO $t SELECT id, id % 2 FROM range(${i * 20}, ${i * 20 + 20}, 1, 1)")
    for (i <- 0 until 2) sql(s"DELETE FROM $t WHERE id IN (${i * 2}, ${i * 2 + 1})")
    t
  }

  private def procedure(t: String, name: String, arguments: String*): Row = {
    val Array(catalog, rest) = t.split("\\.", 2)
    val Seq(row) = rows(s"CALL $catalog.system.$name(${(s"table => '$rest'" +: arguments).mkString(", ")})")
    row
  }

  private def contents(t: String): Seq[String] = sorted(s"SELECT * FROM $t")

  test("Scala methods rewrite files and manifests as the procedures do, and a dry run changes nothing", Slow) {
    val (t, copy) = (table(), table())
    val (before, calls) = (contents(t), IcebergTable.forName(spark, t))
    val all = Map("rewrite-all" -> "true")
    assertUnchanged(t) {
      val dry = (
        calls.rewriteManifests(dryRun = true).rewrittenManifests,
        calls.rewritePositionDeleteFiles(all, dryRun = true).rewrittenFiles,
        calls.rewriteDataFiles(all, where = Some("p = 1"), dryRun = true).rewrittenFiles
      )
      val byProcedure = (
        procedure(copy, "rewrite_manifests", "dry_run => true").getInt(0),
        procedure(copy, "rewrite_position_delete_files", "options => map('rewrite-all', 'true')", "dry_run => true")
          .getInt(0),
        procedure(
          copy,
          "rewrite_data_files",
          "options => map('rewrite-all', 'true')",
          "where => 'p = 1'",
          "dry_run => true"
        )
          .getInt(0)
      )
      assert(dry == byProcedure && dry._1 > 1 && dry._2 > 1 && dry._3 == 3)
    }
    val planned = calls.rewriteManifests(dryRun = true)
    val manifests = calls.rewriteManifests()
    assert(planned == manifests)
    val byProcedure = procedure(copy, "rewrite_manifests")
    assert((manifests.rewrittenManifests, manifests.addedManifests) == ((byProcedure.getInt(0), byProcedure.getInt(1))))
    val plannedDeletes = calls.rewritePositionDeleteFiles(all, dryRun = true)
    val deletes = calls.rewritePositionDeleteFiles(all)
    assert(deletes.rewrittenFiles == plannedDeletes.rewrittenFiles && deletes.addedFiles == plannedDeletes.addedFiles)
    assert(deletes.rewrittenBytes == plannedDeletes.rewrittenBytes)
    assert(calls.rewriteDataFiles(all, where = Some("p = 1")).rewrittenFiles == 3)
    assert(calls.rewriteDataFiles(all, sortOrder = Some("id")).addedFiles == 2)
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(contents(t) == before && contents(inApacheIceberg(t)) == before)
  }

  test("Scala methods compute statistics and expire snapshots, and reject invalid arguments", Slow) {
    val t = table()
    val (before, calls) = (contents(t), IcebergTable.forName(spark, t))
    val sketches = calls.computeTableStats(Seq("p")).get
    val partitions = calls.computePartitionStats().get
    val metadata = live(t).metadata
    assert(metadata.statistics == Vector(sketches) && metadata.partitionStatistics == Vector(partitions))
    assert(sketches.blobMetadata.map(_.properties("ndv")) == Vector("2"))
    val expired = ExpireOptions(olderThanMs = Some(System.currentTimeMillis), retainLast = Some(1))
    var planned = 0L
    assertUnchanged(t) { planned = calls.expireSnapshots(expired, dryRun = true).deleted.manifestLists }
    assert(planned == 4 && calls.expireSnapshots(expired).deleted.manifestLists == planned)
    assert(count(s"$t.snapshots") == 1 && contents(t) == before)
    assert(calls.removeOrphanFiles(dryRun = true).isEmpty && calls.removeOrphanFiles().isEmpty)
    assert(calls.removeOrphanFiles(maxConcurrentDeletes = Some(1), prefixListing = true).isEmpty)
    assert(calls.expireSnapshots(expired, maxConcurrentDeletes = Some(1)).snapshotIds.isEmpty)
    for (
      call <- Seq(
        () => calls.expireSnapshots(maxConcurrentDeletes = Some(0)),
        () => calls.removeOrphanFiles(maxConcurrentDeletes = Some(0))
      )
    ) assert(messages(intercept[Exception](call())).contains("maxConcurrentDeletes"))
    val tooRecent = intercept[Exception](calls.removeOrphanFiles(olderThanMs = Some(System.currentTimeMillis)))
    assert(messages(tooRecent).contains("24 hours"))
  }

  test("a rewrite of files and a conversion of equality deletes change only the branch that the call selects") {
    val t = create("id BIGINT NOT NULL, n BIGINT", 2, "merge-on-read", "write.distribution-mode" -> "none")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id")
    for (i <- 0 until 2) sql(s"INSERT INTO $t SELECT id, id FROM range(${i * 20}, ${i * 20 + 20}, 1, 1)")
    spark.range(0, 3).selectExpr("id", "-id AS n").writeTo(t).option("upsert", "true").append()
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val (main, calls) = (live(t).metadata.currentSnapshotId, IcebergTable.forName(spark, t))
    def rowsOfBranch = sorted(s"SELECT * FROM $t.branch_b")
    val (before, b) = (rowsOfBranch, Some("b"))
    assert(calls.convertEqualityDeletes(b) == 1 && calls.convertEqualityDeletes(b) == 0)
    val all = Map("rewrite-all" -> "true")
    assert(calls.rewritePositionDeleteFiles(all, branch = b, dryRun = true).rewrittenFiles >= 1)
    assert(calls.rewriteDataFiles(all, branch = b).addedFiles == 1)
    assert(rowsOfBranch == before && live(t).metadata.currentSnapshotId == main)
    assert(calls.convertEqualityDeletes() == 1 && sorted(s"SELECT * FROM $t") == before)
  }

  test(
    "a restore and a rewrite of paths have the results of the procedures, and an import adds the rows of files",
    Slow
  ) {
    val (t, copy) = (table(), table())
    val calls = IcebergTable.forName(spark, t)
    def first(of: String): Long = live(of).metadata.snapshots.minBy(_.sequenceNumber).snapshotId
    val report = calls.restore(RestorePoint.AtSnapshot(first(t)))
    val row = procedure(copy, "restore", s"snapshot_id => ${first(copy)}")
    assert(report.difference.map(_.removed.dataFiles).contains(row.getLong(3)) && row.getLong(3) > 0)
    assert(contents(t) == contents(copy) && live(t).metadata.currentSnapshotId.contains(report.currentSnapshotId))
    val location = live(t).location
    val paths = calls.rewriteTablePath(PathRewriteOptions(PathPrefixes.of(location, s"$location-moved")))
    val prefixes = Seq(s"source_prefix => '$location'", s"target_prefix => '$location-moved'")
    val rewritten = procedure(t, "rewrite_table_path", prefixes: _*)
    assert(paths.latestVersion == rewritten.getString(0) && paths.manifests == rewritten.getInt(2))
    val source = Files.createTempDirectory(SharedSession.root, "source")
    spark.range(100, 105, 1, 1).selectExpr("id").write.mode("overwrite").parquet(s"file:$source/p=7")
    val added = calls.addFiles(s"parquet.`file:$source`", Map("p" -> "7"))
    assert(added.files == 1 && count(t, "p = 7") == 5)
  }

  test("a clone has the files, the rows and the result of the procedure, and is independent of its source", Slow) {
    val t = table()
    val first = live(t).metadata.snapshots.minBy(_.sequenceNumber).snapshotId
    sql(s"ALTER TABLE $t CREATE TAG first AS OF VERSION $first")
    val Seq(byCall, byProcedure, ofTag) = Seq.fill(3)(newTable())
    val calls = IcebergTable.forName(spark, t)
    val result = calls.clone(byCall)
    val row = rows(s"CALL lite.system.clone(source_table => '$t', table => '${byProcedure.stripPrefix("lite.")}')").head
    assert(result.snapshot.map(_.snapshotId).contains(row.getLong(0)))
    assert(result.dataFiles == row.getLong(1) && result.deleteFiles == row.getLong(2) && result.deleteFiles > 0)
    assert(result.table.metadataLocation == live(byCall).metadataLocation)
    assert(contents(byCall) == contents(t) && contents(byProcedure) == contents(t))
    calls.clone(ofTag, CloneOptions(ref = Some("first"), properties = Map("mine" -> "1")))
    val properties = live(ofTag).properties
    assert(count(ofTag) == 20 && properties("mine") == "1" && properties("gc.enabled") == "false")
    sql(s"DELETE FROM $byCall WHERE p = 1")
    assert(count(t, "p = 1") > 0)
    val error = intercept[Exception](calls.clone(byProcedure))
    assert(messages(error).contains("exists"))
    val inside = CloneOptions(location = Some(live(t).location))
    assert(messages(intercept[Exception](calls.clone(newTable(), inside))).contains("location"))
    Seq(byCall, byProcedure, ofTag).foreach(c => sql(s"ALTER TABLE $c SET TBLPROPERTIES ('gc.enabled' = 'true')"))
  }
}
