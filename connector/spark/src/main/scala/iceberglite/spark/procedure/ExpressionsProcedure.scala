package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

import iceberglite.spark.convert.PartitionTerm
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.TableExpression

/** `CALL catalog.system.expressions(table)` */
object ExpressionsProcedure extends Procedure {
  override val name = "expressions"
  override val description = "List the expressions of a table of format version 4: its partition transforms and others"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("id", IntegerType, "Id of the expression, which no column has"),
    Procedure.column("name", StringType, "Name of the expression"),
    Procedure.column("expression", StringType, "The expression in SQL, such as bucket(16, id)"),
    Procedure.column(
      "partition_field_id",
      IntegerType,
      "Id of the partition field with the values of the expression; NULL if there is none",
      nullable = true
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current.metadata
    table.expressions.map(e => ResultRow(e.id, e.name, sqlOf(e, table), e.partitionFieldId))
  }

  /** Returns an expression in SQL. A dropped column appears with its last name; an unknown column with its id. */
  private def sqlOf(expression: TableExpression, table: TableMetadata): String = {
    val schemas = table.schema +: table.schemas.sortBy(-_.schemaId)
    val sources = expression.sourceIds.map(id => schemas.flatMap(_.paths.get(id)).headOption.getOrElse(Vector(s"#$id")))
    sources match {
      case Vector(source) => PartitionTerm(source, expression.transform).sql
      case several => s"${expression.transform}(${several.map(PartitionTerm.quoted).mkString(", ")})"
    }
  }
}
