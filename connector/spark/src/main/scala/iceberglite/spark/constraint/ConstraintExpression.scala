package iceberglite.spark.constraint

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.{FunctionIdentifier, QueryPlanningTracker}
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.{CharVarcharCodegenUtils, CharVarcharUtils}
import org.apache.spark.sql.execution.datasources.ApplyCharTypePadding
import org.apache.spark.sql.iceberglite.BuiltInAnalyzer
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{CharType, StringType, StructType}

import iceberglite.spark.convert.{DeclaredTypes, SparkTypes}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.Schema

/**
 * The text of an expression on the columns of a row.
 *
 * @param name the name of the constraint or column to which the text belongs, for messages
 * @param noun the kind of the expression, for messages
 */
final private[constraint] case class RowExpressionText(name: String, sql: String, noun: String) {
  def invalid(reason: String): InvalidArgument = InvalidArgument(name, sql, reason)
}

/**
 * Resolves the conditions of CHECK constraints and the expressions of generated columns. The texts come from the
 * table's metadata, which another program may have written. Therefore an expression can use only the columns of the
 * table and Spark's built-in functions. Built-in functions whose result changes between calls or with the time, such as
 * `rand` and `current_date`, are rejected. The functions, tables and variables of the session are not visible.
 */
private[iceberglite] object ConstraintExpression {

  /** Returns the columns of a table as attributes, with the types that Spark uses. */
  def columns(schema: Schema, properties: Map[String, String]): Seq[AttributeReference] = {
    val declared = DeclaredTypes.withDeclaredTypes(SparkTypes.toSpark(schema), schema.fields, properties)
    DataTypeUtils.toAttributes(CharVarcharUtils.replaceCharVarcharWithStringInSchema(StructType(declared.fields)))
  }

  /**
   * Returns the condition of a constraint.
   *
   * @param columns the columns of the table
   * @param table the name of the table, for messages
   * @throws InvalidArgument if the text is not a permitted condition on the columns; the message names the constraint
   */
  def resolve(constraint: CheckConstraint, columns: Seq[Attribute], table: String): Expression = {
    val text = textOf(constraint, table)
    val condition = resolved(text, columns)(Filter(_, LocalRelation(columns)))
    if (used(condition).isEmpty) throw text.invalid("It must use a column of the table")
    condition
  }

  /**
   * Returns the expression of a generated column. The type of the expression may differ from the type of the column.
   *
   * @throws InvalidArgument if the text is not a permitted expression on the columns
   */
  private[constraint] def resolveValue(text: RowExpressionText, columns: Seq[Attribute]): Expression =
    resolved(text, columns)(parsed => Project(Seq(Alias(parsed, "value")()), LocalRelation(columns)))

  /**
   * Whether an expression on the columns of a table needs several rows, as an aggregate or a window function does. The
   * result is false if the expression cannot be resolved.
   */
  def usesSeveralRows(sql: String, columns: StructType): Boolean = Try {
    val attributes = DataTypeUtils.toAttributes(CharVarcharUtils.replaceCharVarcharWithStringInSchema(columns))
    val parsed = CatalystSqlParser.parseExpression(sql)
    val plan = Project(Seq(Alias(parsed, "value")()), LocalRelation(attributes))
    expressionOf(BuiltInAnalyzer.executeAndCheck(plan, new QueryPlanningTracker)).isEmpty
  }.getOrElse(false)

  private def resolved(
      text: RowExpressionText,
      columns: Seq[Attribute]
  )(plan: Expression => LogicalPlan): Expression = {
    def reject(reason: String): Nothing = throw text.invalid(reason)
    val expression =
      try {
        val parsed = SQLConf.withExistingConf(parserConf)(CatalystSqlParser.parseExpression(text.sql))
        unresolvedFault(parsed).foreach(reject)
        expressionOf(BuiltInAnalyzer.executeAndCheck(plan(parsed), new QueryPlanningTracker)) match {
          case Some(result) => replaced(padded(plan(withDeclaredNames(result, columns))))
          case None => reject(s"It must be ${text.noun} on the columns of one row")
        }
      } catch {
        case error: InvalidArgument => throw error
        case _: StackOverflowError => reject("It is nested too deeply")
        case NonFatal(error) => reject(s"It must be ${text.noun} on the columns of the table: ${error.getMessage}")
      }
    resolvedFault(expression).foreach(reject)
    expression
  }

  /** The session's settings, with Spark's defaults for the settings that change how an expression is parsed. */
  private def parserConf: SQLConf = {
    val fixed = SQLConf.get.clone()
    fixed.setConf(SQLConf.ESCAPED_STRING_LITERALS, false)
    fixed.setConf(SQLConf.DOUBLE_QUOTED_IDENTIFIERS, false)
    fixed
  }

  private def expressionOf(plan: LogicalPlan): Option[Expression] = plan match {
    case Filter(condition, _: LocalRelation) => Some(condition)
    case Project(Seq(Alias(value, _)), _: LocalRelation) => Some(value)
    case _ => None
  }

  /**
   * Requires that a new condition means the same in all sessions as in the session that adds it. All sessions parse
   * conditions with the default settings of Spark.
   *
   * @throws InvalidArgument if the text contains double quotes and the session reads double quotes as quotes of
   *   identifiers, or if the text contains backslashes and the session reads backslashes as part of strings
   */
  def requireSameInAllSessions(constraint: CheckConstraint, table: String): Unit =
    requireSameInAllSessions(textOf(constraint, table))

  private[constraint] def requireSameInAllSessions(text: RowExpressionText): Unit = {
    if (SQLConf.get.doubleQuotedIdentifiers && text.sql.contains('"'))
      throw text.invalid("Write column names in backticks: a double-quoted text is a string in other sessions")
    if (SQLConf.get.escapedStringLiterals && text.sql.contains('\\')) throw text.invalid(
      s"A backslash has another meaning in other sessions: set ${SQLConf.ESCAPED_STRING_LITERALS.key} to false"
    )
  }

  private def textOf(constraint: CheckConstraint, table: String): RowExpressionText =
    RowExpressionText(s"CHECK constraint ${constraint.name} of $table", constraint.expression, "a condition")

  /** Replaces the names as written in the expression, possibly in another case, by the names in the schema. */
  private def withDeclaredNames(condition: Expression, columns: Seq[Attribute]): Expression = condition.transform {
    case column: AttributeReference => columns.find(_.exprId == column.exprId).getOrElse(column)
    case field: GetStructField => field.copy(name = None)
  }

  /** Pads the values to which an expression compares CHAR columns, as Spark does in queries. */
  private def padded(plan: LogicalPlan): Expression = expressionOf(ApplyCharTypePadding(plan)).getOrElse(
    throw new IllegalStateException(s"Not an expression on the columns of one row: $plan")
  )

  /** Pads the value of a CHAR column as reads do. Spark does not pad values for tables that accept any schema. */
  def paddedAsRead(value: Expression, column: AttributeReference): Expression =
    CharVarcharUtils.getRawType(column.metadata) match {
      case Some(CharType(length)) if !SQLConf.get.charVarcharAsString =>
        StaticInvoke(classOf[CharVarcharCodegenUtils], StringType, "readSidePadding", Seq(value, Literal(length)))
      case _ => value
    }

  private def unresolvedFault(parsed: Expression): Option[String] = parsed.collectFirst {
    case _: Alias => "It must not have an alias"
    case _: PlanExpression[_] => "It must not contain a subquery"
    case f: UnresolvedFunction if !isBuiltIn(f) => s"${f.nameParts.mkString(".")} is not a built-in function of Spark"
  }

  private def isBuiltIn(function: UnresolvedFunction): Boolean =
    function.nameParts.size == 1 && FunctionRegistry.builtin.functionExists(FunctionIdentifier(function.nameParts.head))

  private def resolvedFault(condition: Expression): Option[String] = condition.collectFirst {
    case e: CallMethodViaReflection => s"The function ${e.prettyName} is not permitted"
    case _: UserDefinedExpression => "It must not call user-defined functions"
    case e @ (_: Nondeterministic | _: CurrentDate | _: CurrentTimestampLike | _: LocalTimestamp) => depends(e)
    case e: Unevaluable if !e.isInstanceOf[Attribute] => depends(e)
    case e if !e.deterministic && e.children.forall(_.deterministic) => depends(e)
  }

  private def depends(expression: Expression): String =
    s"The result of ${expression.prettyName} must depend only on the values of the row"

  /** Replaces the functions that Spark's optimizer replaces by other expressions. */
  private def replaced(expression: Expression): Expression = expression match {
    case function: RuntimeReplaceable => replaced(function.replacement)
    case other => other.mapChildren(replaced)
  }

  /**
   * Returns the columns and struct fields that a condition uses, each with its path and the expression for its value.
   */
  def used(condition: Expression): Vector[(Vector[String], Expression)] =
    usedIn(condition).foldLeft(Vector.empty[(Vector[String], Expression)]) { (found, next) =>
      if (found.exists(_._1 == next._1)) found else found :+ next
    }

  private def usedIn(expression: Expression): Vector[(Vector[String], Expression)] =
    pathOf(expression).fold(expression.children.toVector.flatMap(usedIn))(path => Vector(path -> expression))

  private def pathOf(expression: Expression): Option[Vector[String]] = expression match {
    case column: AttributeReference => Some(Vector(column.name))
    case field: GetStructField => pathOf(field.child).map(_ :+ field.extractFieldName)
    case _ => None
  }
}
