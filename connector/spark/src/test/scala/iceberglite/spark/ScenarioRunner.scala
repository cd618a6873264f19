package iceberglite.spark

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col
import org.scalatest.Assertions

/** Runs the steps of a scenario in a session, and checks their results. */
final class ScenarioRunner(session: SparkSession) extends Assertions {
  import ScenarioRunner.placeholder

  /** @param variables the values of the placeholders in the statements, such as `catalog` and `directory` */
  def run(scenario: SqlScenario, variables: Map[String, String]): Unit = {
    val all = variables + ("user" -> System.getProperty("user.name"))
    scenario.steps.foldLeft(all)((values, step) => values ++ perform(scenario, step, values))
    ()
  }

  /** @return the variables that the step sets for later steps */
  private def perform(scenario: SqlScenario, step: SqlStep, variables: Map[String, String]): Map[String, String] = {
    val statement = substituted(step.statement, variables)
    val where = s"${scenario.name}.sql:${step.line}: $statement"
    val outcome =
      try Right(result(statement))
      catch { case NonFatal(e) => Left(e) }
    (step.expected, outcome) match {
      case (SqlStep.Failure(text), Left(e)) =>
        assert(messages(e).contains(substituted(text, variables)), s"\nnot in the error message of $where")
        Map.empty
      case (SqlStep.Failure(text), Right(_)) => fail(s"$where\nsucceeds, but should fail with: $text")
      case (_, Left(e)) => fail(s"$where\nfails: ${e.getMessage}", e)
      case (SqlStep.Rows(expected, ordered), Right(rows)) =>
        val expectedRows = expected.map(substituted(_, variables))
        val (left, right) = if (ordered) (rows, expectedRows) else (rows.sorted, expectedRows.sorted)
        assert(left == right, s"\n$where\nreturns:\n${rows.mkString("\n")}\n")
        Map.empty
      case (SqlStep.Variable(name), Right(rows)) =>
        assert(rows.size == 1, s"\n$where\nreturns more or less than one row")
        Map(name -> rows.head)
      case (SqlStep.Success, Right(_)) => Map.empty
    }
  }

  /** Returns the rows as text, cast by Spark: `1 | a | NULL`. */
  private def result(statement: String): Vector[String] = {
    val frame = session.sql(statement)
    val named = frame.toDF(frame.columns.indices.map(i => s"c$i"): _*)
    val rows = named.select(named.columns.toVector.map(c => col(c).cast("string")): _*).collect().toVector
    rows.map(_.toSeq.map(value => if (value == null) "NULL" else value.toString).mkString(" | "))
  }

  private def messages(e: Throwable): String =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")

  private def substituted(text: String, variables: Map[String, String]): String =
    variables.foldLeft(text) { case (t, (name, value)) => t.replace(placeholder(name), value) }
}

object ScenarioRunner {

  /** The name of every catalog in the scenarios. */
  val CatalogName = "cat"

  def placeholder(name: String): String = "$" + s"{$name}"
}
