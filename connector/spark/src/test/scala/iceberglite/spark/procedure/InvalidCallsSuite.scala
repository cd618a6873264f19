package iceberglite.spark.procedure

import java.nio.file.{Path, Paths}

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.spark.rowlevel.StatementFixture

/**
 * Tests invalid calls of procedures: a wrong name, type or option, a condition that cannot be evaluated on the metadata
 * of files, and a location of another table. Most errors state the position and, for a wrong name, the closest match. A
 * rejected call changes nothing.
 */
class InvalidCallsSuite extends AnyFunSuite with StatementFixture {
  // Two tables with rows, in format version 2.
  private lazy val table: String = filled(2, "merge-on-read")
  private lazy val other: String = filled(2, "merge-on-read")

  private def inCatalog(t: String): String = t.stripPrefix("lite.")
  private def location(t: String): String = live(t).location

  private def files: Set[Path] = Seq(table, other).flatMap { t =>
    FilesBelow.withoutHints(Paths.get(new org.apache.hadoop.fs.Path(location(t)).toUri.getPath))
  }.toSet

  private def assertRejected(call: String, fragment: String, condition: String, message: String): Unit = {
    val (before, filesBefore) = (Seq(table, other).map(live(_).metadataLocation), files)
    val statement = s"CALL lite.system.$call"
    withClue(s"$statement: ") {
      val error = intercept[AnalysisException](sql(statement))
      assert(error.getErrorClass == condition && error.getSqlState != null, error.getMessage)
      assert(error.getMessage.contains(message))
      val Array(context) = error.getQueryContext
      assert(context.fragment == fragment && context.startIndex == statement.lastIndexOf(fragment))
      assert(Seq(table, other).map(live(_).metadataLocation) == before && files == filesBefore)
    }
    ()
  }

  /** Returns a value of the parameter's type. */
  private def valid(parameter: Parameter[_]): String = parameter.parameterType match {
    case ParameterType.Text if parameter.name == Parameter.table.name => s"'${inCatalog(table)}'"
    case ParameterType.Text => "'x'"
    case ParameterType.Texts => "array('x')"
    case ParameterType.Ids => "array(1)"
    case ParameterType.Id | ParameterType.Count => "7"
    case ParameterType.Time => "TIMESTAMP '2024-01-01 00:00:00'"
    case ParameterType.Flag => "true"
    case _ => "map('a', 'b')"
  }

  /** Returns a value that cannot be converted to the parameter's type. */
  private def invalid(parameter: Parameter[_]): String =
    if (parameter.parameterType == ParameterType.Options) "array(1, 2)" else "map(1, 2)"

  /** Returns a call with all required arguments, except the given one, which is replaced. */
  private def call(procedure: Procedure, replaced: Parameter[_], argument: String): String = {
    val required = procedure.parameters.filter(p => p.required && p != replaced).map(p => s"${p.name} => ${valid(p)}")
    s"${procedure.name}(${(required :+ argument).mkString(", ")})"
  }

  for (procedure <- Procedures.all) {
    test(s"a wrong argument name of ${procedure.name} is rejected with its position and the closest match") {
      procedure.parameters.foreach { p =>
        val wrong = s"${p.name}s"
        assertRejected(
          call(procedure, p, s"$wrong => ${valid(p)}"),
          wrong,
          "UNRECOGNIZED_PARAMETER_NAME",
          s"did you mean ${p.name}?"
        )
      }
    }

    test(s"an argument of ${procedure.name} with a wrong type is rejected with its position and the right type") {
      procedure.parameters.foreach { p =>
        val expected = s"It must be ${p.parameterType.sparkType.sql}, not "
        val wrong = call(procedure, p, s"${p.name} => ${invalid(p)}")
        assertRejected(wrong, invalid(p), "INVALID_PARAMETER_VALUE", expected)
      }
    }
  }

  for (
    (procedure, wrong, closest) <- Seq(
      ("rewrite_data_files", "rewrite-al", "rewrite-all"),
      ("rewrite_position_delete_files", "min-input-file", "min-input-files"),
      ("maintain", "max-byte", "max-bytes"),
      ("create_changelog_view", "start-snapshot-i", "start-snapshot-id")
    )
  ) test(s"a wrong option of $procedure is rejected with its position and the closest match") {
    val options = s"map('$wrong', '1')"
    val call = s"$procedure(table => '${inCatalog(table)}', options => $options)"
    assertRejected(call, options, "INVALID_PARAMETER_VALUE", s"you mean $closest?")
  }

  for (
    procedure <- Seq("rewrite_data_files", "rewrite_position_delete_files");
    (condition, reason) <- Seq(
      "coalesce(n, 0) % 2 = 0" -> "No part of it can be evaluated on files",
      "id IN (SELECT 1)" -> "It must not contain a subquery"
    )
  ) test(s"the condition $condition of $procedure is rejected with its position and the reason") {
    val where = s"'$condition'"
    val call = s"$procedure(table => '${inCatalog(table)}', where => $where)"
    assertRejected(call, where, "INVALID_PARAMETER_VALUE", reason)
  }

  private lazy val locations: Seq[(String, String, String)] = {
    val (own, others) = (location(table), location(other))
    val (t, o) = (inCatalog(table), inCatalog(other))
    Seq(
      (s"remove_orphan_files(table => '$t', location => '$others')", others, "No files in this directory"),
      (s"clone(source_table => '$table', table => '${o}_new', location => '$own')", own, "location"),
      (s"clone(source_table => '$table', table => '${o}_new', location => '$own/data')", s"$own/data", "location")
    )
  }

  test("a location that belongs to another table is rejected with its position") {
    locations.foreach { case (call, value, message) =>
      assertRejected(call, s"'$value'", "INVALID_PARAMETER_VALUE", message)
    }
  }

  test("a prefix of another table in rewrite_table_path, and the table's own files in add_files, are rejected") {
    val t = inCatalog(table)
    val before = (live(table).metadataLocation, files)
    for (
      call <- Seq(
        s"rewrite_table_path('$t', '${location(other)}', 'file:/elsewhere')",
        s"add_files('$t', 'parquet.`${location(table)}/data`')"
      )
    ) {
      val error = intercept[AnalysisException](sql(s"CALL lite.system.$call"))
      assert(error.getErrorClass != null && error.getSqlState != null)
    }
    assert((live(table).metadataLocation, files) == before)
  }

  test("an age below 24 hours is rejected with its position and the limit") {
    val now = "current_timestamp()"
    val call = s"remove_orphan_files(table => '${inCatalog(table)}', older_than => $now)"
    assertRejected(call, now, "INVALID_PARAMETER_VALUE", "24 hours")
  }
}
