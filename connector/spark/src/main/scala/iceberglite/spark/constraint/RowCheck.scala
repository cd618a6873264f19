package iceberglite.spark.constraint

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And,
  Cast,
  EqualNullSafe,
  EvalMode,
  Expression,
  Literal,
  Not,
  Predicate
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.CheckViolated
import iceberglite.spec.property.CheckConstraint

/**
 * A CHECK constraint, bound to the rows of a write.
 *
 * @param condition the condition on a row; the row violates the constraint only if the result is false
 * @param values the columns that the condition uses, by name, as texts for messages
 */
final private[iceberglite] case class RowCondition(
    constraint: CheckConstraint,
    condition: Expression,
    values: Vector[(String, Expression)]
) {
  def isSatisfied: Expression = Not(EqualNullSafe(condition, Literal.FalseLiteral))
}

private[iceberglite] object RowCondition {
  private val MaxTextLength = 100

  /** @param bind replaces the columns of the table by their values in a row */
  def of(constraint: CheckConstraint, condition: Expression)(bind: Expression => Expression): RowCondition = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val values = ConstraintExpression.used(condition).map { case (path, value) =>
      path.mkString(".") -> (Cast(bind(value), StringType, zone, EvalMode.LEGACY): Expression)
    }
    RowCondition(constraint, bind(condition), values)
  }

  /**
   * Returns the error for a row.
   *
   * @param values the texts of the columns that the condition uses, in order; absent for null
   */
  def violated(table: String, constraint: CheckConstraint, values: Seq[(String, Option[String])]): CheckViolated =
    CheckViolated(
      table,
      constraint.name,
      constraint.expression,
      values.map { case (name, text) => s"$name = ${text.fold("null")(shortened)}" }.mkString(", ")
    )

  private def shortened(text: String): String =
    if (text.length > MaxTextLength) text.take(MaxTextLength) + "..." else text
}

/**
 * The CHECK constraints of a table, bound to the rows of a write.
 *
 * @param table the name of the table, for messages
 */
final private[iceberglite] case class RowCheck(table: String, conditions: Vector[RowCondition]) {

  /** Returns the check for one task. Its compiled code has state, so that tasks cannot share it. */
  def newChecker(): RowChecker = new RowChecker(this)
}

/** Checks the rows of one task. */
final private[iceberglite] class RowChecker(check: RowCheck) {
  private val predicate = Predicate.create(check.conditions.map(_.isSatisfied).reduce(And(_, _)))

  /** @throws iceberglite.spark.error.StatementError if the row violates a constraint; the message shows the values */
  def require(row: InternalRow): Unit = if (!predicate.eval(row)) throw SparkErrors.of(check.table, violation(row))

  private def violation(row: InternalRow): CheckViolated =
    check.conditions.find(_.isSatisfied.eval(row) == false).map { violated =>
      val values = violated.values.map { case (name, value) => name -> Option(value.eval(row)).map(_.toString) }
      RowCondition.violated(check.table, violated.constraint, values)
    }.getOrElse(throw new IllegalStateException("The compiled and the interpreted conditions differ"))
}
