package iceberglite.spark.sql

import org.scalatest.funsuite.AnyFunSuite

/** The part of row-changing statements that is parsed before Spark's parser. */
class RowStatementSuite extends AnyFunSuite {

  private def begin(sql: String): Option[RowStatement] = RowStatement.begin(new SqlReader(sql))

  /** Returns the statement for Spark, without the blanks that replace the options. */
  private def plain(sql: String): String = {
    val text = begin(sql).get.plainText(sql)
    assert(text.length == sql.length)
    text.replaceAll("\\s+", " ").trim
  }

  test("the table and its options are parsed, with an alias in any position") {
    val with_ = "WITH ('a' = 'b', c.d 1)"
    Seq(
      s"DELETE FROM x.t $with_ AS a WHERE true" -> "DELETE FROM x.t AS a WHERE true",
      s"DELETE FROM x.t a $with_" -> "DELETE FROM x.t a",
      s"update x.t as `WITH` $with_ SET n = 1" -> "update x.t as `WITH` SET n = 1",
      s"MERGE INTO x.`t` $with_ USING s ON true" -> "MERGE INTO x.`t` USING s ON true",
      s"MERGE WITH SCHEMA EVOLUTION INTO x.t $with_ t USING s" -> "MERGE INTO x.t t USING s",
      s"INSERT INTO x.t $with_ WITH q AS (SELECT 1) TABLE q" -> "INSERT INTO x.t WITH q AS (SELECT 1) TABLE q",
      s"INSERT OVERWRITE TABLE x.t $with_ VALUES (1)" -> "INSERT OVERWRITE TABLE x.t VALUES (1)",
      s"EXPLAIN FORMATTED DELETE FROM x.t $with_" -> "EXPLAIN FORMATTED DELETE FROM x.t",
      s"WITH q (c) AS (SELECT ')'), r (TABLE q) DELETE FROM x.t $with_" ->
        "WITH q (c) AS (SELECT ')'), r (TABLE q) DELETE FROM x.t"
    ).foreach { case (sql, expected) =>
      val found = begin(sql).get
      assert(found.table == Vector("x", "t") && found.options.values == Map("a" -> "b", "c.d" -> "1"), sql)
      assert(found.evolves == sql.contains("EVOLUTION") && plain(sql) == expected)
    }
  }

  test("statements without options are unchanged, and other statements are not recognized") {
    val plain = Seq("DELETE FROM t", "UPDATE t SET n = 'WITH (''a'' = 1)'", "MERGE INTO t -- WITH ('a' = 1)\n USING s")
    plain.foreach { sql =>
      val found = begin(sql).get
      assert(found.table == Vector("t") && found.options.isEmpty && found.plainText(sql) == sql)
    }
    val queries = Seq("SELECT 1", "WITH", "WITH q AS (SELECT 1", "WITH q AS (TABLE t) SELECT 1")
    (queries ++ Seq("", "EXPLAIN", "MERGE", "DELETE t")).foreach(sql => assert(begin(sql).isEmpty, sql))
  }

  test("text in options is parsed like Spark's strings") {
    val found = begin("DELETE FROM t WITH ('a' = 'x\\ty \\u0041', \"b\" = \"it's\", Key = TRUE)").get
    assert(found.options.values == Map("a" -> "x\ty A", "b" -> "it's", "Key" -> "TRUE"))
  }
}
