package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

import iceberglite.spark.convert.{PartitionTerm, TransformCall}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.{Identity, UnboundField}
import iceberglite.table.action.AddExpression

/** `CALL catalog.system.create_expression(table, expression, name)` */
object CreateExpressionProcedure extends Procedure {
  private val expression = Parameter.required(
    "expression",
    ParameterType.Text,
    "A transform of a column, as in PARTITIONED BY, such as `bucket(16, id)`"
  )
  private val expressionName = Parameter.optional(
    "name",
    ParameterType.Text,
    "Name of the expression; by default the name that a partition field with this transform would have"
  )

  override val name = "create_expression"
  override val description = "Add an expression that is not a partition field to a table of format version 4"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, expression, expressionName)

  override val output: StructType = StructType(Seq(
    Procedure.column("id", IntegerType, "Id of the expression, which no column has"),
    Procedure.column("name", StringType, "Name of the expression")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    // A missing table is reported before an invalid expression.
    lazy val term = parsed(arguments(expression), context)
    val requestedName = arguments.get(expressionName)
    requestedName.filter(_.trim.isEmpty).foreach { blank =>
      throw InvalidArgument(s"argument ${expressionName.name}", s"'$blank'", "It must not be blank")
    }
    val caseSensitive = context.session.sessionState.conf.caseSensitiveAnalysis
    val (_, after) = context.change(arguments(Parameter.table)) { _ =>
      new AddExpression(term.source, term.transform, requestedName, caseSensitive)
    }
    val column = UnboundField.source(after.schema, term.source, term.transform, caseSensitive)
    after.metadata.expressions.find(e => e.transform == term.transform && e.sourceIds == Vector(column.id))
      .map(e => ResultRow(e.id, e.name)).toSeq
  }

  private def parsed(text: String, context: ProcedureContext): PartitionTerm = {
    def reject(reason: String): Nothing = throw InvalidArgument(s"argument ${expression.name}", text, reason)
    context.session.sessionState.sqlParser.parseExpression(text) match {
      case call: UnresolvedFunction =>
        val term = TransformCall.term(call)(reject)
        if (term.transform == Identity) reject("The values of this transform are those of the column itself")
        term
      case _ => reject("It must be a transform of a column, such as bucket(16, id)")
    }
  }
}
