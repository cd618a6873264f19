package iceberglite.spark.constraint

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.{FunctionIdentifier, QueryPlanningTracker}
import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.ApplyCharTypePadding
import org.apache.spark.sql.iceberglite.BuiltInAnalyzer
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import iceberglite.spark.convert.{DeclaredTypes, SparkTypes}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.Schema

/**
 * Resolves the conditions of CHECK constraints. The text of a condition comes from the table's metadata, which another
 * program may have written. Therefore a condition can use only the columns of the table and Spark's built-in functions
 * whose result depends only on their arguments. The functions, tables and variables of the session are not visible.
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
    def reject(reason: String): Nothing = throw invalid(constraint, table, reason)
    val condition =
      try {
        val parsed = CatalystSqlParser.parseExpression(constraint.expression)
        unresolvedFault(parsed).foreach(reject)
        BuiltInAnalyzer.executeAndCheck(Filter(parsed, LocalRelation(columns)), new QueryPlanningTracker) match {
          case Filter(resolved, _: LocalRelation) => replaced(padded(withDeclaredNames(resolved, columns), columns))
          case _ => reject("It must be a condition on the columns of one row")
        }
      } catch {
        case error: InvalidArgument => throw error
        case _: StackOverflowError => reject("It is nested too deeply")
        case NonFatal(error) => reject(s"It must be a condition on the columns of the table: ${error.getMessage}")
      }
    resolvedFault(condition).foreach(reject)
    if (used(condition).isEmpty) reject("It must use a column of the table")
    condition
  }

  /**
   * Requires that all sessions parse a new condition in the same way.
   *
   * @throws InvalidArgument if the text contains double quotes, and the session reads them as quotes of identifiers
   */
  def requireSameInAllSessions(constraint: CheckConstraint, table: String): Unit =
    if (SQLConf.get.doubleQuotedIdentifiers && constraint.expression.contains('"')) {
      val reason = "Write column names in backticks: a double-quoted text is a string in other sessions"
      throw invalid(constraint, table, reason)
    }

  private def invalid(constraint: CheckConstraint, table: String, reason: String): InvalidArgument =
    InvalidArgument(s"CHECK constraint ${constraint.name} of $table", constraint.expression, reason)

  /** Replaces the names as written in the condition, possibly in another case, by the names in the schema. */
  private def withDeclaredNames(condition: Expression, columns: Seq[Attribute]): Expression = condition.transform {
    case column: AttributeReference => columns.find(_.exprId == column.exprId).getOrElse(column)
    case field: GetStructField => field.copy(name = None)
  }

  /** Pads the values to which a condition compares CHAR columns, as Spark does for the conditions of queries. */
  private def padded(condition: Expression, columns: Seq[Attribute]): Expression =
    ApplyCharTypePadding(Filter(condition, LocalRelation(columns))) match {
      case Filter(withPadding, _) => withPadding
      case other => throw new IllegalStateException(s"Not a filter: $other")
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

  /** Returns the columns and the fields of structs that a condition uses: their paths, and their values. */
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
