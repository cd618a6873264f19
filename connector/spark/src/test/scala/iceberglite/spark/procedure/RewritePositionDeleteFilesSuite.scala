package iceberglite.spark.procedure

import java.nio.file.{Files, Paths}

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.maintenance.compact.{DeleteRewriteResult, GroupOptions}
import iceberglite.puffin.{DeletionVector, DeletionVectorFiles}
import iceberglite.scan.deletes.DeleteReader
import iceberglite.spark.SharedSession
import iceberglite.spark.maintenance.PositionDeleteRewrite
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.table.SnapshotTarget
import iceberglite.tree.TreeReader

/** Tests `CALL rewrite_position_delete_files`, and compares the results with Apache Iceberg. */
@MoreRoundsInSlowTier
class RewritePositionDeleteFilesSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture. With
  // them, UPDATE and MERGE work only in Apache Iceberg's catalog.
  override lazy val spark: SparkSession = SharedSession.spark
  private val everything = "options => map('rewrite-all', 'true')"

  /** Creates a version 2 table with three partitions, and deletes rows of each data file in several commits. */
  private def withDeletes(granularity: String, times: Int = 5, properties: Seq[(String, String)] = Nil): String = {
    val all = properties ++ Seq("write.distribution-mode" -> "none", "write.delete.granularity" -> granularity)
    val t = create("id BIGINT, p INT", 2, "merge-on-read", all: _*)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    sql(s"INSERT INTO ${inApacheIceberg(t)} SELECT id, id % 3 FROM range(0, 180, 1, 3)")
    for (i <- 0 until times) sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 20 = $i")
    refreshed(t)
  }

  private def refreshed(t: String): String = {
    sql(s"REFRESH TABLE $t")
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    t
  }

  /** Rewrites the data files of a partition, so that the partition's position deletes apply to no data file. */
  private def removeDataFiles(t: String): String = {
    call("rewrite_data_files", inApacheIceberg(t), "where => 'p = 0'", everything)
    refreshed(t)
  }

  private def upgraded(t: String): String = {
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '3')")
    refreshed(t)
  }

  private def rollBack(t: String, snapshotId: Long): Unit = {
    call("rollback_to_snapshot", t, s"snapshot_id => $snapshotId")
    refreshed(t)
  }

  private def call(procedure: String, table: String, arguments: String*): Row = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.$procedure(${(s"table => '$rest'" +: arguments).mkString(", ")})").head
  }

  private def rewrite(table: String, arguments: String*): Row = {
    val row = call("rewrite_position_delete_files", table, arguments: _*)
    refreshed(if (table.startsWith("lite.")) table else s"lite.${table.split("\\.", 2)(1)}")
    row
  }

  private def counts(row: Row): Seq[Int] = Seq(row.getInt(0), row.getInt(1))

  private def contents(t: String): Seq[Row] = rows(s"SELECT * FROM $t ORDER BY id")

  private def deleteFiles(t: String): Seq[ContentFile] = {
    val table = live(t)
    new TreeReader(table.io, table.metadata).live(table.currentSnapshot.get).map(_.file).toVector
      .filter(_.content != Content.Data)
  }

  /** Returns the positions that the given delete files delete, by the path of the data file. */
  private def deleted(t: String, files: Seq[ContentFile]): Map[String, DeletionVector] = {
    val table = live(t)
    val found = files.flatMap { file =>
      if (file.isDeletionVector) Seq(file.referencedDataFile.get -> DeletionVectorFiles.read(table.io, file))
      else new DeleteReader(table.io, table.metadata.specsById, nameMapping = None).positionsByDataFile(file).toSeq
    }
    found.groupBy(_._1).map { case (path, all) => path -> all.map(_._2).reduce(_ union _) }
  }

  private def action(
      t: String,
      options: Map[String, String] = Map("rewrite-all" -> "true"),
      to: SnapshotTarget = SnapshotTarget.Main
  )(shouldUseCluster: => Boolean): DeleteRewriteResult = {
    val table = live(t)
    val parsed = GroupOptions.ofPositionDeletes(options, table.metadata)
    val (_, result) =
      new PositionDeleteRewrite(spark, table, to, AlwaysTrue, parsed, None, (_, _) => shouldUseCluster).run()
    refreshed(t)
    result
  }

  for (version <- Seq(2, 3); granularity <- Seq("file", "partition"))
    test(
      s"the same number of files as in Apache Iceberg is rewritten, version $version, granularity $granularity",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3 && granularity == "partition"): _*
    ) {
      def prepared() = {
        val t = removeDataFiles(withDeletes(granularity))
        if (version == 3) upgraded(t) else t
      }
      val (ours, theirs) = (prepared(), prepared())
      val tables = Seq(ours, theirs).map(t => t -> live(t).metadata.currentSnapshotId.get)
      val before = contents(ours)
      for (
        arguments <- Seq(
          Nil,
          Seq(everything),
          Seq("options => map('min-input-files', '2')"),
          Seq("options => map('min-input-files', '20')"),
          Seq(everything, "where => 'p = 1 AND id > 5'")
        )
      ) {
        tables.foreach { case (t, snapshotId) => rollBack(t, snapshotId) }
        val clue = arguments.mkString
        val row = rewrite(ours, arguments: _*)
        assert(counts(row) == counts(rewrite(inApacheIceberg(theirs), arguments: _*)), clue)
        val (ofOurs, ofTheirs) = (deleteFiles(ours), deleteFiles(theirs))
        assert(
          deleted(ours, ofOurs).values.map(_.cardinality).sum == deleted(theirs, ofTheirs).values.map(
            _.cardinality
          ).sum,
          clue
        )
        assert(contents(ours) == before && contents(inApacheIceberg(ours)) == before, clue)
        assert(row.getLong(2) > 0 == row.getInt(0) > 0 && row.getLong(3) > 0 == row.getInt(1) > 0, clue)
      }
    }

  test("the files of a partition are combined, and deletes of removed data files are dropped") {
    val t = removeDataFiles(withDeletes("partition", properties = Seq("write.delete.format.default" -> "avro")))
    val (before, old) = (contents(t), deleteFiles(t))
    assert(old.size == 15)
    val row = rewrite(t, everything)
    val files = deleteFiles(t)
    assert(
      counts(row) == Seq(15, 2) && files.forall(_.path.endsWith(".avro")) && files.map(_.partition).toSet.size == 2
    )
    assert(row.getLong(2) == old.map(_.fileSizeInBytes).sum && row.getLong(3) == files.map(_.fileSizeInBytes).sum)
    val live = rows(s"SELECT file_path FROM $t.data_files").map(_.getString(0)).toSet
    assert(deleted(t, files) == deleted(t, old).filterKeys(live).map(identity))
    assert(contents(t) == before && contents(inApacheIceberg(t)) == before)
    // The rewritten deletes must not apply to rows in new files.
    sql(s"INSERT INTO $t SELECT id, id % 3 FROM range(1000, 1060, 1, 1)")
    refreshed(t)
    assert(count(t, "id >= 1000") == 60 && count(inApacheIceberg(t), "id >= 1000") == 60)
    assert(rewrite(t, everything).getInt(0) == 2)
  }

  test("after an upgrade to version 3, position delete files become one deletion vector per data file", Slow) {
    val t = withDeletes("partition")
    val (before, old) = (contents(t), deleted(t, deleteFiles(t)))
    upgraded(t)
    // After this DELETE, a deletion vector contains all deletes of one data file. Older position delete files no longer
    // apply to this data file.
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id = 7")
    refreshed(t)
    val vectors = deleteFiles(t).filter(_.isDeletionVector)
    assert(vectors.size == 1)
    val row = rewrite(t, everything)
    val files = deleteFiles(t)
    assert(counts(row) == Seq(15, 8) && files.size == 9 && files.forall(_.isDeletionVector))
    assert(deleted(t, files) == old ++ deleted(t, vectors))
    assert(row.getLong(3) == files.filterNot(vectors.contains).flatMap(_.contentSizeInBytes).sum)
    assert(contents(t) == before.filter(_.getLong(0) != 7) && contents(inApacheIceberg(t)) == contents(t))
    assert(rewrite(t, everything) == Row(0, 0, 0L, 0L))
    assert(counts(rewrite(inApacheIceberg(t), everything)) == Seq(0, 0))
  }

  for (version <- Seq(2, 3); granularity <- Seq("file", "partition"))
    test(
      s"the driver and the cluster write the same deletes, version $version, granularity $granularity",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 2 && granularity == "partition"): _*
    ) {
      val t = removeDataFiles(withDeletes(granularity))
      if (version == 3) upgraded(t)
      val snapshotId = live(t).metadata.currentSnapshotId.get
      val before = contents(t)
      val Seq(onDriver, onCluster) = Seq(false, true).map { usesCluster =>
        rollBack(t, snapshotId)
        val result = action(t)(usesCluster)
        assert(contents(t) == before && contents(inApacheIceberg(t)) == before)
        (result.rewrittenFiles, result.addedFiles, deleted(t, deleteFiles(t)).values.map(_.toString).toSeq.sorted)
      }
      assert(onDriver == onCluster && onDriver._3.size == 6)
    }

  test("a rewrite keeps the rows of random tables", Slow) {
    (0 until Fuzz.slowRounds(4)).foreach { round =>
      val seed = Fuzz.seed + round
      val random = new Random(seed)
      def oneOf[A](values: A*): A = values(random.nextInt(values.size))
      val t = create(
        "id BIGINT, p INT",
        2,
        "merge-on-read",
        "write.delete.granularity" -> oneOf("file", "partition"),
        "write.delete.format.default" -> oneOf("parquet", "orc", "avro")
      )
      if (random.nextBoolean()) sql(s"ALTER TABLE $t ADD PARTITION FIELD ${oneOf("p", "bucket(2, id)")}")
      (0 until 10).foreach { i =>
        refreshed(t)
        random.nextInt(6) match {
          case 0 | 1 =>
            sql(s"INSERT INTO ${oneOf(t, inApacheIceberg(t))} SELECT id, id % 2 FROM range(${i * 50}, ${i * 50 + 50})")
          case 2 | 3 => sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 13 = ${random.nextInt(13)}")
          case 4 => sql(s"UPDATE ${inApacheIceberg(t)} SET p = p + 1 WHERE id % 17 = ${random.nextInt(17)}")
          case 5 =>
            sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.granularity' = '${oneOf("file", "partition")}')")
        }
        if (i == 7 && random.nextBoolean()) upgraded(t)
        refreshed(t)
        val before = contents(inApacheIceberg(t))
        val options = oneOf(
          Map("rewrite-all" -> "true"),
          Map("min-input-files" -> "2"),
          Map("rewrite-all" -> "true", "max-file-group-input-files" -> "2", "partial-progress.enabled" -> "true")
        )
        action(t, options)(random.nextBoolean())
        assert(contents(t) == before && contents(inApacheIceberg(t)) == before, s"seed $seed, change $i")
      }
    }
  }

  test("concurrent deletes do not conflict, and apply to the result", Slow) {
    val t = withDeletes("partition", times = 2)
    val remaining = contents(t).filter(_.getLong(0) % 20 != 9)
    action(t) {
      sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 20 = 9")
      false
    }
    assert(contents(t) == remaining && contents(inApacheIceberg(t)) == remaining)
  }

  test("a concurrent rewrite of the same files fails the commit, and leaves no file", Slow) {
    for (usesCluster <- Seq(false, true)) {
      val t = withDeletes("partition", times = 2)
      val before = contents(t)
      var files = Set.empty[java.nio.file.Path]
      val error = intercept[Exception](action(t) {
        rewrite(t, everything)
        files = filesOf(t)
        usesCluster
      })
      assert(messages(error).contains("is not in the table any more"))
      assert(filesOf(t) == files && contents(t) == before)
    }
  }

  test("with partial progress, the partitions are committed one after the other", Slow) {
    val t = withDeletes("partition")
    val result = action(t, Map("partial-progress.enabled" -> "true", "rewrite-job-order" -> "bytes-asc"))(false)
    assert(result.addedFiles == 3 && count(s"$t.snapshots", "operation = 'replace'") == 3)
  }

  test("a branch is rewritten, and main stays unchanged", Slow) {
    val t = withDeletes("partition", times = 2)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val (main, before) = (deleteFiles(t).map(_.path), contents(t))
    assert(counts(rewrite(t, "branch => 'b'", everything)) == Seq(6, 3) && deleteFiles(t).map(_.path) == main)
    assert(contents(s"$t.branch_b") == before)
  }

  test("a damaged delete file fails the rewrite before anything is changed", Slow) {
    val t = withDeletes("partition", times = 2)
    val path = deleteFiles(t).head.path
    Files.write(Paths.get(path.stripPrefix("file:")), Array[Byte](1, 2, 3))
    val files = filesOf(t)
    for (usesCluster <- Seq(false, true)) {
      val error = intercept[Exception](action(t)(usesCluster))
      assert(messages(error).contains(path) && filesOf(t) == files)
    }
  }

  test("tables without position deletes are not changed", Slow) {
    for (version <- Seq(1, 2, 3)) {
      val t = create("id BIGINT", version, "copy-on-write")
      assert(rewrite(t, everything) == Row(0, 0, 0L, 0L))
      sql(s"INSERT INTO $t VALUES (1)")
      assertUnchanged(t)(assert(rewrite(t, everything) == Row(0, 0, 0L, 0L)))
    }
  }

  test("invalid arguments are rejected", Slow) {
    val t = withDeletes("partition", times = 2)
    for (
      (arguments, message) <- Seq(
        "options => map('rewrite-al', 'true')" -> "Did you mean rewrite-all?",
        "options => map('output-spec-id', '0')" -> "output-spec-id",
        "options => map('target-file-size-bytes', '0')" -> "target-file-size-bytes",
        "options => map('max-file-size-bytes', '9', 'target-file-size-bytes', '9')" -> "max-file-size-bytes",
        "options => map('rewrite-job-order', 'random')" -> "bytes-asc",
        s"where => 'id IN (SELECT id FROM $t)'" -> "subquery",
        "where => 'nothing = 1'" -> "nothing",
        "branch => 'b'" -> "b"
      )
    ) assertUnchanged(t) {
      val error = intercept[AnalysisException](rewrite(t, arguments))
      assert(messages(error).contains(message), s"$arguments: ${messages(error)}")
    }
  }
}
