package iceberglite.spark.rowlevel

import scala.concurrent.duration._

import org.apache.spark.SparkException
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{col, expr}
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.IcebergTable
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.RerunAfterRewrite
import iceberglite.spec.IcebergError.{ChangeScope, CommitConflict, CommitStateUnknown, ConcurrentChange}
import iceberglite.table.SnapshotTarget

/** Checks when a statement runs again because its table was changed before its commit. */
class RerunAfterRewriteSuite extends AnyFunSuite with StatementFixture {
  import RerunAfterRewriteSuite._

  for {
    version <- Seq(2, 3)
    mode <- Seq("copy-on-write", "merge-on-read")
    statement <- statements
  } test(
    s"${statement.name} runs again if a compaction replaces its files (version $version, $mode)",
    tagsOf(version == 3 && mode == "merge-on-read", statement.name): _*
  ) {
    val t = filled(version, mode)
    val commits = commitWhenCalled(t)(compact(_))
    sql(statement.sql(t))
    assert(commits() == 1 && operations(t) == Seq("append", "replace", statement.operation(mode)))
    assert(sorted(s"SELECT id, n FROM $t") == sorted(statement.expected))
    assertNoOrphans(t)
  }

  /** Returns the tags of a variant. Both tiers together contain the main variant of each statement. */
  private def tagsOf(isMain: Boolean, statement: String): Seq[Tag] =
    if (statement == "MERGE") Sampling.slowInSomeRuns(isMain) else Sampling.slowInSomeRunsUnless(isMain)

  for (mode <- Seq("copy-on-write", "merge-on-read")) {
    test(
      s"a statement is not run again if, besides the compaction, another commit changed rows ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = filled(3, mode)
      val commits = commitWhenCalled(t) { table =>
        compact(table)
        addCopy(table.refresh())
      }
      val error = intercept[Exception](sql(s"UPDATE $t SET n = commit_and_return(id % 1 + 100) WHERE n = 3"))
      assert(messages(error).contains("isolation level serializable") && !messages(error).contains("was run"))
      assert(commits() == 1 && operations(t) == Seq("append", "replace", "append") && count(t, "n = 100") == 0)
      assertNoOrphans(t)
    }
  }

  test("if a statement's files are replaced in every run, it fails after the table's number of retries", Slow) {
    val t = filled(3, "merge-on-read", "commit.retry.num-retries" -> "2", "commit.retry.min-wait-ms" -> "1")
    val commits = commitWhenCalled(t, times = 1000)(compact(_))
    val delete = s"DELETE FROM $t WHERE CASE WHEN id = 3 THEN commit_and_return(n) = 3 ELSE n = 3 END"
    val error = messages(intercept[Exception](sql(delete)))
    assert(error.contains("was run 3 times") && error.contains("commit.retry.num-retries"))
    assert(commits() == 3 && count(t) == 1000)
    assertNoOrphans(t)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('commit.retry.num-retries' = '0')")
    val once = messages(intercept[Exception](sql(delete)))
    assert(once.contains("Run the statement again") && !once.contains("was run"))
    assert(commits() == 4 && count(t) == 1000)
  }

  test("a statement runs again only after a conflict with a rewrite, and never after an unknown commit state") {
    def leadsToRun(error: Throwable): Boolean =
      RerunAfterRewrite.rewriteConflict(new SparkException("failed", error)).isDefined
    val rewritten = ConcurrentChange("m", ChangeScope.FilesOnly)
    assert(leadsToRun(rewritten) && leadsToRun(SparkErrors.of("t", rewritten)))
    assert(!leadsToRun(ConcurrentChange("m")) && !leadsToRun(CommitConflict("t", "r")))
    assert(!leadsToRun(CommitStateUnknown("t", Some("f"), "r", Some(rewritten))))
  }

  test("a MERGE of the Scala API that runs again with a cached source returns the row counts of its second run", Slow) {
    val t = filled(3, "merge-on-read")
    val commits = commitWhenCalled(t)(compact(_))
    val source = spark.range(990, 1010).selectExpr("id", "uuid() AS text").cache()
    val changes = IcebergTable.forName(spark, t).merge(source, "target.id = source.id")
      .whenMatchedUpdate(Map("n" -> expr("commit_and_return(-source.id)")))
      .whenNotMatchedInsert(Map("id" -> expr("source.id"), "n" -> expr("length(source.text)")))
      .execute()
    assert(commits() == 1 && (changes.updated, changes.inserted) == ((10L, 10L)))
    assert(count(t, "n = -id AND id >= 990") == 10 && count(t, "n = 36") == 10)
    source.unpersist()
    assertNoOrphans(t)
  }

  test("an overwrite with a condition that only some rows of a file satisfy runs again after a compaction", Slow) {
    val t = filled(3, "copy-on-write")
    val commits = commitWhenCalled(t)(compact(_))
    spark.range(2000, 2005).selectExpr("id", "commit_and_return(3) AS n").writeTo(t).overwrite(col("n") === 3)
    assert(commits() == 1 && operations(t) == Seq("append", "replace", "overwrite"))
    assert(count(t) == 905 && count(t, "n = 3 AND id >= 2000") == 5 && count(t, "n = 3") == 5)
    assertNoOrphans(t)
  }

  test("statements on a table with CHAR columns run again, with padded values", Slow) {
    val t = create("id BIGINT, c CHAR(3)", 3, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id, 'a' FROM range(10)")
    val commits = commitWhenCalled(t)(compact(_))
    sql(s"UPDATE $t SET id = commit_and_return(id), c = 'b' WHERE c = 'a' AND id < 5")
    assert(commits() == 1 && count(t, "c = 'b'") == 5)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.merge.mode' = 'copy-on-write')")
    sql(s"CALL lite.system.rewrite_data_files('${t.stripPrefix("lite.")}')")
    val mergeCommits = commitWhenCalled(t)(compact(_))
    sql(
      s"MERGE INTO $t t USING (SELECT commit_and_return(id) AS id, 'b' AS c FROM range(4, 12)) s " +
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET c = 'c' WHEN NOT MATCHED THEN INSERT *"
    )
    assert(mergeCommits() == 1 && count(t, "c = 'c'") == 6 && count(t, "c = 'b'") == 6 && count(t) == 12)
    assertNoOrphans(t)
  }

  test("a MERGE that adds a column runs again, and adds the column once", Slow) {
    val t = filled(3, "merge-on-read")
    val commits = commitWhenCalled(t)(compact(_))
    sql(
      s"MERGE WITH SCHEMA EVOLUTION INTO $t t " +
        "USING (SELECT commit_and_return(id) AS id, id AS n, 'x' AS text FROM range(990, 1010)) s ON t.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    assert(commits() == 1 && count(t) == 1010 && count(t, "text = 'x' AND n = id AND id >= 990") == 20)
    assert(spark.table(t).columns.toSeq == Seq("id", "n", "text"))
    assertNoOrphans(t)
  }

  test("an UPDATE with a subquery on its own table runs again, and reads the table again", Slow) {
    val t = filled(3, "copy-on-write")
    val commits = commitWhenCalled(t)(compact(_))
    sql(s"UPDATE $t SET n = commit_and_return(id % 1 + 100) WHERE id IN (SELECT id + 1 FROM $t WHERE n = 3)")
    assert(commits() == 1 && count(t) == 1000 && count(t, "n = 100 AND id % 10 = 4") == 100)
    assertNoOrphans(t)
  }

  test("a source that reads the changed table is evaluated again on the table version of the second run", Slow) {
    val t = filled(3, "copy-on-write", "write.update.isolation-level" -> "snapshot")
    val commits = commitWhenCalled(t) { table =>
      addCopy(table)
      compact(table.refresh())
    }
    sql(s"INSERT INTO $t REPLACE WHERE n = 3 SELECT id, commit_and_return(n) FROM $t WHERE n = 3")
    // The rows of the concurrent append are in the files that the second run replaces.
    assert(commits() == 1 && count(t) == 1500 && count(t, "n = 3") == 150)
    assertNoOrphans(t)
  }

  test("a statement that uses positions of rows does not run again, because a compaction changes them", Slow) {
    def byCondition(t: String, where: String) = s"UPDATE $t SET n = commit_and_return(7) WHERE $where"
    for (
      mode <- Seq("copy-on-write", "merge-on-read");
      statement <- Seq[(String, String) => String](
        (t, where) => byCondition(t, where),
        (t, where) => byCondition(t, s"id IN (SELECT id FROM $t WHERE $where)"),
        (t, where) =>
          s"MERGE INTO $t USING (SELECT id AS i FROM $t WHERE $where) u ON $t.id = u.i " +
            "WHEN MATCHED THEN UPDATE SET n = commit_and_return(7)"
      )
    ) {
      val t = filled(3, mode)
      val Row(file: String, position: Long) = rows(s"SELECT _file, _pos FROM $t WHERE id = 3").head
      val commits = commitWhenCalled(t)(compact(_))
      val error = messages(intercept[Exception](sql(statement(t, s"_file = '$file' AND _pos = $position"))))
      assert(commits() == 1 && error.contains("Run the statement again"), mode)
      assert(count(t, "id = 3 AND n = 3") == 1 && operations(t) == Seq("append", "replace"), mode)
    }
  }

  test("a statement on a branch runs again with the options of its first run, and changes only the branch") {
    val t = filled(2, "merge-on-read")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val commits = commitWhenCalled(t)(compact(_, SnapshotTarget.Branch("b")))
    sql(
      s"UPDATE $t WITH ('branch' = 'b', 'snapshot-property.job' = 'nightly', 'application-id' = 'a', " +
        "'application-version' = 7) SET n = commit_and_return(id % 1 + 100) WHERE n = 3"
    )
    assert(commits() == 1 && count(s"$t.branch_b", "n = 100") == 100 && count(t, "n = 100") == 0)
    assert(rows(s"SELECT summary['job'] FROM $t.snapshots WHERE summary['job'] IS NOT NULL").size == 1)
    assertNoOrphans(t)
  }

  /** Returns the operations of the snapshots, oldest first. */
  private def operations(t: String): Seq[String] =
    live(t).refresh().metadata.snapshots.sortBy(_.sequenceNumber).flatMap(_.operation)

  /** Checks that each data and delete file in the table's directory belongs to a snapshot. */
  private def assertNoOrphans(t: String): Unit = {
    val listed = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0).split('/').last).toSet
    eventually(timeout(10.seconds)) {
      assert(filesOf(t).filter(_.getParent.endsWith("data")).map(_.getFileName.toString) == listed)
    }
    ()
  }
}

object RerunAfterRewriteSuite {

  /**
   * A statement whose first run is interrupted by a commit.
   *
   * @param sql returns the statement for a table
   * @param expected a query that returns the rows of the table after the statement
   */
  final private case class Statement(name: String, sql: String => String, expected: String) {
    def operation(mode: String): String =
      if (name == "DELETE" && mode == "merge-on-read") "delete" else "overwrite"
  }

  private val statements = Seq(
    Statement(
      "DELETE",
      t => s"DELETE FROM $t WHERE CASE WHEN id = 3 THEN commit_and_return(n) = 3 ELSE n = 3 END",
      "SELECT id, id % 10 AS n FROM range(1000) WHERE id % 10 <> 3"
    ),
    Statement(
      "UPDATE",
      t => s"UPDATE $t SET n = commit_and_return(id % 1 + 100) WHERE n = 3",
      "SELECT id, IF(id % 10 = 3, 100, id % 10) AS n FROM range(1000)"
    ),
    Statement(
      "MERGE",
      t =>
        s"MERGE INTO $t t USING (SELECT id, commit_and_return(id) AS n FROM range(990, 1010)) s ON t.id = s.id " +
          "WHEN MATCHED THEN UPDATE SET n = -s.n WHEN NOT MATCHED THEN INSERT *",
      "SELECT id, CASE WHEN id >= 1000 THEN id WHEN id >= 990 THEN -id ELSE id % 10 END AS n FROM range(1010)"
    )
  )
}
