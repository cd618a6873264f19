package iceberglite.spark.sql

/**
 * The Spark error class of a syntax error.
 *
 * @param name the name in Spark's list of error classes
 * @param parameters the parameters for the message of the error class
 */
final private[sql] case class SqlErrorClass(name: String, parameters: Map[String, String])

private[sql] object SqlErrorClass {

  /** Returns the error class of a statement that does not follow the grammar. */
  def syntax(near: String, problem: String): SqlErrorClass =
    SqlErrorClass("PARSE_SYNTAX_ERROR", Map("error" -> near, "hint" -> s": $problem"))

  def unknownProcedure(name: String): SqlErrorClass = SqlErrorClass("ROUTINE_NOT_FOUND", Map("routineName" -> name))

  def unknownArgument(procedure: String, argument: String, proposal: Seq[String]): SqlErrorClass = SqlErrorClass(
    "UNRECOGNIZED_PARAMETER_NAME",
    Map("functionName" -> procedure, "argumentName" -> argument, "proposal" -> proposal.mkString(" "))
  )

  /** @param index the position of the argument, from 0 */
  def missingArgument(procedure: String, argument: String, index: Int): SqlErrorClass = SqlErrorClass(
    "REQUIRED_PARAMETER_NOT_FOUND",
    Map("functionName" -> procedure, "parameterName" -> argument, "index" -> index.toString)
  )

  def repeatedArgument(procedure: String, argument: String): SqlErrorClass = SqlErrorClass(
    "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
    Map("functionName" -> procedure, "parameterName" -> argument)
  )

  def tooManyArguments(procedure: String, expected: Int): SqlErrorClass = SqlErrorClass(
    "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
    Map("functionName" -> procedure, "expectedNum" -> s"at most $expected", "actualNum" -> s"more than $expected")
  )
}
