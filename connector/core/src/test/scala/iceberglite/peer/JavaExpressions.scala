package iceberglite.peer

import scala.collection.JavaConverters._

import org.apache.iceberg.expressions.{Expression => PeerExpression, Expressions}

import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.Literal

/** Converts expressions to Apache Iceberg's unbound expressions, which refer to columns by name. */
object JavaExpressions {
  def of(e: Expression): PeerExpression = e match {
    case AlwaysTrue => Expressions.alwaysTrue
    case AlwaysFalse => Expressions.alwaysFalse
    case And(l, r) => Expressions.and(of(l), of(r))
    case Or(l, r) => Expressions.or(of(l), of(r))
    case Not(child) => Expressions.not(of(child))
    case IsNull(t) => Expressions.isNull(name(t))
    case NotNull(t) => Expressions.notNull(name(t))
    case IsNan(t) => Expressions.isNaN(name(t))
    case NotNan(t) => Expressions.notNaN(name(t))
    case LessThan(t, v) => Expressions.lessThan(name(t), javaValue(v))
    case LessThanOrEqual(t, v) => Expressions.lessThanOrEqual(name(t), javaValue(v))
    case GreaterThan(t, v) => Expressions.greaterThan(name(t), javaValue(v))
    case GreaterThanOrEqual(t, v) => Expressions.greaterThanOrEqual(name(t), javaValue(v))
    case Equal(t, v) => Expressions.equal(name(t), javaValue(v))
    case NotEqual(t, v) => Expressions.notEqual(name(t), javaValue(v))
    case StartsWith(t, prefix) => Expressions.startsWith(name(t), prefix)
    case NotStartsWith(t, prefix) => Expressions.notStartsWith(name(t), prefix)
    case In(t, values) => Expressions.in(name(t), values.toSeq.map(javaValue).asJava)
    case NotIn(t, values) => Expressions.notIn(name(t), values.toSeq.map(javaValue).asJava)
    case _: BoxIntersects | _: BoxDisjoint =>
      throw new IllegalArgumentException(s"Apache Iceberg has no filter for $e")
  }

  private def javaValue(value: Literal): AnyRef = Literal.javaValue(value)

  private def name(term: Term): String = term match {
    case Term.Named(name) => name
    case Term.Bound(_, name) => name
    case _: Term.Transformed | _: Term.Part => throw new IllegalArgumentException(s"The term $term is not a column")
  }
}
