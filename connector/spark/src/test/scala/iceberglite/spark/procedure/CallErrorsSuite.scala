package iceberglite.spark.procedure

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/**
 * Tests rejected CALL statements: the error class, the position in the statement, and the name that is suggested
 * instead of a wrong one. A rejected call must change nothing.
 */
class CallErrorsSuite extends AnyFunSuite with SharedSession {
  private lazy val table: String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, name STRING) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1, 'a')")
    t
  }

  /**
   * A rejected call.
   *
   * @param call the statement; one `|` before and one after the part to which the error points
   * @param message text that the error message contains
   */
  private case class Rejected(name: String, call: String, errorClass: String, message: String)

  private val syntaxErrors = Seq(
    Rejected(
      "an unknown procedure",
      "|lite|.system.expire_snapshot('T')",
      "ROUTINE_NOT_FOUND",
      "did you mean expire_snapshots?"
    ),
    Rejected(
      "an unknown procedure that statements replace",
      "|lite|.system.Unregister_Table('T')",
      "ROUTINE_NOT_FOUND",
      "; DROP TABLE without PURGE keeps the files of a table, and register_table registers its newest metadata file"
    ),
    Rejected(
      "an unknown argument",
      "lite.system.expire_snapshots(table => 'T',\n |retain_lst| => 1)",
      "UNRECOGNIZED_PARAMETER_NAME",
      "did you mean retain_last?"
    ),
    Rejected(
      "a missing argument",
      "lite.system.rollback_to_snapshot('T'|)|",
      "REQUIRED_PARAMETER_NOT_FOUND",
      "the argument snapshot_id of rollback_to_snapshot is missing"
    ),
    Rejected(
      "an argument that is given twice",
      "lite.system.expire_snapshots(table => 'T', |table| => 'T')",
      "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
      "the argument table is given twice"
    ),
    Rejected(
      "too many arguments",
      "lite.system.rollback_to_snapshot('T', 1, 'b', |2|)",
      "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
      "takes at most 3 arguments"
    ),
    Rejected(
      "a statement that is not complete",
      "lite.system.rollback_to_snapshot('T', 1|;|",
      "PARSE_SYNTAX_ERROR",
      "expected ',' or ')'"
    )
  )

  private val argumentErrors = Seq(
    Rejected(
      "a value of another type",
      "lite.system.expire_snapshots(table => 'T',\n  retain_last => |'many'|)",
      "INVALID_PARAMETER_VALUE",
      "It must be INT, not STRING"
    ),
    Rejected(
      "an unknown option",
      "lite.system.rewrite_data_files(table => 'T', options => |map('rewrite-al', 'true')|)",
      "INVALID_PARAMETER_VALUE",
      "Did you mean rewrite-all?"
    ),
    Rejected(
      "an invalid value of an option",
      "lite.system.rewrite_data_files(table => 'T', options => |map('rewrite-job-order', 'bytes-des')|)",
      "INVALID_PARAMETER_VALUE",
      "Did you mean bytes-desc?"
    ),
    Rejected(
      "an unknown strategy",
      "lite.system.rewrite_data_files(table => 'T', strategy => |'binpak'|)",
      "INVALID_PARAMETER_VALUE",
      "Did you mean binpack?"
    ),
    Rejected(
      "an unknown mode",
      "lite.system.remove_orphan_files(table => 'T', prefix_mismatch_mode => |'INGORE'|)",
      "INVALID_PARAMETER_VALUE",
      "Did you mean IGNORE?"
    ),
    Rejected(
      "a number out of range",
      "lite.system.expire_snapshots(table => 'T', max_concurrent_deletes => |0|)",
      "INVALID_PARAMETER_VALUE",
      "It must be 1 or more"
    ),
    Rejected(
      "an unknown column of a curve",
      "lite.system.rewrite_data_files(table => 'T', sort_order => |'hilbert(id, nam)'|)",
      "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
      "The columns are id, name"
    ),
    Rejected(
      "an unknown column of a sort order",
      "lite.system.rewrite_data_files('T', 'sort', |'nam DESC'|, map('rewrite-all', 'true'))",
      "UNRESOLVED_COLUMN.WITH_SUGGESTION",
      "`name`"
    ),
    Rejected(
      "an unknown column of a condition",
      "lite.system.rewrite_data_files(table => 'T', where => |'nam = 1'|)",
      "UNRESOLVED_COLUMN.WITH_SUGGESTION",
      "`name`"
    ),
    Rejected(
      "an expression that is not complete",
      "lite.system.rewrite_data_files(table => 'T', where => |'id ='|)",
      "PARSE_SYNTAX_ERROR",
      "end of input"
    ),
    Rejected(
      "a location that is not the table's",
      "lite.system.remove_orphan_files(table => 'T', location => |'file:/nowhere'|)",
      "INVALID_PARAMETER_VALUE",
      "No files in this directory would be deleted"
    )
  )

  for (rejected <- syntaxErrors ++ argumentErrors) test(s"${rejected.name} is rejected at its position") {
    val before = rows(s"SELECT * FROM $table.metadata_log_entries")
    val marked = s"CALL ${rejected.call}".replace("'T'", s"'${table.stripPrefix("lite.")}'")
    val parts = marked.split("\\|", -1)
    val start = parts.dropRight(2).map(_.length).sum
    val statement = parts.mkString
    val textBefore = statement.take(start)
    val error = intercept[AnalysisException](sql(statement))
    assert(error.getErrorClass == rejected.errorClass, error.getMessage)
    assert(error.getMessage.contains(rejected.message))
    assert(error.line.contains(textBefore.count(_ == '\n') + 1), error.getMessage)
    assert(error.startPosition.contains(start - (textBefore.lastIndexOf('\n') + 1)))
    val Array(context) = error.getQueryContext
    assert(context.startIndex == start && context.fragment == parts(parts.length - 2))
    assert(error.getSqlState != null && !error.getMessageParameters.isEmpty)
    assert(rows(s"SELECT * FROM $table.metadata_log_entries") == before)
  }
}
