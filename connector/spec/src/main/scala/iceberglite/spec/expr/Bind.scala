package iceberglite.spec.expr

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.expr.Evaluate.isNan
import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Identity, UnknownTransform, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{
  ConvertedLiteral,
  Literal,
  LiteralConversion,
  NestedField,
  NestedType,
  PrimitiveType,
  Type
}
import iceberglite.spec.types.Type._

/**
 * Replaces the names in an expression by fields of a schema and the literals by values of the fields' types. The result
 * contains no `Not`, no NaN literal, and no literal that is out of the range of its type. Predicates with such a
 * literal are replaced by equivalent predicates.
 *
 * Binding a bound expression again has no effect.
 */
object Bind {

  /**
   * Binds an expression.
   *
   * @throws IcebergError.NotFound if the schema has no column with a name in the expression
   * @throws IcebergError.InvalidArgument if a predicate is not valid for its column, for example a prefix test of an
   *   int column
   * @throws IcebergError.Unsupported if a term has an unknown transform
   */
  def apply(e: Expression, schema: Schema, caseSensitive: Boolean): Expression =
    new Bind(schema, caseSensitive).expression(withoutNot(e))
}

final private[iceberglite] class Bind(schema: Schema, caseSensitive: Boolean) {

  def expression(e: Expression): Expression = e match {
    case AlwaysTrue | AlwaysFalse => e
    case And(l, r) => and(expression(l), expression(r))
    case Or(l, r) => or(expression(l), expression(r))
    case Not(child) => expression(negate(child))
    case p: Predicate => predicate(p)
  }

  private def predicate(p: Predicate): Expression = {
    val term = bound(p.term)
    if (isAlwaysNull(term)) evaluateOnNull(p) else bindPredicate(p, term)
  }

  private def bound(term: Term): Term = term match {
    case Term.Named(name) =>
      val field = schema.require(name, caseSensitive)
      requireOutsideOfLists(field)
      Term.Bound(field, schema.names(field.id))
    case _: Term.Bound => term
    case part: Term.Part => part.copy(of = bound(part.of))
    case Term.Transformed(Identity, of) => bound(of)
    case Term.Transformed(unknown: UnknownTransform, of) =>
      throw Unsupported(s"a filter on $unknown($of)", "Filter on the column itself")
    case Term.Transformed(transform, of) =>
      val source = bound(of)
      val sourceType = valueType(source)
      if (!sourceType.exists(transform.canTransform)) {
        throw InvalidArgument("filter", term.toString, s"$transform does not support ${typeName(source)}")
      }
      Term.Transformed(transform, source)
  }

  /** Checks that a column is outside of lists and maps, so that each row has exactly one value of the column. */
  private def requireOutsideOfLists(field: NestedField): Unit =
    ancestors(field.id).find(a => !a.fieldType.isInstanceOf[StructType]).foreach { a =>
      throw InvalidArgument(
        "filter column",
        schema.names(field.id),
        s"It is inside ${schema.names(a.id)}, a list or map. Filter on a column outside of it"
      )
    }

  private def ancestors(id: Int): Vector[NestedField] =
    schema.parents.get(id).fold(Vector.empty[NestedField])(p => schema.byId(p) +: ancestors(p))

  private def isAlwaysNull(term: Term): Boolean = term match {
    case Term.Transformed(transform, of) => transform == Void || isAlwaysNull(of)
    case Term.Part(of, _, _) => isAlwaysNull(of)
    case Term.Bound(field, _) => (field.fieldType: Type) == UnknownType
    case _: Term.Named => false
  }

  private def evaluateOnNull(p: Predicate): Expression = p match {
    case _: IsNull | _: NotNan => AlwaysTrue
    case _ => AlwaysFalse
  }

  private def bindPredicate(p: Predicate, term: Term): Expression = p match {
    case IsNull(_) => if (isRequired(column(term))) AlwaysFalse else IsNull(column(term))
    case NotNull(_) => notNull(term)
    case IsNan(_) => if (isFloating(term)) IsNan(term) else AlwaysFalse
    case NotNan(_) => if (isFloating(term)) NotNan(term) else AlwaysTrue
    case LessThan(_, v) => less(p, term, v, orEqual = false)
    case LessThanOrEqual(_, v) => less(p, term, v, orEqual = true)
    case GreaterThan(_, v) => greater(p, term, v, orEqual = false)
    case GreaterThanOrEqual(_, v) => greater(p, term, v, orEqual = true)
    case Equal(_, v) => equalToAny(p, term, Set(v))
    case In(_, vs) => equalToAny(p, term, vs)
    case NotEqual(_, v) => equalToNone(p, term, Set(v))
    case NotIn(_, vs) => equalToNone(p, term, vs)
    case StartsWith(_, prefix) =>
      requireString(p, term)
      if (prefix.isEmpty) notNull(term) else StartsWith(term, prefix)
    case NotStartsWith(_, prefix) =>
      requireString(p, term)
      if (prefix.isEmpty) AlwaysFalse else NotStartsWith(term, prefix)
    case BoxIntersects(_, box) =>
      requireSpatial(p, term)
      BoxIntersects(term, box)
    case BoxDisjoint(_, box) =>
      requireSpatial(p, term)
      BoxDisjoint(term, box)
  }

  private def less(p: Predicate, term: Term, value: Literal, orEqual: Boolean): Expression =
    convert(p, term, value) match {
      case ConvertedLiteral.Exact(v) if isNan(v) => if (orEqual) notNull(term) else and(notNull(term), NotNan(term))
      case ConvertedLiteral.Exact(v) => if (orEqual) LessThanOrEqual(term, v) else LessThan(term, v)
      case ConvertedLiteral.JustAbove(v) => LessThanOrEqual(term, v)
      case ConvertedLiteral.JustBelow(v) => LessThan(term, v)
      case ConvertedLiteral.AboveAll => notNull(term)
      case ConvertedLiteral.BelowAll => AlwaysFalse
    }

  private def greater(p: Predicate, term: Term, value: Literal, orEqual: Boolean): Expression =
    convert(p, term, value) match {
      case ConvertedLiteral.Exact(v) if isNan(v) => if (orEqual) IsNan(term) else AlwaysFalse
      case ConvertedLiteral.Exact(v) => if (orEqual) GreaterThanOrEqual(term, v) else GreaterThan(term, v)
      case ConvertedLiteral.JustAbove(v) => GreaterThan(term, v)
      case ConvertedLiteral.JustBelow(v) => GreaterThanOrEqual(term, v)
      case ConvertedLiteral.AboveAll => AlwaysFalse
      case ConvertedLiteral.BelowAll => notNull(term)
    }

  /**
   * Returns a condition that is true if the term equals one of the values. Values that the type of the term cannot
   * represent are removed, because no row has these values.
   */
  private def equalToAny(p: Predicate, term: Term, values: Set[Literal]): Expression = {
    val (nan, rest) = representable(p, term, values).partition(isNan)
    val equal = if (rest.isEmpty) AlwaysFalse else if (rest.size == 1) Equal(term, rest.head) else In(term, rest)
    if (nan.isEmpty) equal else or(IsNan(term), equal)
  }

  private def equalToNone(p: Predicate, term: Term, values: Set[Literal]): Expression = {
    val (nan, rest) = representable(p, term, values).partition(isNan)
    val notEqual =
      if (rest.isEmpty) notNull(term) else if (rest.size == 1) NotEqual(term, rest.head) else NotIn(term, rest)
    if (nan.isEmpty) notEqual else and(NotNan(term), notEqual)
  }

  private def representable(p: Predicate, term: Term, values: Set[Literal]): Set[Literal] =
    values.map(convert(p, term, _)).collect { case ConvertedLiteral.Exact(v) => v }

  private def convert(p: Predicate, term: Term, value: Literal): ConvertedLiteral =
    valueType(term).flatMap(LiteralConversion.convert(value, _)).getOrElse(
      throw InvalidArgument(
        "filter",
        p.toString,
        s"$term has type ${typeName(term)}, but the value has type ${value.dataType}"
      )
    )

  private def notNull(term: Term): Expression =
    if (isRequired(column(term))) AlwaysTrue else NotNull(column(term))

  /**
   * Returns the column to which a null test of the term applies. A transform returns null if and only if the value of
   * the column is null. The transform void is handled before this method is called.
   */
  private def column(term: Term): Term = term match {
    case Term.Transformed(_, of) => column(of)
    case _: Term.Bound | _: Term.Named | _: Term.Part => term
  }

  /** Whether a term is never null. This is the case for a required field if all enclosing structs are required. */
  private def isRequired(term: Term): Boolean = term match {
    case Term.Bound(field, _) =>
      schema.byId.contains(field.id) && field.required && ancestors(field.id).forall(_.required)
    case _: Term.Named | _: Term.Transformed | _: Term.Part => false
  }

  private def valueType(term: Term): Option[PrimitiveType] = term match {
    case Term.Bound(field, _) =>
      field.fieldType match {
        case p: PrimitiveType => Some(p)
        case _: NestedType => None
      }
    case Term.Transformed(transform, of) => valueType(of).map(transform.resultType)
    case Term.Part(_, _, t) => Some(t)
    case _: Term.Named => None
  }

  private def typeName(term: Term): String = term match {
    case Term.Bound(field, _) => field.fieldType.toString
    case _ => valueType(term).fold("no type")(_.toString)
  }

  private def isFloating(term: Term): Boolean = valueType(term).exists(t => t == FloatType || t == DoubleType)

  private def requireSpatial(p: Predicate, term: Term): Unit = valueType(term) match {
    case Some(_: GeometryType | _: GeographyType) => ()
    case _ =>
      throw InvalidArgument("filter", p.toString, s"$term has type ${typeName(term)}, but only geometries have a box")
  }

  private def requireString(p: Predicate, term: Term): Unit =
    if (!valueType(term).contains(StringType)) {
      throw InvalidArgument("filter", p.toString, s"$term has type ${typeName(term)}, but only strings have a prefix")
    }
}
