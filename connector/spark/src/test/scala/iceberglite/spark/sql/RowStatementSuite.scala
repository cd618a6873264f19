package iceberglite.spark.sql

import org.scalatest.funsuite.AnyFunSuite

/** Checks the part of row-changing statements that iceberg-lite parses before Spark's parser. */
class RowStatementSuite extends AnyFunSuite {

  private def begin(sql: String): Option[RowStatement] = RowStatement.begin(new SqlReader(sql))

  /** Returns the statement without its options, as Spark's parser gets it, with single blanks. */
  private def textForSpark(sql: String): String = {
    val text = begin(sql).get.plainText(sql)
    assert(text.length == sql.length)
    text.replaceAll("\\s+", " ").trim
  }

  test("the table and its options are parsed, with an alias before or after the options") {
    val options = "WITH ('a' = 'b', c.d 1)"
    Seq(
      s"DELETE FROM x.t $options AS a WHERE true" -> "DELETE FROM x.t AS a WHERE true",
      s"DELETE FROM x.t a $options" -> "DELETE FROM x.t a",
      s"update x.t as `WITH` $options SET n = 1" -> "update x.t as `WITH` SET n = 1",
      s"MERGE INTO x.`t` $options USING s ON true" -> "MERGE INTO x.`t` USING s ON true",
      s"MERGE WITH SCHEMA EVOLUTION INTO x.t $options t USING s" -> "MERGE INTO x.t t USING s",
      s"INSERT INTO x.t $options WITH q AS (SELECT 1) TABLE q" -> "INSERT INTO x.t WITH q AS (SELECT 1) TABLE q",
      s"INSERT OVERWRITE TABLE x.t $options VALUES (1)" -> "INSERT OVERWRITE TABLE x.t VALUES (1)",
      s"EXPLAIN FORMATTED DELETE FROM x.t $options" -> "EXPLAIN FORMATTED DELETE FROM x.t",
      s"WITH q (c) AS (SELECT ')'), r (TABLE q) DELETE FROM x.t $options" ->
        "WITH q (c) AS (SELECT ')'), r (TABLE q) DELETE FROM x.t"
    ).foreach { case (sql, expected) =>
      val statement = begin(sql).get
      assert(statement.table == Vector("x", "t") && statement.options.values == Map("a" -> "b", "c.d" -> "1"), sql)
      assert(statement.evolves == sql.contains("EVOLUTION") && textForSpark(sql) == expected)
    }
  }

  test("statements without options are unchanged, and other statements are not recognized") {
    val withoutOptions =
      Seq("DELETE FROM t", "UPDATE t SET n = 'WITH (''a'' = 1)'", "MERGE INTO t -- WITH ('a' = 1)\n USING s")
    withoutOptions.foreach { sql =>
      val statement = begin(sql).get
      assert(statement.table == Vector("t") && statement.options.isEmpty && statement.plainText(sql) == sql)
    }
    val queries = Seq("SELECT 1", "WITH", "WITH q AS (SELECT 1", "WITH q AS (TABLE t) SELECT 1")
    (queries ++ Seq("", "EXPLAIN", "MERGE", "DELETE t")).foreach(sql => assert(begin(sql).isEmpty, sql))
  }

  test("string values of options are parsed as Spark parses strings") {
    val statement = begin("DELETE FROM t WITH ('a' = 'x\\ty \\u0041', \"b\" = \"it's\", Key = TRUE)").get
    assert(statement.options.values == Map("a" -> "x\ty A", "b" -> "it's", "Key" -> "TRUE"))
  }
}
