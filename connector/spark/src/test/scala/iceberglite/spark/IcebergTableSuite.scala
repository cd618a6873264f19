package iceberglite.spark

import org.apache.spark.sql.functions.{col, expr, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.rowlevel.StatementFixture

/** Checks DELETE, UPDATE and MERGE through the Scala API, and the row counts that they return. */
class IcebergTableSuite extends AnyFunSuite with StatementFixture {

  private def tableOf(name: String): IcebergTable = IcebergTable.forName(spark, name)

  /** Returns the numbers of inserted, updated and deleted rows, with -1 for an unknown number of deleted rows. */
  private def counts(changes: RowChanges): (Long, Long, Long) =
    (changes.inserted, changes.updated, changes.deleted.getOrElse(-1L))

  for ((version, mode) <- Seq(2 -> "copy-on-write", 3 -> "merge-on-read")) {
    test(
      s"DELETE and UPDATE return the number of changed rows (version $version, $mode)",
      Sampling.slowInSomeRunsUnless(version == 3): _*
    ) {
      val name = filled(version, mode)
      val t = tableOf(name)
      val deleted = t.delete("n = 3 AND id < 500")
      assert(counts(deleted) == ((0, 0, 50)) && deleted.snapshotId == live(name).currentSnapshot.map(_.snapshotId))
      assert(counts(t.update(col("n") === 4, Map("n" -> lit(-1), "id" -> expr("id + 5000")))) == ((0, 100, 0)))
      assert(count(name, "n = -1 AND id >= 5000") == 100 && count(name) == 950)
      assert(t.delete("id = -7") == RowChanges.NoChange)
      assert(t.update("id = -7", Map("n" -> lit(1))) == RowChanges.NoChange)
      assert(counts(t.update(Map("n" -> lit(0)))) == ((0, 950, 0)))
      assert(counts(t.update("id = 1", Map("n" -> "n + id", "id" -> "id"))) == ((0, 1, 0)) && count(name, "n = 1") == 1)
      assert(messages(intercept[Exception](t.delete())).contains("deleteAll()") && count(name) == 950)
      assert(counts(t.deleteAll()) == ((0, 0, 950)) && t.toDF.count() == 0)
    }

    test(
      s"a MERGE with all clauses returns its row counts (version $version, $mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 2): _*
    ) {
      val name = filled(version, mode)
      val source = sql("SELECT id, 50L AS n FROM range(990, 1010)")
      val changes = tableOf(name).merge(source, "target.id = source.id")
        .whenMatchedDelete("target.id = 990")
        .whenMatchedUpdate(col("target.id") === 991, Map("n" -> expr("source.n + target.n")))
        .whenMatchedUpdateAll("source.id < 998")
        .whenNotMatchedInsert("source.id < 1003", Map("id" -> "source.id"))
        .whenNotMatchedInsertAll("source.id < 1005")
        .whenNotMatchedBySourceUpdate("target.id = 1", Map("n" -> lit(77)))
        .whenNotMatchedBySourceDelete("target.id IN (2, 3, 4)")
        .option("snapshot-property.job", "nightly")
        .execute()
      assert(counts(changes) == ((5, 8, 4)))
      assert(summaryOf(name)("job") == "nightly" && count(name) == 1001)
      assert(sorted(s"SELECT * FROM $name WHERE id = 991 OR id = 1 OR id BETWEEN 1000 AND 1004") ==
        Seq("[1,77]", "[1000,null]", "[1001,null]", "[1002,null]", "[1003,50]", "[1004,50]", "[991,51]"))
    }
  }

  test("insert-only MERGE, deletes of whole files and statements on branches return row counts", Slow) {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT, p INT) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $name SELECT id, id % 4 FROM range(0, 100)")
    val source = sql("SELECT id, 9 AS p FROM range(90, 105)")
    val inserts = tableOf(name).merge(source, "target.id = source.id").whenNotMatchedInsertAll()
    assert(counts(inserts.execute()) == ((5, 0, 0)))
    assert(counts(tableOf(name).delete(col("p") === 2)) == ((0, 0, 25)))
    sql(s"ALTER TABLE $name CREATE BRANCH b")
    val onBranch = tableOf(s"$name.branch_b").delete("id = 1")
    assert(counts(onBranch) == ((0, 0, 1)) && count(name) == 80 && count(s"$name.branch_b") == 79)
    assert(counts(tableOf(name).option("branch", "b").delete("id = 3")) == ((0, 0, 1)))
    assert(count(s"$name.branch_b") == 78)
  }

  test("a MERGE with schema evolution sees concurrent commits, retries after a conflict, and adds columns", Slow) {
    val name = filled(2, "copy-on-write")
    val commits = commitWhenCalled(name)(addCopy(_))
    val source = sql("SELECT 3L AS id, 'x' AS data")
    val changes = tableOf(name).merge(source, "target.id = source.id AND target.n = commit_and_return(3)")
      .whenMatchedUpdateAll().withSchemaEvolution().retries(2).execute()
    assert(commits() == 1 && counts(changes) == ((0, 2, 0)) && count(name, "data = 'x'") == 2)
  }

  test("invalid statements are rejected with the reason") {
    val name = filled(2, "copy-on-write")
    def rejection(body: => Any): String = messages(intercept[Exception](body))
    assert(rejection(tableOf(s"lite.$ns.nowhere")).contains("nowhere"))
    assert(
      rejection(tableOf(name).merge(spark.range(1).toDF("id"), "target.id = source.id").execute()).contains("clauses")
    )
    assert(rejection(tableOf(name).option("isolation", "x").delete("id = 1")).contains("DELETE has no such option"))
    assert(rejection(tableOf(name).delete("nowhere = 1")).contains("nowhere"))
    inSession(SharedSession.withoutExtensions) { plain =>
      assert(rejection(IcebergTable.forName(plain, name).delete("id = 1")).contains("spark.sql.extensions"))
    }
    assert(count(name) == 1000)
  }
}
