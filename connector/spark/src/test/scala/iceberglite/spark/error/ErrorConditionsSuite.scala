package iceberglite.spark.error

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.{ErrorClassesJsonReader, SparkException, SparkThrowable}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{ScenarioRunner, SharedSession, SparkCatalog}

/**
 * Runs the failing statements of `failing-statements.tsv` in one session, and checks the condition and the SQL state of
 * each error, and whether the error has a position in the statement. If the environment variable `UPDATE` is `1`, the
 * suite writes these columns instead; the changes to the file must then be reviewed.
 *
 * A statement in the file that does not begin with a keyword of SQL has one of these forms: `READ t key=value;...` and
 * `STREAM t key=value;...` read a table with options, `WRITE t key=value;...` appends a row with options, and `CONF
 * key=value;... statement` runs a statement with settings.
 */
class ErrorConditionsSuite extends AnyFunSuite with SharedSession {
  import ErrorConditionsSuite._

  // The suite has a single slow test, which no other test repeats.
  override protected def isSampled: Boolean = false

  private val file: Path = Paths.get("connector", "spark", "src", "test", "resources", "failing-statements.tsv")

  private lazy val session: SparkSession = {
    val directory = newDirectory("conditions")
    val created =
      SharedSession.sessionWithCatalog(SharedSession.liteExtensions, classOf[SparkCatalog].getName, directory)
    created.udf.register("udf_fails", (n: Long) => if (n > 1) throw new IllegalStateException("udf") else n)
    setUp.foreach(created.sql)
    removeFiles(created, "SELECT file_path FROM db.broken.files")
    removeFiles(created, "SELECT manifest_list FROM db.nomanifest.snapshots")
    created
  }

  private def removeFiles(session: SparkSession, query: String): Unit =
    session.sql(query).collect().foreach(row => Files.delete(Paths.get(URI.create(row.getString(0)).getPath)))

  private lazy val first: String =
    session.sql("SELECT snapshot_id FROM db.t.snapshots ORDER BY committed_at").head().getLong(0).toString

  private lazy val lines: Vector[String] = Files.readAllLines(file).asScala.toVector

  private def statementOf(line: String): Option[String] = line.split('\t') match {
    case Array(_, _, _, statement) if line != lines.head => Some(statement)
    case _ => None
  }

  /** Returns the outcome of a statement, in the form of the columns of the file. */
  private def outcome(statement: String): Outcome =
    try {
      inSession(session)(perform(_, statement.replace(ScenarioRunner.placeholder("first"), first)))
      Outcome("succeeded", "", "", "")
    } catch { case NonFatal(e) => outcome(e) }

  /**
   * Returns the outcome for an error. If a task of a query fails, Spark's error has no condition, and the outcome is
   * that of its first cause with a condition.
   */
  private def outcome(error: Throwable): Outcome = error match {
    case e: SparkException if e.getErrorClass == null && error.getMessage.startsWith("Job aborted") =>
      val cause =
        Causes.of(error).collectFirst { case c: Throwable with SparkThrowable if c.getErrorClass != null => c }
          .map(outcome(_))
      cause.fold(Outcome("none", "none", "no", error.getMessage))(_.copy(position = "task"))
    case e: SparkThrowable => Outcome(
        Option(e.getErrorClass).getOrElse("none"),
        Option(e.getSqlState).getOrElse("none"),
        if (hasPosition(e)) "yes" else "no",
        error.getMessage
      )
    case other => Outcome(s"class ${other.getClass.getName}", "none", "no", String.valueOf(other.getMessage))
  }

  private def hasPosition(error: SparkThrowable): Boolean = error.getQueryContext.nonEmpty || (error match {
    case e: ParseException => e.start.startPosition.isDefined
    case e: AnalysisException => e.startPosition.isDefined
    case _ => false
  })

  private def perform(session: SparkSession, statement: String): Unit = {
    val Array(verb, rest) = (statement + " ").split(" ", 2)
    lazy val Array(table, settings) = (rest.trim + " ").split(" ", 2)
    lazy val options = pairs(settings.trim)
    verb match {
      case "READ" => session.read.options(options).table(table).collect()
      case "WRITE" => session.range(1).writeTo(table).options(options).append()
      case "STREAM" =>
        val rows = session.readStream.options(options).table(table)
        val query = rows.writeStream.format("noop").option("checkpointLocation", newDirectory().toString)
          .trigger(Trigger.AvailableNow()).start()
        try query.awaitTermination()
        finally query.stop()
      case "CONF" => withSettings(session, pairs(table))(session.sql(settings.trim).collect())
      case _ => session.sql(statement).collect()
    }
    ()
  }

  private def pairs(text: String): Map[String, String] =
    text.split(';').filter(_.nonEmpty).map(_.split("=", 2)).map(pair => pair(0) -> pair(1)).toMap

  private def withSettings(session: SparkSession, settings: Map[String, String])(body: => Unit): Unit = {
    settings.foreach { case (key, value) => session.conf.set(key, value) }
    try body
    finally settings.keys.foreach(session.conf.unset)
  }

  test(
    "every failing statement has the condition, the SQL state and the position that failing-statements.tsv lists",
    Slow
  ) {
    first
    val results = lines.map(line => line -> statementOf(line).map(outcome))
    if (sys.env.get("UPDATE").contains("1")) {
      val updated = results.map { case (line, found) =>
        found.fold(line)(o => s"${o.columns}\t${statementOf(line).get}")
      }
      Files.write(file, updated.mkString("", "\n", "\n").getBytes(UTF_8))
    }
    val statements = results.collect { case (line, Some(found)) => (line, found) }
    assert(statements.size >= 170)
    val unexpected = statements.filterNot { case (line, found) => line.startsWith(found.columns + "\t") }
    val invalid = statements.filterNot(_._2.isValid)
    val unexplained = statements.filter { case (line, found) =>
      found.position == "no" && !withoutPosition(found.condition) && !statementOf(line).exists(hasNoText)
    }
    val report = (unexpected ++ invalid ++ unexplained).distinct.map { case (line, found) => s"$line\n    $found" }
    assert(report.isEmpty, report.mkString("\n", "\n", "\n"))
  }
}

object ErrorConditionsSuite {

  /** The conditions that must have a position in the statement. */
  private val withPosition = Set("PARSE_SYNTAX_ERROR", "UNRESOLVED_COLUMN.WITH_SUGGESTION")

  /** Whether a statement of the file is a call of a method, so that there is no text with positions. */
  private def hasNoText(statement: String): Boolean =
    Seq("READ ", "WRITE ", "STREAM ").exists(statement.startsWith)

  /**
   * The conditions of errors that may have no position, because Spark 3.5 raises them itself, for its own tables too,
   * in a place where it does not know the position. The section "Positions of errors" of docs/reference.md lists them.
   */
  private val withoutPosition = Set(
    // when a command of Spark runs
    "TABLE_OR_VIEW_NOT_FOUND",
    "TABLE_OR_VIEW_ALREADY_EXISTS",
    "SCHEMA_NOT_FOUND",
    "SCHEMA_NOT_EMPTY",
    "SCHEMA_ALREADY_EXISTS",
    "PARTITIONS_NOT_FOUND",
    "FIELD_NOT_FOUND",
    "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE",
    // when Spark compares the columns of a query with those of a table
    "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
    "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
    "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    "DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS",
    "NON_PARTITION_COLUMN",
    "COLUMN_ALREADY_EXISTS",
    "EXCEED_LIMIT_LENGTH",
    // when Spark checks an expression or a name
    "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT",
    "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    "INVALID_USAGE_OF_STAR_OR_REGEX",
    "UNSUPPORTED_EXPRESSION_GENERATED_COLUMN",
    "IDENTIFIER_TOO_MANY_NAME_PARTS",
    // when Spark plans the scan of a relation
    "ICEBERG_LITE.UNREADABLE_FILE"
  )

  /** Errors that Spark 3.5 raises before it calls the connector. Their conditions are numbers of old messages. */
  private val numbered = Map(
    "_LEGACY_ERROR_TEMP_0056" -> "a time in TIMESTAMP AS OF that is not a constant",
    "_LEGACY_ERROR_TEMP_1331" -> "a missing column in AFTER",
    "_LEGACY_ERROR_TEMP_2330" -> "ALTER COLUMN ... SET NOT NULL"
  )

  private val conditionsOfSpark =
    new ErrorClassesJsonReader(Seq(classOf[SparkThrowable].getClassLoader.getResource("error/error-classes.json")))

  /** Whether Spark 3.5 has the condition, but defines no SQL state for it. */
  private def hasNoSqlState(condition: String): Boolean =
    !condition.startsWith("ICEBERG_LITE.") && conditionsOfSpark.getSqlState(condition) == null

  final private case class Outcome(condition: String, sqlState: String, position: String, message: String) {
    def columns: String = s"$condition\t$sqlState\t$position"

    /** Whether programs can recognize the error. */
    def isValid: Boolean =
      (condition.matches("[A-Z][A-Z0-9_.]+") || numbered.contains(condition)) && condition != "INTERNAL_ERROR" &&
        (sqlState.matches("[0-9A-Z]{5}") || hasNoSqlState(condition)) &&
        (!withPosition(condition) || position == "yes")

    override def toString: String = s"$columns\t${message.take(300).replaceAll("\\s+", " ")}"
  }

  private val setUp: Seq[String] = Seq(
    s"USE ${ScenarioRunner.CatalogName}.db",
    "CREATE TABLE t (id BIGINT NOT NULL, s STRING, p INT, st STRUCT<a: INT, b: STRING>, ts TIMESTAMP) USING iceberg " +
      "PARTITIONED BY (p)",
    "INSERT INTO t VALUES (1, 'a', 1, NULL, NULL), (2, 'b', 2, NULL, NULL)",
    "ALTER TABLE t CREATE TAG v1",
    "ALTER TABLE t CREATE BRANCH b1",
    "INSERT INTO t VALUES (3, 'c', 1, NULL, NULL)",
    "INSERT INTO db.t.branch_b1 VALUES (4, 'd', 1, NULL, NULL)",
    "CREATE TABLE e (id BIGINT) USING iceberg",
    "CREATE TABLE wap (id BIGINT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = 'true')",
    "CREATE TABLE nested (id BIGINT, r STRUCT<a: BIGINT NOT NULL>, l ARRAY<BIGINT>) USING iceberg",
    "CREATE TABLE chk (n BIGINT) USING iceberg",
    "INSERT INTO chk VALUES (1), (2)",
    "ALTER TABLE chk ADD CONSTRAINT positive CHECK (n > 0)",
    "CREATE TABLE gen (id BIGINT, g BIGINT GENERATED ALWAYS AS (id + 1)) USING iceberg",
    "INSERT INTO gen (id) VALUES (1)",
    "CREATE TABLE chars (c VARCHAR(3)) USING iceberg",
    "CREATE TABLE nogc (id BIGINT) USING iceberg TBLPROPERTIES ('gc.enabled' = 'false')",
    "CREATE TABLE broken USING iceberg AS SELECT id FROM range(10)",
    "CREATE TABLE nomanifest USING iceberg AS SELECT id FROM range(10)",
    "CREATE VIEW v AS SELECT id, s FROM t",
    "CREATE VIEW w AS SELECT 1 AS one",
    "CREATE TABLE later (id BIGINT, n INT) USING iceberg",
    "CREATE VIEW stale AS SELECT id, n FROM later",
    "ALTER TABLE later DROP COLUMN n",
    "CREATE TEMPORARY VIEW src AS SELECT 1L AS id",
    "CREATE TEMPORARY VIEW dup AS SELECT 1L AS id FROM range(2)",
    "CREATE TEMPORARY VIEW tempview AS SELECT 1L AS id"
  )
}
