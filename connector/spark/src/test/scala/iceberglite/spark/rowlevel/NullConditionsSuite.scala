package iceberglite.spark.rowlevel

import org.apache.spark.sql.functions.{expr, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.IcebergTable

/** Checks that statements update and delete no rows if their condition is null or false for every row. */
class NullConditionsSuite extends AnyFunSuite with StatementFixture {

  private val modes = Seq("copy-on-write", "merge-on-read")

  private val conditions = Seq(
    "null",
    "NOT null",
    "null AND id = 1",
    "id = 1 AND null",
    "null OR null",
    "null OR id > 100",
    "NOT (null OR id > 100)",
    "cast(null AS BOOLEAN)",
    "id = null",
    "id IN (null)",
    "null AND EXISTS (SELECT 1)",
    "null OR id IN (SELECT id + 100 FROM range(3))",
    "if(id > 100, true, null)"
  )

  private def withTables(body: String => Unit): Unit = modes.foreach { mode =>
    val t = create("id BIGINT, s STRING", 2, mode)
    sql(s"INSERT INTO $t SELECT id, 'x' FROM range(3)")
    body(t)
  }

  private def checkUnchanged(table: String, clue: String): Unit = {
    assert(sorted(s"SELECT * FROM $table") == Seq("[0,x]", "[1,x]", "[2,x]"), clue)
    ()
  }

  test("a DELETE whose condition is null or false for every row deletes nothing", Slow) {
    withTables { t =>
      conditions.foreach { condition =>
        sql(s"DELETE FROM $t WHERE $condition")
        checkUnchanged(t, condition)
      }
    }
  }

  test("an UPDATE whose condition is null or false for every row changes nothing", Slow) {
    withTables { t =>
      conditions.foreach { condition =>
        sql(s"UPDATE $t SET s = 'y' WHERE $condition")
        checkUnchanged(t, condition)
      }
    }
  }

  test("a MERGE clause with a condition that is null or false applies to no row, and ON null matches no row", Slow) {
    withTables { t =>
      val source = "(SELECT id, 'z' AS s FROM range(2)) s"
      Seq("null", "null AND id = 1", "cast(null AS BOOLEAN)").map(_.replaceAll("\\bid\\b", "t.id")).foreach {
        condition =>
          sql(s"MERGE INTO $t t USING $source ON t.id = s.id WHEN MATCHED AND $condition THEN DELETE")
          sql(s"MERGE INTO $t t USING $source ON t.id = s.id WHEN MATCHED AND $condition THEN UPDATE SET s = 'y'")
          sql(s"MERGE INTO $t t USING $source ON $condition WHEN MATCHED THEN DELETE")
          sql(s"MERGE INTO $t t USING $source ON t.id = s.id WHEN NOT MATCHED BY SOURCE AND $condition THEN DELETE")
          sql(s"MERGE INTO $t t USING $source ON t.id = s.id WHEN NOT MATCHED AND null THEN INSERT *")
          checkUnchanged(t, condition)
      }
      sql(
        s"MERGE INTO $t t USING $source ON null WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (9)"
      )
      assert(rows(s"SELECT count(*), count_if(id = 9) FROM $t").map(_.toString) == Seq("[5,2]"))
    }
  }

  test("the Scala API and an overwrite with a null condition change nothing") {
    withTables { t =>
      IcebergTable.forName(spark, t).delete("null")
      IcebergTable.forName(spark, t).update("null", Map("s" -> lit("y")))
      checkUnchanged(t, "IcebergTable")
      spark.range(0).selectExpr("id", "'y' AS s").writeTo(t).overwrite(expr("null"))
      checkUnchanged(t, "overwrite")
    }
  }
}
