package iceberglite.spark.constraint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.{Expression, NonSQLExpression, UnaryExpression}
import org.apache.spark.sql.types.DataType

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.NullInRequired

/**
 * Returns a value, and fails if it is null. Spark's own check (`AssertNotNull`) throws a `NullPointerException`, which
 * has no condition.
 */
final private[iceberglite] case class RequiredValue(child: Expression, fault: NullFault)
    extends UnaryExpression
    with NonSQLExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = {
    val value = child.eval(input)
    if (value == null) fault.fail()
    value
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val value = child.genCode(ctx)
    val check = ctx.addReferenceObj("fault", fault)
    val code = value.code + code"if (${value.isNull}) $check.fail();"
    ev.copy(code = code, isNull = FalseLiteral, value = value.value)
  }

  override protected def withNewChildInternal(newChild: Expression): RequiredValue = copy(child = newChild)
}

/**
 * Throws the error for a null.
 *
 * @param table the name of the table, for messages
 * @param column the full name of the column
 */
final private[iceberglite] case class NullFault(table: String, column: String) {

  /** @throws iceberglite.spark.error.StatementError always */
  def fail(): Unit = throw SparkErrors.of(table, NullInRequired(column))
}
