package iceberglite.spark.write

import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.rowlevel.StatementFixture

/** Checks overwrites by a condition that matches only some rows of a file. */
class RewritePartialOverwriteSuite extends AnyFunSuite with StatementFixture {
  private def partitioned(version: Int, properties: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL, p INT, n STRING) USING iceberg PARTITIONED BY (p) " +
      s"TBLPROPERTIES ('format-version' = '$version'$properties)")
    sql(s"INSERT INTO $t SELECT id, CAST(id % 3 AS INT), IF(id % 5 = 0, NULL, concat('n', id)) FROM range(0, 60, 1, 1)")
    t
  }

  private def newRows(ids: Long*): DataFrame =
    spark.createDataset(ids)(org.apache.spark.sql.Encoders.scalaLong).selectExpr("value AS id", "1 AS p", "'new' AS n")

  private def ids(t: String, where: String = "true"): Seq[Long] =
    rows(s"SELECT id FROM $t WHERE $where ORDER BY id").map(_.getLong(0))

  for (version <- 1 to 3)
    test(
      s"an overwrite replaces only the rows that match its condition, version $version",
      Sampling.slowInSomeRunsUnless(version == 2): _*
    ) {
      val t = partitioned(version)
      val filesBefore = rows(s"SELECT count(*) FROM $t.files").head.getLong(0)
      newRows(100, 101).writeTo(t).overwrite(col("id") >= 10 && col("p") === 0)
      val expected = (0L until 60L).filterNot(i => i >= 10 && i % 3 == 0) ++ Seq(100L, 101L)
      assert(ids(t) == expected && ids(inApacheIceberg(t)) == expected)
      assert(rows(s"SELECT count(*) FROM $t.files").head.getLong(0) <= filesBefore + 1)
      assert(summaryOf(t)("operation") == "overwrite")
      // Rows for which the condition is null are not replaced.
      newRows(200).writeTo(t).overwrite(col("n").startsWith("n4") || col("n") === lit("new"))
      val remainingIds = expected.filterNot(i => i > 99 || i % 5 != 0 && i.toString.startsWith("4")) :+ 200L
      assert(ids(t) == remainingIds && ids(inApacheIceberg(t)) == remainingIds)
    }

  test("rows that do not match the condition keep their row ids", Slow) {
    val t = partitioned(3)
    def lineage =
      rows(s"SELECT id, _row_id, _last_updated_sequence_number FROM $t WHERE n <> 'new' OR n IS NULL ORDER BY id")
    val lineageBefore = lineage.filter(_.getLong(0) % 2 == 0)
    newRows(100).writeTo(t).overwrite(expr("id % 2 = 1"))
    assert(lineage == lineageBefore)
    assert(rows(s"SELECT _row_id FROM $t WHERE id = 100").head.getLong(0) >= 60)
  }

  private def expr(text: String) = org.apache.spark.sql.functions.expr(text)

  test("an overwrite whose condition matches all rows of some files removes these files and rewrites no rows", Slow) {
    val t = partitioned(2)
    newRows(100).writeTo(t).overwrite(col("p") === 1)
    assert(summaryOf(t)("deleted-data-files") == "1" && summaryOf(t)("added-records") == "1")
    sql(s"INSERT OVERWRITE $t PARTITION (p = 2) VALUES (300, 'x')")
    assert(summaryOf(t)("deleted-data-files") == "1" && summaryOf(t)("added-records") == "1")
    assert(ids(t, "p > 0") == Seq(100L, 300L) && ids(t, "p = 0").size == 20)
  }

  test("new rows are written if whole files, some rows or no rows match the condition", Slow) {
    val t = partitioned(2)
    // Spark cannot push this condition down. It is true for all rows of one file, and for no rows of the other files.
    newRows(100).writeTo(t).overwrite(expr("abs(p) = 1"))
    newRows(101).writeTo(t).overwrite(expr("n = 'nobody'"))
    newRows(102).writeTo(t).overwrite(expr("id < 0"))
    newRows(103).writeTo(t).overwrite(expr("1 = 2"))
    assert(ids(t) == (0L until 60L).filter(_ % 3 != 1) ++ (101L to 103L).toList.+:(100L))
    newRows(104).writeTo(t).overwrite(expr("id >= 0 OR id < 0"))
    assert(ids(t) == Seq(104L))
    newRows(105).writeTo(t).overwrite(expr("1 = 1"))
    assert(ids(t) == Seq(105L))
  }

  test("an overwrite by condition can read its new rows from the same table, and applies write options", Slow) {
    val t = partitioned(2)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    spark.table(t).where("id < 5").selectExpr("id + 1000 AS id", "p", "n").writeTo(t).option("branch", "b")
      .option("snapshot-property.why", "moved").overwrite(col("id") < 5)
    assert(ids(t).size == 60)
    assert(ids(s"$t.branch_b") == (5L until 60L) ++ (1000L until 1005L))
    assert(rows(s"SELECT * FROM $t.snapshots WHERE summary['why'] = 'moved'").size == 1)
  }

  test("a condition that Spark simplifies to true replaces all rows") {
    val t = partitioned(3)
    newRows(100).writeTo(t).overwrite(expr("id = id"))
    assert(ids(t) == Seq(100L) && ids(inApacheIceberg(t)) == Seq(100L))
  }

  test("INSERT INTO ... REPLACE WHERE applies the options of the statement, and rejects upsert-keys", Slow) {
    val t = partitioned(2)
    val options = "WITH ('application-id' = 'a', 'application-version' = '1', 'snapshot-property.k' = 'v')"
    def replace() = sql(s"INSERT INTO $t $options REPLACE WHERE id < 30 SELECT 500L, 1, 'new'")
    replace()
    assertUnchanged(t)(replace())
    assert(ids(t) == (30L until 60L) :+ 500L && summaryOf(t)("k") == "v")
    val error = intercept[Exception](
      sql(s"INSERT INTO $t WITH ('upsert-keys' = 'id') REPLACE WHERE id < 40 SELECT 501L, 1, 'new'")
    )
    assert(messages(error).contains("an upsert into"), messages(error))
  }

  for {
    (change, statement, expectedText) <- Seq(
      ("adds", (t: String) => s"INSERT INTO $t VALUES (5, 2, 'late')", "added"),
      ("removes", (t: String) => s"DELETE FROM $t WHERE p = 2", "removed")
    )
  } test(s"an overwrite by condition fails if a concurrent commit $change matching rows") {
    val t = partitioned(2)
    commitWhenCalled(t)(_ => sql(statement(t)))
    val error = intercept[Exception](
      newRows(7).selectExpr("commit_and_return(id) AS id", "p", "n").writeTo(t).overwrite(col("id") < 9)
    )
    assert(messages(error).contains(expectedText) && messages(error).contains("Run the statement again"))
    val expected = if (change == "adds") (0L until 60L) :+ 5L else (0L until 60L).filter(_ % 3 != 2)
    assert(ids(t) == expected.sorted)
  }

  test("a CHAR value that Apache Iceberg wrote without padding matches the padded value of a condition", Slow) {
    val t = newTable()
    sql(s"CREATE TABLE $t (c CHAR(3), v INT) USING iceberg")
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES ('a', 1), ('b', 1)")
    sql(s"INSERT INTO $t VALUES ('a', 2)")
    sql(s"INSERT INTO $t REPLACE WHERE c = 'a' SELECT 'a', 3")
    assert(sorted(s"SELECT * FROM $t") == Seq("[a  ,3]", "[b  ,1]"))
    sql(s"SELECT 'c', 4").toDF("c", "v").writeTo(t).overwrite(col("c").isin("b", "x"))
    assert(sorted(s"SELECT * FROM $t") == Seq("[a  ,3]", "[c  ,4]"))
  }

  test("an overwrite of a table that accepts any schema accepts values of narrower types") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, v INT) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    sql(s"INSERT INTO $t SELECT id, 0 AS v FROM range(0, 4, 1, 1)")
    sql("SELECT 9 AS id, CAST(1 AS SMALLINT) AS v").writeTo(t).overwrite(col("id") >= 2)
    assert(sorted(s"SELECT * FROM $t") == Seq("[0,0]", "[1,0]", "[9,1]"))
  }
}
