package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  And,
  ApplyFunctionExpression,
  BinaryComparison,
  Expression,
  In,
  InSet,
  IsNotNull,
  IsNull,
  Literal,
  Not,
  Or,
  StringPredicate
}
import org.apache.spark.sql.types.BooleanType

import iceberglite.spark.function.Functions

/**
 * Decides whether a condition may be repeated in a condition that is derived from it. A scan must be able to test it,
 * because the derived condition is of no other use. It must not fail for any value, because the derived condition is
 * also evaluated on rows on which the query does not evaluate the condition, as in `kind = 'number' AND CAST(text AS
 * INT) = 1 OR kind = 'text'`.
 */
private[rules] object RepeatableCondition {

  def apply(condition: Expression): Boolean = condition match {
    case And(left, right) => apply(left) && apply(right)
    case Or(left, right) => apply(left) && apply(right)
    case Not(child) => apply(child)
    case IsNull(Tested()) | IsNotNull(Tested()) => true
    case BinaryComparison(Tested(), _: Literal) | BinaryComparison(_: Literal, Tested()) => true
    case In(Tested(), values) => values.forall(_.isInstanceOf[Literal])
    case InSet(Tested(), _) => true
    case test: StringPredicate => Tested.unapply(test.left) && test.right.isInstanceOf[Literal]
    case other => other.dataType == BooleanType && Tested.unapply(other)
  }

  /** Matches a column, and a transform of a column such as `system.days(ts)`. */
  private object Tested {
    def unapply(e: Expression): Boolean = e match {
      case PushableColumn(_) => true
      case ApplyFunctionExpression(Functions.Interpreted(_), arguments) => arguments match {
          case Seq(PushableColumn(_)) => true
          case Seq(Literal(parameter: Int, _), PushableColumn(_)) => parameter > 0
          case _ => false
        }
      case _ => false
    }
  }
}
