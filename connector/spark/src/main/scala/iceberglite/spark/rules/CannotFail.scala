package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  BinaryComparison,
  Cast,
  Expression,
  GetStructField,
  In,
  InSet,
  IsNaN,
  IsNotNull,
  IsNull,
  Literal,
  Not,
  Or,
  StringPredicate
}

/** Decides whether the evaluation of an expression on a row can fail, as that of `100 / n` can in Spark's ANSI mode. */
private[rules] object CannotFail {

  /** Returns whether an expression consists only of expressions that return a value for every row. */
  def apply(e: Expression): Boolean = e.deterministic && (e match {
    case _: Attribute | _: Literal => true
    case cast: Cast => Cast.canUpCast(cast.child.dataType, cast.dataType) && apply(cast.child)
    case _: And | _: Or | _: Not | _: BinaryComparison | _: In | _: InSet | _: IsNull | _: IsNotNull | _: IsNaN |
        _: StringPredicate | _: GetStructField => e.children.forall(apply)
    case _ => false
  })
}
