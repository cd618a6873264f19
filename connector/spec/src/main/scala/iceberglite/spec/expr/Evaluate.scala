package iceberglite.spec.expr

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.Expression._
import iceberglite.spec.geo.{BoundingBox, Wkb}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._

/** Evaluates bound expressions. Comparisons have Spark's semantics (see [[Evaluate.ordering]]). */
object Evaluate {

  /**
   * The order of values in comparisons of a query. As in [[Literal.ordering]], NaN equals NaN and is the greatest
   * value. Unlike in [[Literal.ordering]], -0.0 equals 0.0.
   */
  val ordering: Ordering[Literal] = new Ordering[Literal] {
    override def compare(x: Literal, y: Literal): Int = x match {
      case FloatLiteral(a) if isSame(a.toDouble, y) => 0
      case DoubleLiteral(a) if isSame(a, y) => 0
      case _ => Literal.ordering.compare(x, y)
    }

    private def isSame(a: Double, y: Literal): Boolean = y match {
      case FloatLiteral(b) => a == b.toDouble
      case DoubleLiteral(b) => a == b
      case _ => false
    }
  }

  /**
   * Returns a function that evaluates an expression for a partition tuple. The terms of the expression are bound to the
   * fields of the partition spec.
   */
  def tuple(bound: Expression, spec: PartitionSpec): PartitionTuple => Boolean = {
    val positions = spec.fields.map(_.fieldId).zipWithIndex.toMap
    rows[PartitionTuple](
      bound,
      id => {
        val known = spec.fields.map(_.fieldId).mkString(", ")
        val position = positions.getOrElse(
          id,
          throw InvalidArgument("partition field id", id.toString, s"The partition spec has the fields $known")
        )
        _.values(position)
      }
    )
  }

  /**
   * Returns a function that evaluates an expression for a row of type `R`.
   *
   * @param column returns a function that reads the field with the given id from a row; called once for each predicate,
   *   not for each row
   */
  def rows[R](bound: Expression, column: Int => R => Option[Literal]): R => Boolean = bound match {
    case AlwaysTrue => _ => true
    case AlwaysFalse => _ => false
    case And(l, r) =>
      val (left, right) = (rows(l, column), rows(r, column))
      row => left(row) && right(row)
    case Or(l, r) =>
      val (left, right) = (rows(l, column), rows(r, column))
      row => left(row) || right(row)
    case Not(child) => rows(negate(child), column)
    case p: Predicate =>
      val read = column(fieldId(p.term))
      val holds = test(p)
      row => holds(read(row))
  }

  private def fieldId(term: Term): Int = term match {
    case Term.Bound(field, _) => field.id
    case Term.Transformed(_, of) => fieldId(of)
    case _: Term.Part => throw InvalidArgument("filter", term.toString, "Parts of variants are tested by the engine")
    case Term.Named(name) => throw InvalidArgument("column", name, "Bind the expression before it is evaluated")
  }

  private def test(p: Predicate): Option[Literal] => Boolean = {
    val holds = onTerm(p)
    transformOf(p.term).fold(holds)(transformed => value => holds(value.flatMap(transformed)))
  }

  private def transformOf(term: Term): Option[Literal => Option[Literal]] = term match {
    case Term.Transformed(transform, of) =>
      val outer: Literal => Option[Literal] = transform(_)
      Some(transformOf(of).fold(outer)(inner => value => inner(value).flatMap(outer)))
    case _: Term.Bound | _: Term.Named | _: Term.Part => None
  }

  private def onTerm(p: Predicate): Option[Literal] => Boolean = p match {
    case IsNull(_) => _.isEmpty
    case NotNull(_) => _.isDefined
    case IsNan(_) => _.exists(isNan)
    case NotNan(_) => !_.exists(isNan)
    case LessThan(_, v) => comparison(v)(_ < 0)
    case LessThanOrEqual(_, v) => comparison(v)(_ <= 0)
    case GreaterThan(_, v) => comparison(v)(_ > 0)
    case GreaterThanOrEqual(_, v) => comparison(v)(_ >= 0)
    case Equal(_, v) => comparison(v)(_ == 0)
    case NotEqual(_, v) => comparison(v)(_ != 0)
    case StartsWith(_, prefix) => _.exists(hasPrefix(_, prefix))
    case NotStartsWith(_, prefix) => _.exists(!hasPrefix(_, prefix))
    case In(_, vs) =>
      val values = new SortedValues(vs)
      _.exists(values.contains)
    case NotIn(_, vs) =>
      val values = new SortedValues(vs)
      _.exists(!values.contains(_))
    case BoxIntersects(_, box) => _.exists(intersects(_, box).forall(identity))
    case BoxDisjoint(_, box) => _.exists(!intersects(_, box).contains(true))
  }

  /**
   * Returns a function that compares its argument with `v`, and tests the result of the comparison with `holds`. The
   * function returns false if the argument is null.
   */
  private def comparison(v: Literal)(holds: Int => Boolean): Option[Literal] => Boolean = {
    val comparand = new Comparand(v)
    value => value.isDefined && holds(comparand.compare(value.get))
  }

  /**
   * Whether the box of a geometry intersects a box; absent if the value is not WKB, which is possible in files of other
   * writers. Such a value satisfies every predicate on a box, so that the engine, which tests each row again, reports
   * the value instead of omitting its row.
   */
  private def intersects(value: Literal, box: BoundingBox): Option[Boolean] = value match {
    case BinaryLiteral(wkb) =>
      try Some(Wkb.box(wkb).exists(_.intersects(box)))
      catch { case _: InvalidArgument => None }
    case _ => None
  }

  private[iceberglite] def isNan(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v.isNaN
    case DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  private[expr] def hasPrefix(value: Literal, prefix: String): Boolean = value match {
    case StringLiteral(text) => text.startsWith(prefix)
    case _ => false
  }
}

/** The values of an IN list, possibly thousands, sorted by [[Evaluate.ordering]]. */
final private[expr] class SortedValues(values: Set[Literal]) {
  private val sorted: Array[Literal] = values.toArray.sorted(Evaluate.ordering)

  def contains(value: Literal): Boolean = {
    val index = firstFrom(value)
    index < sorted.length && Evaluate.ordering.equiv(sorted(index), value)
  }

  /** Whether one of the values is between `lower` and `upper`, inclusive. An absent bound means no limit. */
  def intersects(lower: Option[Literal], upper: Option[Literal]): Boolean = {
    val index = lower.fold(0)(firstFrom)
    index < sorted.length && upper.forall(Evaluate.ordering.lteq(sorted(index), _))
  }

  private def firstFrom(value: Literal): Int = {
    var from = 0
    var until = sorted.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (Evaluate.ordering.lt(sorted(middle), value)) from = middle + 1 else until = middle
    }
    from
  }
}
