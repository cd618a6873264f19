package iceberglite.spark.convert

import org.apache.spark.sql.connector.expressions.{
  Expression => SparkExpression,
  Literal => SparkLiteral,
  NamedReference,
  UserDefinedScalarFunc
}
import org.apache.spark.sql.connector.expressions.filter.{Predicate => SparkPredicate}

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.geo.BoundingBox
import iceberglite.spec.partition.{Transform, Transforms}
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.types.Type.{GeographyType, GeometryType, StringType, StructType, VariantType}

/**
 * A Spark filter, converted to an Iceberg expression.
 *
 * @param expression the expression, bound to the columns of the schema. It is true for every row for which the Spark
 *   filter is true
 * @param exact whether the expression is false for all other rows
 */
final case class ConvertedFilter(expression: Expression, exact: Boolean)

/**
 * Converts Spark's filters to Iceberg expressions.
 *
 * Spark filters use three-valued logic: true, false and null. An exact expression is true if the filter is true, and
 * false if the filter is false or null. Therefore, the conversion moves each NOT down to the individual predicates of a
 * filter, where false and null can be distinguished.
 *
 * @param schema the columns to which the filters refer
 * @param stringValues returns all values that the string column with the given id has in the files to read; absent if
 *   these values are unknown
 */
final class SparkFilters(schema: Schema, caseSensitive: Boolean, stringValues: Int => Option[Set[String]] = _ => None) {

  /**
   * Returns an expression that is equivalent to a filter, if there is one. An equivalent expression can select the rows
   * that a statement changes, because it selects exactly the rows that the filter selects.
   */
  def exact(filter: SparkPredicate): Option[Expression] = convert(filter).filter(_.exact).map(_.expression)

  /**
   * Returns an expression that is true for all rows that satisfy the filter, and possibly for other rows. The
   * expression can be used to skip files.
   */
  def convert(filter: SparkPredicate): Option[ConvertedFilter] = convert(filter, holds = true)
    // Only Spark evaluates parts of variants.
    .map(c => c.copy(exact = c.exact && !c.expression.testsVariants))

  /**
   * Converts a filter or its negation. If `holds` is true, the expression is true for the rows for which the filter is
   * true. Otherwise, the expression is true for the rows for which the filter is false.
   */
  private def convert(filter: SparkPredicate, holds: Boolean): Option[ConvertedFilter] = {
    val children = filter.children
    (filter.name, children) match {
      case ("ALWAYS_TRUE", _) => constant(holds)
      case ("ALWAYS_FALSE", _) => constant(!holds)
      case ("NOT", Array(p: SparkPredicate)) => convert(p, !holds)
      case ("AND", Array(l: SparkPredicate, r: SparkPredicate)) =>
        if (holds) conjunction(l, r, holds) else disjunction(l, r, holds)
      case ("OR", Array(l: SparkPredicate, r: SparkPredicate)) =>
        if (holds) disjunction(l, r, holds) else conjunction(l, r, holds)
      case ("IS_NULL", Array(child)) => nullTest(child, holds)
      case ("IS_NOT_NULL", Array(child)) => nullTest(child, !holds)
      case ("STARTS_WITH", Array(child, value: SparkLiteral[_])) => startsWith(child, value, holds)
      case ("ENDS_WITH", Array(child, value: SparkLiteral[_])) => inMatchingValues(child, value, _.endsWith(_), holds)
      case ("CONTAINS", Array(child, value: SparkLiteral[_])) => inMatchingValues(child, value, _.contains(_), holds)
      case ("=", Array(BoxTest(reference, box), _: SparkLiteral[_])) => boxTest(reference, box, holds)
      case ("IN", _) if children.nonEmpty => in(children.head, children.tail, holds)
      case (name, Array(child, value: SparkLiteral[_])) => comparison(name, child, value, holds)
      case (name, Array(value: SparkLiteral[_], child)) => mirror(name).flatMap(comparison(_, child, value, holds))
      case _ => None
    }
  }

  private def constant(value: Boolean): Option[ConvertedFilter] = exactFilter(if (value) AlwaysTrue else AlwaysFalse)

  private def exactFilter(e: Expression): Option[ConvertedFilter] = Some(ConvertedFilter(e, exact = true))

  /**
   * Combines two filters with AND. If only one of the filters can be converted, the result is the converted filter,
   * which can still be used to skip files.
   */
  private def conjunction(l: SparkPredicate, r: SparkPredicate, holds: Boolean): Option[ConvertedFilter] =
    (convert(l, holds), convert(r, holds)) match {
      case (Some(a), Some(b)) => Some(ConvertedFilter(and(a.expression, b.expression), a.exact && b.exact))
      case (a, b) => a.orElse(b).map(_.copy(exact = false))
    }

  private def disjunction(l: SparkPredicate, r: SparkPredicate, holds: Boolean): Option[ConvertedFilter] =
    for (a <- convert(l, holds); b <- convert(r, holds))
      yield ConvertedFilter(or(a.expression, b.expression), a.exact && b.exact)

  private def nullTest(child: SparkExpression, isNull: Boolean): Option[ConvertedFilter] =
    column(child).flatMap { case (term, _) => exactFilter(if (isNull) IsNull(term) else NotNull(term)) }

  private def startsWith(child: SparkExpression, value: SparkLiteral[_], holds: Boolean): Option[ConvertedFilter] =
    column(child).filter(_._2 == StringType).flatMap { case (term, _) =>
      if (value.value == null) constant(value = false)
      else {
        val prefix = value.value.toString
        exactFilter(if (holds) StartsWith(term, prefix) else NotStartsWith(term, prefix))
      }
    }

  /**
   * Converts a string predicate that lower and upper bounds cannot decide, such as CONTAINS. If all values of the
   * column are known, the result is an IN predicate with the values that satisfy the string predicate; otherwise, the
   * predicate is not converted.
   */
  private def inMatchingValues(
      child: SparkExpression,
      value: SparkLiteral[_],
      test: (String, String) => Boolean,
      holds: Boolean
  ): Option[ConvertedFilter] = column(child).flatMap {
    case (term @ Term.Bound(field, _), StringType) =>
      if (value.value == null) constant(value = false)
      else {
        stringValues(field.id).flatMap { all =>
          exactFilter(In(term, all.filter(test(_, value.value.toString) == holds).map(StringLiteral)))
        }
      }
    case _ => None
  }

  /**
   * Converts a test of the bounding box of a geometry. The result is not exact, because [[BoxIntersects]] is also true
   * for values that are not WKB. The negation of the test is not converted.
   */
  private def boxTest(reference: NamedReference, box: BoundingBox, holds: Boolean): Option[ConvertedFilter] =
    field(reference).collect {
      case (term, _: GeometryType | _: GeographyType) if holds =>
        ConvertedFilter(BoxIntersects(term, box), exact = false)
    }

  /** Converts an IN predicate. If the list contains a null, the predicate is true or null, but never false. */
  private def in(child: SparkExpression, values: Array[SparkExpression], holds: Boolean): Option[ConvertedFilter] =
    column(child).flatMap { case (term, t) =>
      val literalValues = values.collect { case v: SparkLiteral[_] => Option(v.value) }
      val literals = literalValues.flatten.map(SparkValues.fromSpark(_, t))
      if (literalValues.length != values.length || literals.exists(_.isEmpty)) None
      else if (!holds && literalValues.contains(None)) constant(value = false)
      else exactFilter(if (holds) In(term, literals.flatten.toSet) else NotIn(term, literals.flatten.toSet))
    }

  private def comparison(
      name: String,
      child: SparkExpression,
      value: SparkLiteral[_],
      holds: Boolean
  ): Option[ConvertedFilter] = column(child).flatMap { case (term, t) =>
    Option(value.value) match {
      case None if name == "<=>" => exactFilter(if (holds) IsNull(term) else NotNull(term))
      case None => if (Comparisons.contains(name)) constant(value = false) else None
      case Some(v) => SparkValues.fromSpark(v, t).flatMap(test(name, term, _, holds)).flatMap(exactFilter)
    }
  }

  private def test(name: String, term: Term, value: Literal, holds: Boolean): Option[Expression] = name match {
    case "=" => Some(if (holds) Equal(term, value) else NotEqual(term, value))
    case "<>" => Some(if (holds) NotEqual(term, value) else Equal(term, value))
    case "<=>" => Some(if (holds) Equal(term, value) else Or(IsNull(term), NotEqual(term, value)))
    case "<" => Some(if (holds) LessThan(term, value) else GreaterThanOrEqual(term, value))
    case "<=" => Some(if (holds) LessThanOrEqual(term, value) else GreaterThan(term, value))
    case ">" => Some(if (holds) GreaterThan(term, value) else LessThanOrEqual(term, value))
    case ">=" => Some(if (holds) GreaterThanOrEqual(term, value) else LessThan(term, value))
    case _ => None
  }

  private val Comparisons = Set("=", "<>", "<", "<=", ">", ">=")

  private def mirror(name: String): Option[String] = name match {
    case "=" | "<>" | "<=>" => Some(name)
    case "<" => Some(">")
    case "<=" => Some(">=")
    case ">" => Some("<")
    case ">=" => Some("<=")
    case _ => None
  }

  /**
   * Returns the term for a Spark expression, and the type of the term's values. The result is absent unless the
   * expression is a column, or a call of a transform function such as `system.days` on a column.
   */
  private def column(e: SparkExpression): Option[(Term, PrimitiveType)] = e match {
    case reference: NamedReference => field(reference)
    case PartTest(reference, path, t) =>
      field(reference).collect { case (column, VariantType) => (Term.Part(column, path, t), t) }
    case function: UserDefinedScalarFunc =>
      for {
        reference <- function.children.collectFirst { case r: NamedReference => r }
        (source, t) <- field(reference)
        transform <- FilterTransforms.transformOf(function)
        if transform.canTransform(t)
      } yield (Term.Transformed(transform, source), transform.resultType(t))
    case _ => None
  }

  private def field(reference: NamedReference): Option[(Term, PrimitiveType)] = {
    val path = find(reference, caseSensitive = true).orElse(find(reference, caseSensitive)).getOrElse(Vector.empty)
    path.lastOption.filter(_ => path.init.forall(_.fieldType.isInstanceOf[StructType])).flatMap { f =>
      f.fieldType match {
        case t: PrimitiveType => Some((Term.Bound(f, schema.names(f.id)), t))
        case _ => None
      }
    }
  }

  /**
   * Returns the path of a column, beginning with its top-level column. The path is absent for a metadata column, and
   * for a name that is ambiguous if case is ignored. Filters on such columns are not pushed down.
   */
  private def find(reference: NamedReference, caseSensitive: Boolean): Option[Vector[NestedField]] =
    try Some(ColumnPath.require(schema, reference.fieldNames.toVector, caseSensitive))
    catch { case _: NotFound | _: InvalidArgument => None }
}

/**
 * Recognizes the functions `system.bucket`, `system.days` and the other transform functions in filters that Spark
 * pushes down.
 */
private object FilterTransforms {

  /** Maps the names of SQL functions to the names of transforms in the specification, such as `days` to `day`. */
  private val transformNames = Map("years" -> "year", "months" -> "month", "days" -> "day", "hours" -> "hour")

  /**
   * Returns the transform that a function computes. The function is recognized by its canonical name, which is the same
   * in the connector and in Apache Iceberg.
   */
  def transformOf(function: UserDefinedScalarFunc): Option[Transform] =
    if (!function.canonicalName.startsWith(s"iceberg.${function.name}(")) None
    else {
      val json = function.children match {
        case Array(_: NamedReference) => Some(transformNames.getOrElse(function.name, function.name))
        case Array(parameter: SparkLiteral[_], _: NamedReference) => Some(s"${function.name}[${parameter.value}]")
        case _ => None
      }
      json.flatMap(text => Transforms.all.flatMap(_.parse(text)).headOption)
    }
}
