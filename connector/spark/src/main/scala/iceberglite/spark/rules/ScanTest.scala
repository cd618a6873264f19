package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{ApplyFunctionExpression, Expression, Or}
import org.apache.spark.sql.types.BooleanType

import iceberglite.spark.function.{SpatialFunctions, VariantPartFunction}

/**
 * A condition that the optimizer has derived from another condition so that a scan skips files, with functions that
 * only such conditions call. It matches a disjunction with such a condition, and not a conjunction, whose other operand
 * may be a condition of the query.
 */
private[rules] object ScanTest {

  def unapply(e: Expression): Boolean = e match {
    case Or(left, right) => unapply(left) || unapply(right)
    case other => other.children.exists(isCall) && other.dataType == BooleanType
  }

  private def isCall(e: Expression): Boolean = e match {
    case ApplyFunctionExpression(SpatialFunctions.BoxTest | _: VariantPartFunction, _) => true
    case _ => false
  }
}
