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
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CheckViolated, GeneratedColumnMismatch}
import iceberglite.spec.property.CheckConstraint

/** The rule of a table that a [[RowCondition]] checks. */
sealed private[iceberglite] trait RowRule

private[iceberglite] object RowRule {

  /** The row satisfies a CHECK constraint. */
  final case class Satisfies(constraint: CheckConstraint) extends RowRule

  /** The generated column of the row has the value that its expression computes. */
  final case class HasValue(column: String, expression: String) extends RowRule
}

/**
 * A rule of a table, bound to the rows of a write.
 *
 * @param condition the condition on a row; the row violates the rule only if the result is false
 * @param values the columns that the condition uses, by name, as texts for messages
 */
final private[iceberglite] case class RowCondition(
    rule: RowRule,
    condition: Expression,
    values: Vector[(String, Expression)]
) {
  def isSatisfied: Expression = Not(EqualNullSafe(condition, Literal.FalseLiteral))
}

private[iceberglite] object RowCondition {
  private val MaxTextLength = 100

  /** @param bind replaces the columns of the table by their values in a row */
  def of(constraint: CheckConstraint, condition: Expression)(bind: Expression => Expression): RowCondition =
    bound(RowRule.Satisfies(constraint), condition, bind)

  /** @param bind replaces the columns of the table by their values in a row */
  def of(generated: GenerationExpression)(bind: Expression => Expression): RowCondition =
    bound(
      RowRule.HasValue(generated.column.field.name, generated.column.expression),
      generated.isSatisfied,
      bind
    )

  private def bound(rule: RowRule, condition: Expression, bind: Expression => Expression): RowCondition = {
    val zone = Some(SQLConf.get.sessionLocalTimeZone)
    val values = ConstraintExpression.used(condition).map { case (path, value) =>
      path.mkString(".") -> (Cast(bind(value), StringType, zone, EvalMode.LEGACY): Expression)
    }
    RowCondition(rule, bind(condition), values)
  }

  /**
   * Returns the error for a row.
   *
   * @param values the texts of the columns that the condition uses, in order; absent for null
   */
  def violated(table: String, rule: RowRule, values: Seq[(String, Option[String])]): IcebergError = {
    val row = values.map { case (name, text) => s"$name = ${text.fold("null")(shortened)}" }.mkString(", ")
    rule match {
      case RowRule.Satisfies(constraint) => CheckViolated(table, constraint.name, constraint.expression, row)
      case RowRule.HasValue(column, expression) => GeneratedColumnMismatch(table, column, expression, row)
    }
  }

  private def shortened(text: String): String =
    if (text.length > MaxTextLength) text.take(MaxTextLength) + "..." else text
}

/**
 * The CHECK constraints and generated columns of a table, bound to the rows of a write.
 *
 * @param table the name of the table, for messages
 */
final private[iceberglite] case class RowCheck(table: String, conditions: Vector[RowCondition]) {

  /** Returns the check for one task. Tasks cannot share it, because its compiled code has state. */
  def newChecker(): RowChecker = new RowChecker(this)
}

/** Checks the rows of one task. */
final private[iceberglite] class RowChecker(check: RowCheck) {
  private val predicate = Predicate.create(check.conditions.map(_.isSatisfied).reduce(And(_, _)))

  /** @throws iceberglite.spark.error.StatementError if the row violates a rule; the message shows the values */
  def require(row: InternalRow): Unit = if (!predicate.eval(row)) throw SparkErrors.of(check.table, violation(row))

  private def violation(row: InternalRow): IcebergError =
    check.conditions.find(_.isSatisfied.eval(row) == false).map { violated =>
      val values = violated.values.map { case (name, value) => name -> Option(value.eval(row)).map(_.toString) }
      RowCondition.violated(check.table, violated.rule, values)
    }.getOrElse(throw new IllegalStateException("The compiled and the interpreted conditions differ"))
}
