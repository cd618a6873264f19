package iceberglite.spark.function

import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, UnboundFunction}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.{ErrorCondition, StatementError}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The error of a function that does not accept the types of its arguments. Spark expects this class of exception when
 * it tries whether a function fits. In a statement, Spark 3.5 replaces it by an error whose condition is a number.
 * Therefore, [[RejectedArguments.reported]] throws a [[StatementError]] with a condition instead.
 *
 * @param call the name of the function and the types of the arguments
 */
final private[function] class RejectedArguments private (call: String, reason: String, condition: ErrorCondition)
    extends UnsupportedOperationException(reason) {

  private def statementError: StatementError =
    new StatementError(condition.in(reason), InvalidArgument("call", call, reason), condition)
}

private[iceberglite] object RejectedArguments {

  /**
   * Returns the error for arguments.
   *
   * @param counts the possible numbers of arguments; empty if the function accepts any number but 0
   * @param reason why the function does not accept the arguments, and how to call it
   */
  private[function] def of(function: String, input: StructType, counts: Seq[Int], reason: String): RejectedArguments = {
    val types = input.fields.map(_.dataType.sql).mkString(", ")
    val isCount = if (counts.isEmpty) input.nonEmpty else counts.contains(input.size)
    val name = s"`$function`"
    val condition =
      if (isCount) ErrorCondition(
        "DATATYPE_MISMATCH.UNSUPPORTED_INPUT_TYPE",
        "42K09",
        Map("sqlExpr" -> s""""$function($types)"""", "functionName" -> name, "dataType" -> s""""$types"""")
      )
      else ErrorCondition(
        "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        "42605",
        Map(
          "functionName" -> name,
          "expectedNum" -> (if (counts.isEmpty) "> 0" else counts.mkString("[", ", ", "]")),
          "actualNum" -> input.size.toString,
          "docroot" -> "https://spark.apache.org/docs/latest"
        )
      )
    new RejectedArguments(s"$function($types)", reason, condition)
  }

  /** Returns a function for statements, whose errors are errors of Spark with a condition. */
  def reported(function: UnboundFunction): UnboundFunction = new UnboundFunction {
    override def name: String = function.name
    override def description: String = function.description

    override def bind(inputType: StructType): BoundFunction =
      try function.bind(inputType)
      catch { case error: RejectedArguments => throw error.statementError }
  }
}
