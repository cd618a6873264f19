package iceberglite.spark.write.upsert

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.rowlevel.StatementFixture

/**
 * Checks that upserts are rejected if their deletes would not apply to all rows with the same keys, or if their options
 * contradict each other.
 */
class UpsertRejectionsSuite extends AnyFunSuite with StatementFixture {

  private def upsert(t: String, select: String, options: (String, String)*): Unit =
    (options :+ ("upsert-keys" -> "k")).foldLeft(sql(select).writeTo(t)) { case (w, (key, v)) => w.option(key, v) }
      .append()

  private def createTable(columns: String, clauses: String = "", properties: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses TBLPROPERTIES ('format-version' = '2'$properties)")
    t
  }

  test("an upsert is rejected if its deletes do not apply to files that are added concurrently with another spec") {
    val t = createTable("k BIGINT, p INT", "PARTITIONED BY (bucket(4, k))")
    sql(s"INSERT INTO $t VALUES (1, 1), (2, 1)")
    // The statements run in a thread with an active session, because the thread of the task has no active session.
    val concurrentWriter = new Thread(() => {
      SparkSession.setActiveSession(spark)
      sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
      sql(s"INSERT INTO $t VALUES (7, 1)")
      ()
    })
    commitWhenCalled(t) { _ =>
      concurrentWriter.start()
      concurrentWriter.join()
    }
    val error = intercept[Exception](upsert(t, "SELECT commit_and_return(7) AS k, 2 AS p"))
    assert(messages(error).contains("to which these deletes do not apply. Run the statement again"))
    upsert(t, "SELECT 7L AS k, 3 AS p")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,1]", "[2,1]", "[7,3]"))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == sorted(s"SELECT * FROM $t"))
  }

  test("if a table accepts any schema, a CHAR key without padding is rejected, and a padded key replaces its row") {
    val t = createTable("k CHAR(3), v INT", properties = ", 'write.spark.accept-any-schema' = 'true'")
    upsert(t, "SELECT 'a  ' AS k, 1 AS v")
    val error =
      intercept[Exception](upsert(t, "SELECT 'a' AS k, 2 AS v, false AS gone", "upsert-delete-column" -> "gone"))
    assert(messages(error).contains("the column is a CHAR(3); write rpad(k, 3, ' ')"))
    upsert(t, "SELECT rpad('a', 3, ' ') AS k, 2 AS v, false AS gone", "upsert-delete-column" -> "gone")
    assert(sorted(s"SELECT * FROM $t") == Seq("[a  ,2]"))
    val otherTable = createTable("k CHAR(3), v INT")
    Seq(1, 2).foreach(v => upsert(otherTable, s"SELECT 'a' AS k, $v AS v"))
    assert(sorted(s"SELECT * FROM $otherTable") == Seq("[a  ,2]"))
  }

  test("a UUID key must be in lower case") {
    val t = inApacheIceberg(newTable())
    val liteTable = t.replaceFirst("^[^.]+", "lite")
    sql(s"CREATE TABLE $liteTable (v INT) USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    val table = org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark, t)
    table.updateSchema().addColumn("k", org.apache.iceberg.types.Types.UUIDType.get).commit()
    sql(s"REFRESH TABLE $liteTable")
    val key = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    Seq(1, 2).foreach(v => upsert(liteTable, s"SELECT $v AS v, '$key' AS k"))
    val error = intercept[Exception](upsert(liteTable, s"SELECT 3 AS v, upper('$key') AS k"))
    assert(messages(error).contains("write UUIDs in lower case, as lower(k)"))
    assert(sorted(s"SELECT * FROM $liteTable") == Seq(s"[2,$key]"))
  }

  test("upsert-keys with upsert=false is rejected") {
    val t = createTable("k INT, v INT")
    val error = intercept[Exception](upsert(t, "SELECT 1 AS k, 1 AS v", "upsert" -> "false"))
    assert(messages(error).contains("upsert-keys applies only to upserts; remove it"))
  }
}
