package iceberglite.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

/**
 * One step of a scenario: a statement and its expected result.
 *
 * @param line the number of the statement's first line in the file
 */
final case class SqlStep(line: Int, statement: String, expected: SqlStep.Expected)

object SqlStep {
  sealed trait Expected

  /** The statement succeeds; its rows are not checked. */
  case object Success extends Expected

  /** The statement fails, and the message contains the text. */
  final case class Failure(text: String) extends Expected

  /** The statement returns these rows. @param ordered whether the order is checked */
  final case class Rows(rows: Vector[String], ordered: Boolean) extends Expected

  /** The statement returns one row, and later statements can use its value as `${name}`. */
  final case class Variable(name: String) extends Expected
}

/** A file of SQL statements with their expected results. `tests/sql/README.md` describes the format. */
final case class SqlScenario(name: String, steps: Vector[SqlStep])

object SqlScenario {
  private val Error = """-- error (.+)""".r
  private val Query = """-- query( rowsort)?""".r
  private val Let = """-- let (\w+)""".r
  private val Separator = "----"

  /** Reads all scenarios below a directory. Their names are relative paths: `ddl/create`. */
  def all(directory: Path): Vector[SqlScenario] = {
    val files = Files.walk(directory).iterator.asScala.filter(_.toString.endsWith(".sql")).toVector.sorted
    files.map(f => read(directory.relativize(f).toString.stripSuffix(".sql"), f))
  }

  private def read(name: String, file: Path): SqlScenario = {
    val lines = new String(Files.readAllBytes(file), UTF_8).split("\n", -1).toVector.map(_.stripSuffix("\r"))
    try SqlScenario(name, steps(lines.zipWithIndex.map { case (text, i) => (text, i + 1) }))
    catch { case e: IllegalArgumentException => throw new IllegalArgumentException(s"$file: ${e.getMessage}", e) }
  }

  private def steps(lines: Vector[(String, Int)]): Vector[SqlStep] = {
    val parsedSteps = Vector.newBuilder[SqlStep]
    var remainingLines = lines
    var directive: Option[String] = None
    while (remainingLines.nonEmpty) {
      remainingLines.head._1.trim match {
        case "" => remainingLines = remainingLines.tail
        case comment if comment.startsWith("--") =>
          if (isDirective(comment)) directive = Some(comment)
          remainingLines = remainingLines.tail
        case _ =>
          val (step, linesAfter) = statement(remainingLines, directive)
          parsedSteps += step
          directive = None
          remainingLines = linesAfter
      }
    }
    require(directive.isEmpty, s"no statement follows ${directive.getOrElse("")}")
    parsedSteps.result()
  }

  private def isDirective(comment: String): Boolean =
    Seq(Error, Query, Let).exists(_.pattern.matcher(comment).matches)

  /** Reads a statement up to the line that ends with a semicolon, and the result rows below it. */
  private def statement(lines: Vector[(String, Int)], directive: Option[String]): (SqlStep, Vector[(String, Int)]) = {
    val start = lines.head._2
    val (body, linesAfter) = lines.span(!_._1.trim.endsWith(";"))
    require(linesAfter.nonEmpty, s"line $start: the statement does not end with a semicolon")
    val text = (body :+ linesAfter.head).map(_._1).mkString("\n").trim.stripSuffix(";")
    directive match {
      case Some(Query(rowsort)) =>
        require(linesAfter.lift(1).exists(_._1 == Separator), s"line $start: a line $Separator must follow a query")
        val (rows, linesAfterRows) = linesAfter.drop(2).span(_._1.nonEmpty)
        (SqlStep(start, text, SqlStep.Rows(rows.map(_._1), ordered = rowsort == null)), linesAfterRows)
      case Some(Error(message)) => (SqlStep(start, text, SqlStep.Failure(message.trim)), linesAfter.tail)
      case Some(Let(name)) => (SqlStep(start, text, SqlStep.Variable(name)), linesAfter.tail)
      case _ => (SqlStep(start, text, SqlStep.Success), linesAfter.tail)
    }
  }
}
