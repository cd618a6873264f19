package iceberglite.spark.rowlevel

import scala.concurrent.duration._

import org.apache.spark.SparkException
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.expressions.Expressions
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.sql.RetriedStatement
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.{
  CommitConflict,
  CommitStateUnknown,
  ConcurrentChange,
  InvalidArgument,
  ValidationFailed
}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.action.DeleteFiles

/** Checks that statements that conflict with a concurrent commit are retried. */
class StatementRetrySuite extends AnyFunSuite with StatementFixture {

  for (mode <- Seq("copy-on-write", "merge-on-read")) {
    test(
      s"an UPDATE fails without retries, and with retries also updates concurrently added rows ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = filled(2, mode)
      commitWhenCalled(t)(addCopy(_))
      val statement = "SET n = commit_and_return(id % 1 + 100) WHERE n = 3"
      val error = intercept[Exception](sql(s"UPDATE $t $statement"))
      assert(messages(error).contains("Run the statement again"))
      val commits = commitWhenCalled(t)(addCopy(_))
      sql(s"UPDATE $t WITH ('statement-retries' = 2, 'snapshot-property.n' = 'once') $statement")
      assert(commits() == 1 && count(t) == 2000 && count(t, "n = 3") == 0 && count(t, "n = 100") == 200)
      assert(summaryOf(t)("n") == "once" && count(s"$t.snapshots") == 4)
      assertNoOrphans(t)
    }

    test(
      s"a statement that always conflicts fails after the given number of retries ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "copy-on-write"): _*
    ) {
      val t = filled(2, mode)
      val commits = commitWhenCalled(t, times = 1000)(addCopy(_))
      withConf("spark.sql.iceberg-lite.statement-retries" -> "1") {
        val error = intercept[Exception] {
          sql(s"DELETE FROM $t WHERE CASE WHEN id = 3 THEN commit_and_return(n) = 3 ELSE n = 3 END")
        }
        assert(messages(error).contains("isolation level serializable"))
      }
      assert(commits() > 1 && count(t) == 1000 + 500 * commits())
      assertNoOrphans(t)
    }

    test(
      s"a retried MERGE has the same common table expressions and parameters ($mode)",
      Sampling.slowInSomeRunsUnless(mode == "merge-on-read"): _*
    ) {
      val t = filled(2, mode)
      val commits = commitWhenCalled(t)(table => table.transaction().add(new DeleteFiles(AlwaysTrue)).commit())
      spark.sql(
        s"WITH s AS (SELECT id, commit_and_return(id) AS n FROM range(0, 10)) " +
          s"MERGE INTO $t WITH ('statement-retries' = 3) t USING s ON t.id = s.id AND s.id > :least " +
          "WHEN MATCHED THEN UPDATE SET n = -1 WHEN NOT MATCHED THEN INSERT *",
        Map("least" -> 4)
      )
      assert(commits() == 1)
      // The concurrent commit deleted all rows, so no row matched in the second attempt.
      assert(sorted(s"SELECT id, n FROM $t") == (0 until 10).map(i => s"[$i,$i]").sorted)
    }
  }

  test("a DELETE of whole files conflicts with a concurrently added file that has rows to keep, and can be repeated") {
    val t = create("id BIGINT, n BIGINT", 2, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id, 0 FROM range(0, 10, 1, 1)")
    val loadedTable = loaded(t)
    // Apache Iceberg does not notify iceberg-lite of this commit, so iceberg-lite's loaded table does not contain it.
    spark.range(0, 20, 1, 1).selectExpr("id", "id AS n").writeTo(inApacheIceberg(t)).append()
    val condition = new Predicate("<", Array(Expressions.column("id"), Expressions.literal(10L)))
    assert(loadedTable.canDeleteWhere(Array(condition)))
    val error = intercept[Exception](loadedTable.deleteWhere(Array(condition)))
    assert(RetriedStatement.isConflict(error) && messages(error).contains("may also have rows that do not match"))
    sql(s"REFRESH TABLE $t")
    sql(s"DELETE FROM $t WITH ('statement-retries' = 1) WHERE id < 10")
    assert(count(t) == 10 && count(t, "id < 10") == 0)
  }

  private def loaded(t: String): SparkTable = {
    val Array(catalog, namespace, name) = t.split('.')
    spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[LiteCatalog]
      .loadTable(Identifier.of(Array(namespace), name)).asInstanceOf[SparkTable]
  }

  test("a statement that fails for a reason other than a conflict is not retried") {
    val t = filled(2, "copy-on-write")
    spark.udf.register(
      "fails",
      (n: Long) => {
        StatementRetrySuite.calls.incrementAndGet()
        if (n >= 0) throw new IllegalStateException("no more") else n
      }
    )
    val callsBefore = StatementRetrySuite.calls.get
    val error = intercept[Exception] {
      sql(s"UPDATE $t WITH ('statement-retries' = 5) SET n = fails(n) WHERE id = 7")
    }
    assert(messages(error).contains("no more") && StatementRetrySuite.calls.get == callsBefore + 1)
  }

  test("errors because of concurrent commits cause a retry; an unknown commit state does not") {
    def isConflict(error: Throwable): Boolean = RetriedStatement.isConflict(new SparkException("failed", error))
    assert(isConflict(CommitConflict("t", "r")) && isConflict(ConcurrentChange("m")))
    assert(!isConflict(ValidationFailed("m")) && !isConflict(InvalidArgument("a", "b", "c")))
    val unknown = CommitStateUnknown("t", Some("f"), "r", Some(CommitConflict("t", "r")))
    assert(!isConflict(unknown))
  }

  test("in a session with retries, EXPLAIN, INSERT and statements on other relations work as without retries") {
    val t = filled(2, "copy-on-write")
    withConf("spark.sql.iceberg-lite.statement-retries" -> "2") {
      assert(rows(s"EXPLAIN DELETE FROM $t WHERE id = 3").head.getString(0).contains("ReplaceData"))
      sql(s"INSERT INTO $t VALUES (-1, -1)")
      assert(sql(s"DELETE FROM $t WHERE id = 3").collect().isEmpty && count(t) == 1000)
      sql("CREATE TEMPORARY VIEW of_others AS SELECT 1 AS id")
      val error = intercept[Exception](sql("DELETE FROM of_others WHERE id = 1"))
      assert(!messages(error).contains("RetriedStatement"))
      sql("DROP VIEW of_others")
    }
  }

  /** Checks that the files of failed attempts are deleted, including those of attempts whose tasks Spark killed. */
  private def assertNoOrphans(t: String): Unit = {
    val listed =
      rows(s"SELECT file_path FROM ${inApacheIceberg(t)}.all_files").map(_.getString(0).split('/').last).toSet
    eventually(timeout(10.seconds))(assert(dataFilesOf(t).map(_.getFileName.toString) == listed))
    ()
  }
}

object StatementRetrySuite {
  private val calls = new java.util.concurrent.atomic.AtomicInteger
}
