package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.table.action.DeleteFiles

/** Tests the options of `CALL rewrite_data_files`, and compares the results with Apache Iceberg. */
class RewriteOptionsSuite extends AnyFunSuite with RewriteFixture {

  private def options(values: (String, String)*): String =
    values.map { case (name, value) => s"'$name', '$value'" }.mkString("options => map(", ", ", ")")

  private val all = "rewrite-all" -> "true"

  private def replacements(t: String): Long = count(s"$t.snapshots", "operation = 'replace'")

  /**
   * Calls the procedure of each connector on equal tables, and compares the results. The number of removed delete files
   * must be the number by which the table's delete files decrease. Apache Iceberg does not count the delete files that
   * a commit removes because all data files of the table are newer.
   *
   * @return the two tables
   */
  private def compare(version: Int, arguments: String*): (String, String) = {
    val (ours, theirs) = (written(version), written(version))
    val (before, deleteFiles) = (contents(ours, version), count(s"$ours.delete_files"))
    val result = counts(call(ours, arguments: _*))
    val expected = counts(callPeer(theirs, arguments: _*))
    val clue = arguments.mkString(", ")
    assert(result.init == expected.init, clue)
    assert(result.last.toString == (deleteFiles - count(s"$ours.delete_files")).toString, clue)
    if (!clue.contains("'use-starting-sequence-number', 'false'")) assert(result.last == expected.last, clue)
    sql(s"REFRESH TABLE ${inApacheIceberg(ours)}")
    assert(contents(ours, version) == before && contents(inApacheIceberg(ours), version) == before, clue)
    (ours, theirs)
  }

  test("delete-ratio-threshold chooses the files with at least this ratio of deleted rows", Slow) {
    def rewritten(ratio: String): Long = {
      val (ours, _) = compare(3, options("min-input-files" -> "20", "delete-ratio-threshold" -> ratio))
      replacements(ours)
    }
    assert(rewritten("0.05") == 1 && rewritten("0.9") == 0)
  }

  test("with max-files-to-rewrite, as many files are rewritten as by Apache Iceberg", Slow) {
    for (limit <- Seq("4", "7")) compare(2, options(all, "max-files-to-rewrite" -> limit))
  }

  test("max-concurrent-file-group-rewrites does not change the result", Slow) {
    val orders = Seq("binpack" -> Nil, "sort" -> Seq("sort_order => 'id DESC'"))
    for ((atOnce, order) <- Sampling.pairs(Seq("1", "50"), orders, "strategies and numbers of concurrent groups"))
      compare(
        2,
        Seq(s"strategy => '${order._1}'", options(all, "max-concurrent-file-group-rewrites" -> atOnce)) ++ order._2: _*
      )
  }

  test("use-starting-sequence-number determines the sequence number of the new files", Slow) {
    for (starting <- Seq("true", "false")) {
      val (ours, theirs) = compare(2, options(all, "use-starting-sequence-number" -> starting))
      def numbers(t: String): Seq[Row] = {
        val live = "status < 2 AND data_file.content = 0"
        rows(s"SELECT DISTINCT sequence_number FROM $t.entries WHERE $live")
      }
      assert(numbers(ours) == numbers(theirs) && numbers(ours) == Seq(Row(if (starting == "true") 3L else 4L)))
    }
  }

  for (version <- Seq(2, 3); dangling <- Seq("true", "false"); order <- Seq("binpack", "sort"))
    test(
      s"the reported and real numbers of removed delete files agree, version $version, strategy $order, " +
        s"remove-dangling-deletes=$dangling",
      Sampling.slowInSomeRuns(isAlwaysRun = order == "binpack"): _*
    ) {
      val sort = if (order == "sort") Seq("sort_order => 'id DESC'") else Nil
      for (starting <- if (version == 2) Seq("true", "false") else Seq("true")) {
        val values = Seq(all, "remove-dangling-deletes" -> dangling, "use-starting-sequence-number" -> starting)
        compare(version, options(values: _*) +: sort: _*)
      }
    }

  test("partial-progress.max-commits limits the number of commits", Slow) {
    val orders = Seq(Nil, Seq("sort_order => 'id'"))
    for (
      (commits, order) <- Sampling.pairs(Seq(2, 10), orders, "orders and numbers of commits with partial progress")
    ) {
      val arguments = options(
        all,
        "partial-progress.enabled" -> "true",
        "partial-progress.max-commits" -> commits.toString
      )
      val (ours, theirs) = compare(2, arguments +: order: _*)
      assert(replacements(ours) == math.min(3, commits), commits)
      assert(replacements(ours) == replacements(theirs), commits)
    }
  }

  /** Sorts the table while another commit removes the files of a partition, whose rewrite therefore cannot commit. */
  private def sortWithConflict(t: String, more: (String, String)*): Row = {
    val commits = commitWhenCalled(t) { table =>
      val removed = Expression.Equal(Term.Named("p"), IntLiteral(1))
      table.transaction().add(new DeleteFiles(removed)).commit()
      ()
    }
    val values = Seq(all, "partial-progress.enabled" -> "true") ++ more
    val result = call(t, "sort_order => 'commit_and_return(id)'", options(values: _*))
    assert(commits() == 1)
    result
  }

  test("with partial progress, a commit that fails is counted, and the other commits are kept", Slow) {
    for (atOnce <- Seq("1", "5")) {
      val t = written(2)
      val before = rows(s"SELECT * FROM $t WHERE p <> 1 ORDER BY id")
      val result = sortWithConflict(t, "max-concurrent-file-group-rewrites" -> atOnce)
      assert(fileCounts(result) == Seq(12, 2, 6) && replacements(t) == 2)
      assert(rows(s"SELECT * FROM $t ORDER BY id") == before && count(s"$t.files", "content = 0") == 2)
    }
  }

  test("with partial progress, the commits of one rewrite do not conflict with each other") {
    for (atOnce <- Seq("1", "5")) {
      val t = written(2)
      // Without retries, a commit that conflicts with another one fails.
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('commit.retry.num-retries' = '0')")
      val concurrent = "max-concurrent-file-group-rewrites" -> atOnce
      val result = call(t, options(all, "partial-progress.enabled" -> "true", concurrent))
      assert(fileCounts(result) == Seq(18, 3, 0) && replacements(t) == 3, atOnce)
    }
  }

  test("a rewrite with more failed commits than partial-progress.max-failed-commits fails and leaves no files", Slow) {
    val t = written(2)
    val error = intercept[Exception](sortWithConflict(t, "partial-progress.max-failed-commits" -> "0"))
    assert(messages(error).contains("removed"), messages(error))
    val referenced = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0).split('/').last).toSet
    assert(dataFilesOf(t).map(_.getFileName.toString).subsetOf(referenced))
  }

  test("an error in one of several concurrent groups fails the rewrite, and leaves no files", Slow) {
    val t = written(3)
    assertUnchanged(t) {
      val error = intercept[Exception] {
        call(t, "sort_order => 'IF(id = 100, raise_error(\"stop here\"), id)'", options(all))
      }
      assert(messages(error).contains("stop here"), messages(error))
    }
  }

  /** Creates an unpartitioned table with eight files of about the same size, whose rows have random keys `k`. */
  private def shuffled(version: Int): String = {
    val t = create("id BIGINT, k BIGINT, s STRING", version, "merge-on-read", "write.distribution-mode" -> "none")
    val columns = "id, hash(id), concat(hash(id * 7), hash(id * 11), hash(id * 13))"
    sql(s"INSERT INTO $t SELECT $columns FROM range(0, 24000, 1, 8)")
    t
  }

  test("shuffle-partitions-per-file does not change the number of files and the order of their rows", Slow) {
    for ((perFile, order) <- Sampling.pairs(Seq("1", "5"), Seq("k", "hilbert(k)"), "orders and tasks per file")) {
      val (ours, theirs) = (shuffled(3), shuffled(3))
      val before = contents(ours, 3)
      val sizes = Seq(all, "target-file-size-bytes" -> "200000", "max-file-size-bytes" -> "2000000")
      val result =
        call(ours, s"sort_order => '$order'", options(sizes :+ ("shuffle-partitions-per-file" -> perFile): _*))
      assert(result.getInt(1) > 1 && contents(ours, 3) == before)
      // Apache Iceberg is called without `shuffle-partitions-per-file`, for which it needs extensions that the session
      // lacks. The option does not change the number of files.
      if (order == "k") assert(counts(result) == counts(callPeer(theirs, s"sort_order => 'k'", options(sizes: _*))))
      val ranges = rows(s"SELECT min(k), max(k) FROM $ours GROUP BY _file ORDER BY 1, 2")
      assert(ranges.size == result.getInt(1))
      assert(ranges.zip(ranges.tail).forall { case (a, b) => a.getLong(1) <= b.getLong(0) })
      val inFiles = rows(s"SELECT k FROM $ours ORDER BY _file, _pos").map(_.getLong(0))
      if (order == "k") assert(inFiles.zip(inFiles.tail).count { case (a, b) => a > b } < ranges.size)
    }
  }

  test("compression-factor changes the number of files that a sort writes, as in Apache Iceberg", Slow) {
    val sizes = Seq(all, "target-file-size-bytes" -> "200000", "max-file-size-bytes" -> "2000000")
    val added = Seq("1.0", "0.5").map { factor =>
      val (ours, theirs) = (shuffled(2), shuffled(2))
      val arguments = Seq("sort_order => 'k'", options(sizes :+ ("compression-factor" -> factor): _*))
      val result = call(ours, arguments: _*)
      assert(counts(result) == counts(callPeer(theirs, arguments: _*)), factor)
      result.getInt(1)
    }
    assert(added.last < added.head && added.last > 0)
  }

  test("var-length-contribution and max-output-size limit the bytes that order the rows", Slow) {
    for (values <- Seq("var-length-contribution" -> "1", "max-output-size" -> "1")) {
      val (ours, theirs) = (shuffled(2), shuffled(2))
      val arguments = Seq("sort_order => 'zorder(s)'", options(all, values))
      assert(counts(call(ours, arguments: _*)) == counts(callPeer(theirs, arguments: _*)))
      def firsts(t: String): Seq[Row] = rows(s"SELECT substr(s, 1, 1) FROM $t ORDER BY _file, _pos")
      def texts(t: String): Seq[String] = rows(s"SELECT s FROM $t ORDER BY _file, _pos").map(_.getString(0))
      assert(firsts(ours) == firsts(theirs))
      assert(texts(ours).map(_.take(1)) == texts(ours).map(_.take(1)).sorted && texts(ours) != texts(ours).sorted)
    }
  }
}
