package iceberglite.spark

import java.util.UUID

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.functions.col
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.error.Causes
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.CommitConflict
import iceberglite.table.action.UpdateProperties

/** Checks writes of DataFrames through the Scala API, and the row counts that they return. */
class TableWriteCallsSuite extends AnyFunSuite with StatementFixture {

  private def tableOf(name: String): IcebergTable = IcebergTable.forName(spark, name)

  /** Creates a table with the rows 1 and 2 in the partition `a`, and the rows 3 and 4 in the partition `b`. */
  private def items(): String = {
    val name = newTable()
    sql(s"CREATE TABLE $name (id BIGINT NOT NULL, p STRING, n INT) USING iceberg PARTITIONED BY (p) " +
      s"TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
    sql(s"ALTER TABLE $name SET IDENTIFIER FIELDS id")
    val changes = tableOf(name).append(sql("SELECT * FROM VALUES (1L, 'a', 10), (2L, 'a', 20), (3L, 'b', 30), " +
      "(4L, 'b', 40) AS t(id, p, n)"))
    assert(counts(changes) == ((Some(4), Some(0))))
    name
  }

  private def counts(changes: WrittenRows): (Option[Long], Option[Long]) = (changes.inserted, changes.deleted)

  /** Returns the rows of the table, after checking that Apache Iceberg reads the same rows. */
  private def read(name: String): Seq[String] = {
    val result = sorted(s"SELECT * FROM $name")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(name)}") == result)
    result
  }

  test("an append matches columns by name, passes its options, and returns the number of rows") {
    val name = items()
    val changes = tableOf(name).option("snapshot-property.job", "nightly")
      .append(sql("SELECT 50 AS n, 'c' AS p, 5L AS id"))
    assert(counts(changes) == ((Some(1), Some(0))))
    val snapshot = live(name).currentSnapshot.get
    assert(changes.snapshotId.contains(snapshot.snapshotId) && snapshot.summary("job") == "nightly")
    assert(read(name) == Seq("[1,a,10]", "[2,a,20]", "[3,b,30]", "[4,b,40]", "[5,c,50]"))
    val error = intercept[AnalysisException](tableOf(name).append(sql("SELECT 6L AS id, 'c' AS p, 1 AS unknown")))
    assert(messages(error).contains("`n`"))
  }

  test("overwrites return the numbers of new and removed rows", Slow) {
    val name = items()
    val t = tableOf(name)
    assert(t.delete("id = 3").deleted.contains(1))
    assert(counts(t.overwritePartitions(sql("SELECT 9L AS id, 'b' AS p, 90 AS n"))) == ((Some(1), Some(1))))
    assert(read(name) == Seq("[1,a,10]", "[2,a,20]", "[9,b,90]"))
    assert(counts(t.overwrite(sql("SELECT 1L AS id, 'z' AS p, 1 AS n"))) == ((Some(1), Some(3))))
    assert(read(name) == Seq("[1,z,1]"))
  }

  test("replaceWhere replaces the rows that satisfy a condition, given as a Column or as SQL text", Slow) {
    val name = items()
    val t = tableOf(name)
    assert(counts(t.replaceWhere(sql("SELECT 8L AS id, 'a' AS p, 80 AS n"), "p = 'a'")) == ((None, None)))
    assert(counts(t.replaceWhere(sql("SELECT 3L AS id, 'b' AS p, 31 AS n"), col("id") === 3)) == ((None, None)))
    assert(counts(t.replaceWhere(sql("SELECT 7L AS id, 'n' AS p, 70 AS n"), col("p") === "n")) == ((Some(1), Some(0))))
    assert(read(name) == Seq("[3,b,31]", "[4,b,40]", "[7,n,70]", "[8,a,80]"))
    val error = intercept[Exception](t.replaceWhere(sql("SELECT 8L AS id, 'a' AS p, 80 AS n"), "nowhere = 1"))
    assert(messages(error).contains("nowhere") && read(name).size == 4)
  }

  test("an upsert replaces rows by the identifier fields or by the given keys") {
    val name = items()
    val t = tableOf(name)
    assert(counts(t.upsert(sql("SELECT 2L AS id, 'a' AS p, 21 AS n UNION ALL SELECT 5L, 'b', 50"))) == ((
      Some(2),
      None
    )))
    assert(counts(t.upsert(sql("SELECT 5L AS id, 'b' AS p, 51 AS n"), Seq("id", "p"))) == ((Some(1), None)))
    assert(read(name) == Seq("[1,a,10]", "[2,a,21]", "[3,b,30]", "[4,b,40]", "[5,b,51]"))
    // The files that are removed have an unknown number of live rows.
    assert(counts(t.overwrite(sql("SELECT 1L AS id, 'z' AS p, 1 AS n"))) == ((Some(1), None)))
    Seq(Nil, Seq("id,p"), Seq(" ")).foreach { keys =>
      val error = intercept[AnalysisException](t.upsert(sql("SELECT 5L AS id, 'b' AS p, 52 AS n"), keys))
      assert(error.getErrorClass == "INVALID_PARAMETER_VALUE" && messages(error).contains("without commas"))
    }
    assert(read(name) == Seq("[1,z,1]"))
  }

  test("an append and an upsert run again after a conflict as often as the table's retries allow", Slow) {
    val name = items()
    sql(s"ALTER TABLE $name SET TBLPROPERTIES ('commit.retry.num-retries' = '0')")
    def conflicts(times: Int) = commitWhenCalled(name, times) { table =>
      table.transaction().add(new UpdateProperties(Map("changed" -> UUID.randomUUID().toString))).commit()
      ()
    }
    def rows = sql("SELECT commit_and_return(id) AS id, 'c' AS p, 1 AS n FROM range(5, 6, 1, 1)")
    Seq[IcebergTable => WrittenRows](_.append(rows), _.upsert(rows), _.overwritePartitions(rows)).foreach { write =>
      conflicts(1)
      val error = intercept[Exception](write(tableOf(name)))
      assert(Causes.of(error).exists(_.isInstanceOf[CommitConflict]))
      val commits = conflicts(2)
      assert(write(tableOf(name).retries(2)).inserted.contains(1) && commits() == 2)
      sql(s"DELETE FROM $name WHERE p = 'c'")
    }
    assert(read(name).size == 4)
    val error = intercept[AnalysisException](tableOf(name).retries(-1).append(sql("SELECT 5L AS id, 'c' AS p, 1 AS n")))
    assert(error.getErrorClass == "INVALID_PARAMETER_VALUE" && messages(error).contains("statement-retries"))
  }

  test("writes go to the branch that the table name or an option selects") {
    val name = items()
    sql(s"ALTER TABLE $name CREATE BRANCH b")
    val onBranch = tableOf(s"$name.branch_b").append(sql("SELECT 5L AS id, 'b' AS p, 50 AS n"))
    assert(
      counts(onBranch) == ((Some(1), Some(0))) && onBranch.snapshotId != live(name).currentSnapshot.map(_.snapshotId)
    )
    assert(count(name) == 4 && count(s"$name.branch_b") == 5)
    val byOption = tableOf(name).option("branch", "b").overwrite(sql("SELECT 5L AS id, 'b' AS p, 50 AS n"))
    assert(counts(byOption) == ((Some(1), Some(5))) && count(name) == 4 && count(s"$name.branch_b") == 1)
  }

  test("a DataFrame of another session can be appended, and the number of its rows is returned", Slow) {
    val name = items()
    val other = spark.newSession()
    val changes = tableOf(name).append(other.sql("SELECT 5L AS id, 'b' AS p, 50 AS n"))
    assert(counts(changes) == ((Some(1), Some(0))) && count(name) == 5)
  }
}
