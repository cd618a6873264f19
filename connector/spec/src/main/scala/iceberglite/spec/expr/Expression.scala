package iceberglite.spec.expr

import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, Not, Or}
import iceberglite.spec.geo.BoundingBox
import iceberglite.spec.partition.Transform
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}

/**
 * A condition on the rows of a table, or on the partitions of a partition spec. The terms of an unbound expression
 * refer to columns by name. [[Bind]] replaces the names by fields, and thereby returns a bound expression.
 *
 * Every comparison with null is false, as in a WHERE clause. A negated comparison with null must also be false.
 * Therefore `Not` is pushed inward before an expression is evaluated.
 */
sealed trait Expression extends Product with Serializable {

  /** The fields that the terms of a bound expression refer to. */
  def fields: Set[NestedField] = this match {
    case And(left, right) => left.fields ++ right.fields
    case Or(left, right) => left.fields ++ right.fields
    case Not(child) => child.fields
    case predicate: Predicate => predicate.term.column.toSet
    case AlwaysTrue | AlwaysFalse => Set.empty
  }

  /** The ids of [[fields]]. */
  def fieldIds: Set[Int] = fields.map(_.id)

  /** Whether a term is a part of a variant. */
  def testsVariants: Boolean = this match {
    case And(left, right) => left.testsVariants || right.testsVariants
    case Or(left, right) => left.testsVariants || right.testsVariants
    case Not(child) => child.testsVariants
    case predicate: Predicate => predicate.term.isInstanceOf[Term.Part]
    case AlwaysTrue | AlwaysFalse => false
  }
}

/** A test of one term: a leaf of an expression. */
sealed trait Predicate extends Expression {
  def term: Term
}

/** The operand of a predicate. */
sealed trait Term extends Product with Serializable {

  /** The field of a bound term. */
  def column: Option[NestedField]
}

object Term {

  /** A column that is identified by its full name. */
  final case class Named(name: String) extends Term {
    override def column: Option[NestedField] = None
    override def toString: String = name
  }

  /** A column or a partition field that is identified by its field id. */
  final case class Bound(field: NestedField, name: String) extends Term {
    override def column: Option[NestedField] = Some(field)
    override def toString: String = name
  }

  /**
   * A part of a variant, cast to a type. The term is null if the variant has no such part.
   *
   * @param path the names of the fields that lead from the root of the variant to the part
   */
  final case class Part(of: Term, path: Vector[String], valueType: PrimitiveType) extends Term {
    override def column: Option[NestedField] = of.column
    override def toString: String = s"variant_get($of, ${VariantPart.nameOf(path)}, $valueType)"
  }

  /** A transform that is applied to a term, such as `day(ts)`. */
  final case class Transformed(transform: Transform, of: Term) extends Term {
    override def column: Option[NestedField] = of.column
    override def toString: String = s"$transform($of)"
  }
}

object Expression {
  case object AlwaysTrue extends Expression { override def toString = "true" }
  case object AlwaysFalse extends Expression { override def toString = "false" }
  final case class And(left: Expression, right: Expression) extends Expression {
    override def toString = s"($left AND $right)"
  }
  final case class Or(left: Expression, right: Expression) extends Expression {
    override def toString = s"($left OR $right)"
  }
  final case class Not(child: Expression) extends Expression { override def toString = s"NOT $child" }

  final case class IsNull(term: Term) extends Predicate { override def toString = s"$term IS NULL" }
  final case class NotNull(term: Term) extends Predicate { override def toString = s"$term IS NOT NULL" }
  final case class IsNan(term: Term) extends Predicate { override def toString = s"$term IS NAN" }
  final case class NotNan(term: Term) extends Predicate { override def toString = s"$term IS NOT NAN" }

  final case class LessThan(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term < ${show(value)}"
  }
  final case class LessThanOrEqual(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term <= ${show(value)}"
  }
  final case class GreaterThan(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term > ${show(value)}"
  }
  final case class GreaterThanOrEqual(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term >= ${show(value)}"
  }
  final case class Equal(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term = ${show(value)}"
  }
  final case class NotEqual(term: Term, value: Literal) extends Predicate {
    override def toString = s"$term <> ${show(value)}"
  }
  final case class StartsWith(term: Term, prefix: String) extends Predicate {
    override def toString = s"$term LIKE '$prefix%'"
  }
  final case class NotStartsWith(term: Term, prefix: String) extends Predicate {
    override def toString = s"$term NOT LIKE '$prefix%'"
  }
  final case class In(term: Term, values: Set[Literal]) extends Predicate {
    override def toString = s"$term IN ${showAll(values)}"
  }
  final case class NotIn(term: Term, values: Set[Literal]) extends Predicate {
    override def toString = s"$term NOT IN ${showAll(values)}"
  }

  /** Whether the bounding box of a geometry intersects a box. An empty geometry has no bounding box. */
  final case class BoxIntersects(term: Term, box: BoundingBox) extends Predicate {
    override def toString = s"$term INTERSECTS $box"
  }

  /** The negation of [[BoxIntersects]]. */
  final case class BoxDisjoint(term: Term, box: BoundingBox) extends Predicate {
    override def toString = s"$term DISJOINT FROM $box"
  }

  /** Returns the conjunction of two expressions. It is simplified if one of them is constant. */
  def and(left: Expression, right: Expression): Expression = (left, right) match {
    case (AlwaysFalse, _) | (_, AlwaysFalse) => AlwaysFalse
    case (AlwaysTrue, e) => e
    case (e, AlwaysTrue) => e
    case _ => And(left, right)
  }

  /** Returns the disjunction of two expressions. It is simplified if one of them is constant. */
  def or(left: Expression, right: Expression): Expression = (left, right) match {
    case (AlwaysTrue, _) | (_, AlwaysTrue) => AlwaysTrue
    case (AlwaysFalse, e) => e
    case (e, AlwaysFalse) => e
    case _ => Or(left, right)
  }

  /**
   * Returns the negation of an expression. The negation is pushed inward to the predicates, so that the result contains
   * no `Not`.
   */
  def negate(e: Expression): Expression = e match {
    case AlwaysTrue => AlwaysFalse
    case AlwaysFalse => AlwaysTrue
    case And(l, r) => or(negate(l), negate(r))
    case Or(l, r) => and(negate(l), negate(r))
    case Not(child) => withoutNot(child)
    case IsNull(t) => NotNull(t)
    case NotNull(t) => IsNull(t)
    case IsNan(t) => NotNan(t)
    case NotNan(t) => IsNan(t)
    case LessThan(t, v) => GreaterThanOrEqual(t, v)
    case LessThanOrEqual(t, v) => GreaterThan(t, v)
    case GreaterThan(t, v) => LessThanOrEqual(t, v)
    case GreaterThanOrEqual(t, v) => LessThan(t, v)
    case Equal(t, v) => NotEqual(t, v)
    case NotEqual(t, v) => Equal(t, v)
    case StartsWith(t, p) => NotStartsWith(t, p)
    case NotStartsWith(t, p) => StartsWith(t, p)
    case In(t, vs) => NotIn(t, vs)
    case NotIn(t, vs) => In(t, vs)
    case BoxIntersects(t, box) => BoxDisjoint(t, box)
    case BoxDisjoint(t, box) => BoxIntersects(t, box)
  }

  /** Returns an equivalent expression without `Not`. */
  def withoutNot(e: Expression): Expression = e match {
    case Not(child) => negate(child)
    case And(l, r) => and(withoutNot(l), withoutNot(r))
    case Or(l, r) => or(withoutNot(l), withoutNot(r))
    case leaf => leaf
  }

  /** Returns the operands of nested conjunctions, or the expression itself; empty for [[AlwaysTrue]]. */
  def conjuncts(e: Expression): Vector[Expression] = e match {
    case And(l, r) => conjuncts(l) ++ conjuncts(r)
    case AlwaysTrue => Vector.empty
    case other => Vector(other)
  }

  private def show(value: Literal): String = LiteralText.of(value)

  /** Formats at most ten values, because an IN list may contain thousands of values. */
  private def showAll(values: Set[Literal]): String = {
    val shown = values.toVector.sorted(Literal.ordering).take(10).map(show)
    shown.mkString("(", ", ", if (values.size > 10) s", ... ${values.size - 10} more)" else ")")
  }
}
