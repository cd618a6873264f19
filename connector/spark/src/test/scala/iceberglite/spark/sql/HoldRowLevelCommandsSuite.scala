package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.ExplainCommand
import org.apache.spark.sql.iceberglite.Statements
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.rowlevel.StatementFixture

/**
 * Checks the rule that holds the tables of row-level commands, which means that it hides them from Spark's rules during
 * resolution. Only Spark 3.5.0 and 3.5.1 need the rule. `make matrix` runs commands with these releases.
 */
class HoldRowLevelCommandsSuite extends AnyFunSuite with StatementFixture {
  private val hold = new HoldRowLevelCommands(spark, isActive = true)

  private def isHeld(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[HeldTarget])
  private def parsed(statement: String): LogicalPlan = spark.sessionState.sqlParser.parsePlan(statement)

  test("commands are held in the releases that rewrite them during resolution") {
    assert(Seq("3.5.0", "3.5.1", "3.5.1-amzn-1").forall(RewritesDuringResolution.in))
    assert(!Seq("3.5.2", "3.5.9", "3.5.10", "3.50.0", "4.0.0").exists(RewritesDuringResolution.in))
  }

  test("held commands change the same rows as other commands, with aliases, subqueries and metadata columns") {
    val name = filled(3, "copy-on-write")
    sql(s"CREATE OR REPLACE TEMPORARY VIEW held_source AS SELECT id, -5L AS n FROM range(995, 1005)")
    Seq(
      s"UPDATE $name AS t SET n = t.n + 100 WHERE t.id < 5 AND t._file IS NOT NULL",
      s"DELETE FROM $name WHERE id IN (SELECT id FROM range(5, 10))",
      s"MERGE INTO $name t USING held_source s ON t.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ).foreach { statement =>
      val held = hold(parsed(statement))
      assert(isHeld(held) && hold(held) == held)
      Statements.run(spark, held)
    }
    assert(count(name) == 1000 && count(name, "n >= 100") == 5 && count(name, "n = -5") == 10)
    assert(count(name, "id BETWEEN 5 AND 9") == 0 && rows(s"SELECT DISTINCT _row_id FROM $name").size == 1000)
  }

  test("only the tables of row-level commands in iceberg-lite catalogs are held") {
    val name = filled(2, "merge-on-read")
    assert(!isHeld(hold(parsed(s"SELECT * FROM $name"))))
    assert(!isHeld(hold(parsed(s"DELETE FROM ${inApacheIceberg(name)} WHERE id = 1"))))
    assert(!isHeld(new HoldRowLevelCommands(spark, isActive = false)(parsed(s"DELETE FROM $name WHERE id = 1"))))
    hold(parsed(s"EXPLAIN DELETE FROM $name WHERE id = 1")) match {
      case explain: ExplainCommand => assert(isHeld(explain.logicalPlan))
      case other => fail(other.toString)
    }
  }
}
