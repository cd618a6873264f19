package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, UnaryLike}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.procedure.{Arguments, CallErrors, Parameter, Procedure, ProcedureContext}
import iceberglite.spark.session.LiteCatalog

/**
 * Runs a procedure when Spark executes the `CALL` statement.
 *
 * @param child a query that returns one row; each column has the name of a parameter and contains its argument
 * @param origins the position of each argument in the statement, by the name of its parameter
 */
final case class CallCommand(catalog: LiteCatalog, procedure: Procedure, child: LogicalPlan)(
    origins: Map[String, Origin]
) extends RunnableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] = ExistingTableCommand.attributes(procedure.output)

  override def run(session: SparkSession): Seq[Row] = {
    val call = s"CALL ${catalog.name}.${Procedure.Namespace}.${procedure.name}"
    val errors = new CallErrors(procedure, origins)
    val values = errors.in(Map.empty)(SparkErrors.in(call)(argumentValues(session)))
    errors.in(values.map { case (name, value) => name -> value.toString }) {
      val arguments = new Arguments(values)
      val context = new ProcedureContext(session, catalog)
      SparkErrors.in(s"$call for table ${arguments(Parameter.table)}")(procedure.call(arguments, context))
    }
  }

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(origins)

  private def argumentValues(session: SparkSession): Map[String, Any] =
    ConstantRow.of(session, child).flatMap { argument =>
      val parameter = procedure.parameters.find(_.isNamed(argument.column)).get
      val value = argument.as(parameter.parameterType.sparkType, subject(parameter))
      if (parameter.required) argument.required(subject(parameter))
      value.map(parameter.name -> _)
    }.toMap

  private def subject(parameter: Parameter[_]): String = s"argument ${parameter.name} of ${procedure.name}"

  override protected def withNewChildInternal(newChild: LogicalPlan): CallCommand = copy(child = newChild)(origins)
}
