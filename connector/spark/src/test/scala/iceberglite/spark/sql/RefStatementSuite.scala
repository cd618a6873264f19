package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.parser.ParseException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.sql.CreateOrReplaceRef.{Create, CreateOrReplace, Replace}
import iceberglite.spark.sql.RefKind.{Branch, Tag}

/** Checks the syntax of statements for branches, tags and identifier fields. */
class RefStatementSuite extends AnyFunSuite {
  private val t = Seq("t")
  private val day = 24 * 60 * 60 * 1000L

  private def parsed(clause: String): Any = {
    val reader = new SqlReader(s"ALTER TABLE t $clause")
    AlterTableStatement.begin(reader).map { case (table, statement) =>
      val plan = statement.parse(table, reader)
      reader.end()
      plan
    }.getOrElse(fail(s"the statement was not parsed: ALTER TABLE t $clause"))
  }

  private def error(clause: String): ParseException = intercept[ParseException](parsed(clause))

  test("CREATE, CREATE OR REPLACE and REPLACE are distinguished, for branches and for tags") {
    Seq("CREATE" -> Create, "CREATE OR REPLACE" -> CreateOrReplace, "Replace" -> Replace).foreach { case (verb, mode) =>
      Seq("BRANCH" -> Branch, "tag" -> Tag).foreach { case (word, kind) =>
        assert(parsed(s"$verb $word x") == CreateOrReplaceRef(t, kind, mode, "x", ifNotExists = false, RefOptions()))
      }
    }
    assert(parsed("CREATE TAG IF NOT EXISTS x") == CreateOrReplaceRef(
      t,
      Tag,
      Create,
      "x",
      ifNotExists = true,
      RefOptions()
    ))
  }

  test("AS OF VERSION, RETAIN and WITH SNAPSHOT RETENTION are parsed, alone and combined, in all time units") {
    Seq(
      "AS OF VERSION 42" -> RefOptions(Some(42)),
      s"AS OF VERSION ${Long.MaxValue} RETAIN 3 DAYS" -> RefOptions(Some(Long.MaxValue), Some(3 * day)),
      "RETAIN 48 HOURS WITH SNAPSHOT RETENTION 5 SNAPSHOTS" -> RefOptions(None, Some(2 * day), Some(5)),
      "WITH SNAPSHOT RETENTION 1440 MINUTES" -> RefOptions(None, None, None, Some(day)),
      "with snapshot retention 5 snapshots 1 days" -> RefOptions(None, None, Some(5), Some(day))
    ).foreach { case (text, options) =>
      assert(
        parsed(s"CREATE BRANCH b $text") == CreateOrReplaceRef(t, Branch, Create, "b", ifNotExists = false, options),
        text
      )
    }
    assert(parsed("REPLACE TAG v AS OF VERSION 1 RETAIN 1 DAYS") ==
      CreateOrReplaceRef(t, Tag, Replace, "v", ifNotExists = false, RefOptions(Some(1), Some(day))))
  }

  test("names can be keywords of the statement, and names in backticks can contain any characters") {
    Seq("branch" -> "branch", "`if`" -> "if", "`a b``c.d`" -> "a b`c.d", "2024_01" -> "2024_01").foreach {
      case (text, name) => assert(parsed(s"DROP BRANCH $text") == DropRef(t, Branch, name, ifExists = false))
    }
    assert(parsed("DROP TAG IF EXISTS v;") == DropRef(t, Tag, "v", ifExists = true))
  }

  test("identifier fields are columns or nested fields") {
    assert(parsed("SET IDENTIFIER FIELDS id, s.`k.l`") ==
      SetIdentifierFields(t, Vector(Vector("id"), Vector("s", "k.l"))))
    assert(parsed("drop identifier fields id") == DropIdentifierFields(t, Vector(Vector("id"))))
  }

  test("a syntax error has the position of the invalid word") {
    Seq(
      ("CREATE BRANCH", 27, "near end of input: expected the name of a branch"),
      ("CREATE TAG 'v'", 25, "expected the name of a tag"),
      ("CREATE BRANCH b RETAIN DAYS", 37, "near 'DAYS': expected a number"),
      ("CREATE BRANCH b RETAIN 2", 38, "near end of input: expected DAYS, HOURS or MINUTES"),
      ("CREATE BRANCH b RETAIN -2 DAYS", 37, "near '-': expected a number"),
      ("CREATE BRANCH b WITH SNAPSHOT RETENTION", 53, "a number of snapshots or of days, hours or minutes"),
      ("CREATE BRANCH b WITH SNAPSHOT RETENTION 2 DAYS 3 SNAPSHOTS", 61, "near '3': expected the end"),
      ("CREATE BRANCH b RETAIN 2 DAYS AS OF VERSION 1", 44, "near 'AS': expected the end"),
      ("CREATE BRANCH b AS OF VERSION main", 44, "expected the id of a snapshot"),
      ("CREATE OR REPLACE BRANCH IF NOT EXISTS b", 42, "near 'NOT': expected the end"),
      ("DROP BRANCH IF NOT EXISTS b", 29, "near 'NOT': expected the end"),
      ("SET IDENTIFIER FIELDS", 35, "expected a column")
    ).foreach { case (text, position, message) =>
      val e = error(text)
      assert(e.getMessage.contains(message), text)
      assert(e.startPosition == Some(position), text)
    }
  }
}
