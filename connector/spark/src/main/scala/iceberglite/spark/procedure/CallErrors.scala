package iceberglite.spark.procedure

import org.apache.spark.sql.AnalysisException
import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin, SQLQueryContext}

import iceberglite.spark.error.{SparkErrors, StatementError}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}

/**
 * Adds the position in the statement to the errors of a procedure call. Each error has a condition and a SQL state,
 * including the failure of a Spark job.
 *
 * @param origins the position of each argument in the statement, by the name of its parameter
 */
final private[iceberglite] class CallErrors(procedure: Procedure, origins: Map[String, Origin]) {

  /** The text of the statement; empty if the call has no arguments. */
  private val call: Set[String] = origins.values.flatMap(_.sqlText).toSet

  /**
   * Runs the procedure call, or a part of the call.
   *
   * @param texts the known values of the arguments, as text, by parameter
   */
  def in[A](texts: Map[String, String])(call: => A): A =
    try call
    catch {
      case error: StatementError => throw located(error, texts)
      case error: SparkException if error.getErrorClass == null => throw SparkErrors.ofJob(error)
      case error: AnalysisException => throw fromText(error, texts)
    }

  private def located(error: StatementError, texts: Map[String, String]): StatementError = {
    val argument = argumentOf(error.error, texts)
    val condition = error.error match {
      case InvalidArgument(name, _, _) =>
        val ofCall = Map("parameter" -> argument.getOrElse(name), "functionName" -> procedure.name)
        error.condition.copy(parameters = error.condition.parameters ++ ofCall)
      case _ => error.condition
    }
    // The error may have a position in another text, such as the condition in an argument.
    val ofCall = if (error.at.sqlText.forall(call)) error.at else CurrentOrigin.get
    val origin = argument.flatMap(origins.get).getOrElse(ofCall)
    new StatementError(error.message, error.error, condition, origin)
  }

  /**
   * Returns the parameter that caused an error: the parameter that the error names, or the parameter whose value
   * contains the invalid value or the missing name of the error.
   */
  private def argumentOf(error: IcebergError, texts: Map[String, String]): Option[String] = error match {
    case InvalidArgument(name, value, _) => named(name).orElse(withText(value, texts))
    case NotFound(_, name, _) => withText(name, texts)
    case _ => None
  }

  private def named(name: String): Option[String] = {
    val words = name.split("[^A-Za-z0-9_]+").toSet
    procedure.parameters.map(_.name).find(words).orElse(Some("options").filter(_ => words("option")))
  }.filter(origins.contains)

  private def withText(value: String, texts: Map[String, String]): Option[String] =
    procedure.parameters.map(_.name).filter(origins.contains).find(texts.get(_).exists(_.contains(value)))

  /**
   * If an error occurred in a text that contains an argument, such as a condition, replaces the position of the error
   * in this text with the position of the argument in the statement.
   */
  private def fromText(error: AnalysisException, texts: Map[String, String]): AnalysisException = {
    val parsed = error match {
      case syntax: ParseException => syntax.command.toSeq
      case _ => error.getQueryContext.toSeq.collect { case context: SQLQueryContext => context.sqlText }.flatten
    }
    val inArgument = parsed.filterNot(call)
    val arguments = texts.filter { case (name, text) => origins.contains(name) && inArgument.exists(_.contains(text)) }
    // Choose the longest argument. A short argument, such as the name of the table, can occur in the text by chance.
    if (arguments.isEmpty) error
    else new CallErrors.InArgument(error, origins(arguments.maxBy(_._2.length)._1))
  }
}

private[iceberglite] object CallErrors {

  /** A Spark error that occurred in the text of an argument, with the position of the argument in the statement. */
  final private class InArgument(error: AnalysisException, at: Origin)
      extends AnalysisException(
        error.message,
        at.line,
        at.startPosition,
        Some(error),
        error.errorClass,
        error.messageParameters,
        at.getQueryContext
      )
}
