package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.catalyst.trees.Origin

import iceberglite.spark.procedure.{Parameter, Procedure, Procedures}
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.Spelling

/**
 * Parses `CALL catalog.system.procedure(argument, ...)`, with positional arguments or named arguments (`name =>
 * value`). A value is any expression that does not refer to columns: a constant, `map(...)`, `current_timestamp() -
 * INTERVAL 1 DAY`.
 *
 * @param expressionParser parses the values of arguments
 */
final class CallStatement(
    session: SparkSession,
    expressionParser: ParserInterface,
    procedures: Seq[Procedure] = Procedures.all
) {
  private val expressions = new SqlExpressions(expressionParser)

  /**
   * Parses the text after CALL. The result is absent if the procedure is not in an iceberg-lite catalog. A name without
   * a catalog refers to the current catalog, which need not be an iceberg-lite catalog.
   */
  def parse(reader: SqlReader): Option[LogicalPlan] = {
    val firstToken = reader.peek
    reader.multipartIfAny().filter(_.size > 1).map(CatalogNames.resolve(session, _)).collect {
      case (catalog: LiteCatalog, ident) =>
        val procedure = procedureOf(ident.namespace.toSeq, ident.name, catalog.name, reader, firstToken)
        val passed = arguments(procedure, reader)
        val values = Project(passed.map(a => Alias(a.value, a.parameter.name)()), OneRowRelation())
        CallCommand(catalog, procedure, values)(passed.map(a => a.parameter.name -> a.origin).toMap)
    }
  }

  private def procedureOf(
      namespace: Seq[String],
      name: String,
      catalog: String,
      reader: SqlReader,
      token: SqlToken
  ): Procedure = {
    val names = procedures.map(_.name)
    val fullName = s"$catalog.${(namespace :+ name).mkString(".")}"
    if (!namespace.map(_.toLowerCase).equals(Seq(Procedure.Namespace))) {
      reader.failAt(
        token,
        s"there is no procedure $fullName; call procedures as $catalog.${Procedure.Namespace}.<procedure>",
        SqlErrorClass.unknownProcedure(fullName)
      )
    }
    procedures.find(_.name.equalsIgnoreCase(name)).getOrElse {
      val advice = Procedures.replacements.get(name.toLowerCase).map(text => s"; $text.")
        .orElse(Spelling.closest(name, names).map(n => s"; did you mean $n?")).getOrElse(".")
      reader.failAt(
        token,
        s"there is no procedure $fullName$advice The procedures are ${names.mkString(", ")}",
        SqlErrorClass.unknownProcedure(fullName)
      )
    }
  }

  private def arguments(procedure: Procedure, reader: SqlReader): Vector[Argument] = {
    reader.expectSymbol("(")
    var parsedArguments = Vector.empty[Argument]
    if (!reader.skipSymbol(")")) {
      parsedArguments :+= argument(procedure, parsedArguments, reader)
      while (reader.skipSymbol(",")) parsedArguments :+= argument(procedure, parsedArguments, reader)
      if (!reader.skipSymbol(")")) reader.fail("expected ',' or ')'")
    }
    requireAll(procedure, parsedArguments, reader)
    parsedArguments
  }

  private def requireAll(procedure: Procedure, passed: Vector[Argument], reader: SqlReader): Unit =
    procedure.parameters.zipWithIndex.find { case (p, _) => p.required && !passed.exists(_.parameter == p) }.foreach {
      case (missing, index) => reader.failAt(
          reader.last,
          s"the argument ${missing.name} of ${procedure.name} is missing. ${signature(procedure)}",
          SqlErrorClass.missingArgument(procedure.name, missing.name, index)
        )
    }

  /** @param origin the position of the value in the statement */
  private case class Argument(parameter: Parameter[_], isNamed: Boolean, value: Expression, origin: Origin)

  private def argument(procedure: Procedure, previous: Vector[Argument], reader: SqlReader): Argument = {
    val token = reader.peek
    val name = reader.namedIfAny()
    if (previous.exists(_.isNamed != name.isDefined)) {
      reader.failAt(token, "arguments must be either all positional or all named")
    }
    val parameter: Parameter[_] = name match {
      case Some(written) => byName(procedure, written, reader)
      case None => atPosition(procedure, previous.size, reader, token)
    }
    if (previous.exists(_.parameter == parameter)) {
      reader.failAt(
        token,
        s"the argument ${parameter.name} is given twice",
        SqlErrorClass.repeatedArgument(procedure.name, parameter.name)
      )
    }
    val first = reader.peek
    val expression = value(parameter, reader)
    Argument(parameter, name.isDefined, expression, reader.originSince(first))
  }

  private def atPosition(procedure: Procedure, position: Int, reader: SqlReader, token: SqlToken): Parameter[_] =
    procedure.parameters.lift(position).getOrElse {
      reader.failAt(
        token,
        s"${procedure.name} takes at most $position arguments. ${signature(procedure)}",
        SqlErrorClass.tooManyArguments(procedure.name, position)
      )
    }

  private def byName(procedure: Procedure, name: SqlToken, reader: SqlReader): Parameter[_] =
    procedure.parameters.find(_.isNamed(name.text)).getOrElse {
      val near = Spelling.closest(name.text, procedure.parameters.map(_.name))
      val question = near.fold("")(n => s"; did you mean $n?")
      reader.failAt(
        name,
        s"${procedure.name} has no argument ${name.text}$question. ${signature(procedure)}",
        SqlErrorClass.unknownArgument(procedure.name, name.text, near.toSeq)
      )
    }

  private def value(parameter: Parameter[_], reader: SqlReader): Expression = {
    val token = reader.peek
    expressions.read(reader, s"a value for ${parameter.name}") match {
      case _: UnresolvedAttribute =>
        val text = reader.textSince(token)
        reader.failAt(token, s"the value of ${parameter.name} must be in quotes: '$text'")
      case other => other
    }
  }

  private def signature(procedure: Procedure): String = {
    val (required, optional) = procedure.parameters.partition(_.required)
    val all = required.map(_.toString) ++ optional.map(p => s"[$p]")
    s"It is called as ${procedure.name}(${all.mkString(", ")})"
  }
}
