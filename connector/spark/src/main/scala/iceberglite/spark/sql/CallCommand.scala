package iceberglite.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Cast, EvalMode, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.procedure.{Arguments, Parameter, Procedure, ProcedureContext}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Runs a procedure when Spark executes the `CALL` statement.
 *
 * @param child a query that returns one row; each column has the name of a parameter and contains its argument
 */
final case class CallCommand(catalog: LiteCatalog, procedure: Procedure, child: LogicalPlan)
    extends RunnableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] =
    procedure.output.map(f => AttributeReference(f.name, f.dataType, f.nullable, f.metadata)())

  override def run(session: SparkSession): Seq[Row] = {
    val call = s"CALL ${catalog.name}.${Procedure.Namespace}.${procedure.name}"
    val arguments = SparkErrors.in(call)(new Arguments(argumentValues(session)))
    val context = new ProcedureContext(session, catalog)
    SparkErrors.in(s"$call of ${arguments(Parameter.table)}")(procedure.call(arguments, context))
  }

  private def argumentValues(session: SparkSession): Map[String, Any] = {
    val row = session.sessionState.executePlan(child).executedPlan.executeCollect().head
    val zone = session.sessionState.conf.sessionLocalTimeZone
    child.output.zipWithIndex.flatMap { case (column, i) =>
      val parameter = procedure.parameters.find(_.isNamed(column.name)).get
      val value = Option(row.get(i, column.dataType)).map(convertArgument(parameter, _, column.dataType, zone))
      if (value.isEmpty && parameter.required) throw InvalidArgument(subject(parameter), "NULL", "A value is required")
      value.map(parameter.name -> _)
    }.toMap
  }

  /**
   * Converts a value to the type of the parameter: by lossless widening, or from text with a cast that fails for
   * invalid text.
   */
  private def convertArgument(parameter: Parameter[_], value: Any, valueType: DataType, zone: String): Any = {
    val targetType = parameter.parameterType.sparkType
    val isParsable = valueType == StringType && Cast.canAnsiCast(valueType, targetType)
    def reject(): Nothing =
      throw InvalidArgument(
        subject(parameter),
        Literal(value, valueType).toString,
        s"It must be ${targetType.sql}, not ${valueType.sql}"
      )
    if (valueType == targetType) value
    else if (!Cast.canUpCast(valueType, targetType) && !isParsable) reject()
    else
      try Cast(Literal(value, valueType), targetType, Some(zone), EvalMode.ANSI).eval()
      catch { case NonFatal(_) => reject() }
  }

  private def subject(parameter: Parameter[_]): String = s"argument ${parameter.name} of ${procedure.name}"

  override protected def withNewChildInternal(newChild: LogicalPlan): CallCommand = copy(child = newChild)
}
