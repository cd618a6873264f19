package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.convert.PartitionTerm.{Column, Number}

/** Checks how statements of the extensions are split into tokens and parsed. */
class SqlReaderSuite extends AnyFunSuite {

  private def parsed(sql: String): Any = {
    val reader = new SqlReader(sql)
    AlterTableStatement.begin(reader).map { case (table, statement) =>
      val plan = statement.parse(table, reader)
      reader.end()
      plan
    }
  }

  private def error(sql: String): ParseException = intercept[ParseException](parsed(sql))

  test("keywords are case-insensitive, and comments and line breaks are ignored") {
    val sql = "alter /* a /* nested */ one */ table\n  a.`b.c`.d -- rest of the line\n Add PARTITION\tfield days(ts)"
    val term = ParsedTerm(Vector("days"), Some(Seq(Column(Vector("ts")))))
    assert(parsed(sql) == Some(AddPartitionField(Seq("a", "b.c", "d"), term, None)))
  }

  test("names in backticks can contain dots, blanks and backticks, and can be keywords") {
    val term = ParsedTerm(Vector("a.b", "c`d"), None)
    assert(parsed("ALTER TABLE t ADD PARTITION FIELD `a.b`.`c``d` AS `AS`;") ==
      Some(AddPartitionField(Seq("t"), term, Some("AS"))))
  }

  test("a transform accepts its number before or after the column") {
    Seq(
      "bucket(16, id)" -> Seq(Number(16), Column(Vector("id"))),
      "truncate(s.a, 4)" -> Seq(Column(Vector("s", "a")), Number(4))
    ).foreach { case (text, arguments) =>
      val name = text.takeWhile(_ != '(')
      assert(parsed(s"ALTER TABLE t DROP PARTITION FIELD $text") ==
        Some(DropPartitionField(Seq("t"), ParsedTerm(Vector(name), Some(arguments)))))
    }
  }

  test("REPLACE PARTITION FIELD is parsed with the old field, the new field and an optional name") {
    val shard = ParsedTerm(Vector("shard"), None)
    val days = ParsedTerm(Vector("days"), Some(Seq(Column(Vector("ts")))))
    assert(parsed("ALTER TABLE t REPLACE PARTITION FIELD shard WITH days(ts) AS day") ==
      Some(ReplacePartitionField(Seq("t"), shard, days, Some("day"))))
  }

  test("statements that are similar to the statements of the extensions are not recognized") {
    Seq(
      "ALTER TABLE t ADD PARTITION (p = 1)",
      "ALTER TABLE t DROP PARTITION (field = 1)",
      "ALTER TABLE t ADD COLUMN partition INT",
      "ALTER VIEW t ADD PARTITION FIELD x",
      "SELECT 'ALTER TABLE t ADD PARTITION FIELD x'",
      "-- ALTER TABLE t ADD PARTITION FIELD x\nSELECT 1",
      "ALTER TABLE 'quoted' ADD PARTITION FIELD x",
      "ALTER TABLE",
      "`unclosed",
      ""
    ).foreach(sql => assert(parsed(sql) == None, sql))
  }

  test("a syntax error has the position of the invalid word") {
    val e = error("ALTER TABLE t\n  ADD PARTITION FIELD days ts")
    assert(e.getMessage.contains("Syntax error at or near 'ts': expected the end of the statement"))
    assert((e.line, e.startPosition) == ((Some(2), Some(27))))
    assert(e.getMessage.contains("---------------------------^^^"))
  }

  test("the message of a syntax error says what is wrong, or what was expected") {
    Seq(
      "ALTER TABLE t ADD PARTITION FIELD" -> "near end of input: expected a column or a transform",
      "ALTER TABLE t ADD PARTITION FIELD bucket(" -> "expected a column or a number",
      "ALTER TABLE t ADD PARTITION FIELD bucket(1, id" -> "expected ')'",
      "ALTER TABLE t ADD PARTITION FIELD days(ts) AS" -> "expected a name for the partition field",
      "ALTER TABLE t ADD PARTITION FIELD bucket(99999999999, id)" -> "the number is too large",
      "ALTER TABLE t REPLACE PARTITION FIELD a BY b" -> "near 'BY': expected WITH",
      "ALTER TABLE t ADD PARTITION FIELD 'text'" -> "near ''text'': expected a column or a transform",
      "ALTER TABLE t ADD PARTITION FIELD `open" -> "near '`': expected a column or a transform",
      "ALTER TABLE t ADD PARTITION FIELD größe" -> "near 'ö'"
    ).foreach { case (sql, message) => assert(error(sql).getMessage.contains(message), sql) }
  }

  private def tokens(sql: String): Vector[SqlToken] = {
    val reader = new SqlReader(sql)
    Iterator.continually(reader.take()).takeWhile(_.kind != SqlToken.End).toVector
  }

  test("strings with escapes, raw strings and strings in double quotes are read as in Spark") {
    val sql = """'a\tb' 'it\'s' "it's" r'C:\temp' 'back\\slash'"""
    assert(tokens(sql).map(_.text) == Vector("a\tb", "it's", "it's", "C:\\temp", "back\\slash"))
    assert(tokens(sql).forall(_.kind == SqlToken.Text))
  }

  test("text in double quotes is an identifier if the session is configured so") {
    def kind = tokens(""" "a b" """).map(t => t.kind -> t.text)
    assert(kind == Vector(SqlToken.Text -> "a b"))
    val ansi = new SQLConf
    ansi.setConf(SQLConf.ANSI_ENABLED, true)
    ansi.setConf(SQLConf.DOUBLE_QUOTED_IDENTIFIERS, true)
    SQLConf.withExistingConf(ansi)(assert(kind == Vector(SqlToken.Quoted -> "a b")))
  }

  test("positions count UTF-16 code units, including characters outside the Basic Multilingual Plane") {
    val sql = "'\uD83D\uDE00' x => `\uD83D\uDE00y` 12 1.5"
    assert(tokens(sql).map(t => sql.substring(t.start, t.end)) ==
      Vector("'\uD83D\uDE00'", "x", "=>", "`\uD83D\uDE00y`", "12", "1.5"))
  }
}
