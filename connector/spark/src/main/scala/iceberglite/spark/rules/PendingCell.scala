package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/**
 * A cell of VALUES that contains variants in unresolved expressions. It is never resolved, so that Spark does not
 * compute the cell before [[ResolveToVariant]] replaces it.
 */
final private[rules] case class PendingCell(child: Expression) extends UnaryExpression with Unevaluable {
  override lazy val resolved: Boolean = false
  override def dataType: DataType = child.dataType
  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}
