package iceberglite.spec.expr

import iceberglite.spec.expr.ColumnRange.NoBound
import iceberglite.spec.expr.Evaluate.{hasPrefix, isNan, ordering}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.StringLiteral

/**
 * Compiles an expression to a predicate on the ranges of its columns ([[ColumnRange]]) in a set of rows, such as a
 * manifest or a data file. The compiled predicate can be evaluated for many sets.
 *
 * In Spark, NaN is equal to NaN and greater than all other values, so `>`, `>=`, `<>` and NOT IN are true for NaN. The
 * bounds of a column do not include NaN. Therefore, [[ColumnRange]] distinguishes nulls, NaN, and ordinary values,
 * which are all other values.
 */
private[iceberglite] object RangeEvaluator {
  type Columns[S] = Term.Bound => Option[ColumnRange[S]]

  /** Returns false only if no row can match. */
  def mightMatch[S](e: Expression, columns: Columns[S]): S => Boolean = e match {
    case AlwaysTrue => _ => true
    case AlwaysFalse => _ => false
    case And(l, r) =>
      val (left, right) = (mightMatch(l, columns), mightMatch(r, columns))
      rows => left(rows) && right(rows)
    case Or(l, r) =>
      val (left, right) = (mightMatch(l, columns), mightMatch(r, columns))
      rows => left(rows) || right(rows)
    case Not(child) => mightMatch(negate(child), columns)
    case p: Predicate if hasNan(p) => _ => true
    case p: Predicate => ColumnRange.of(p.term, columns).fold[S => Boolean](_ => true)(inclusive(p, _))
  }

  /** Returns true only if every row matches. */
  def allMatch[S](e: Expression, columns: Columns[S]): S => Boolean = e match {
    case AlwaysTrue => _ => true
    case AlwaysFalse => _ => false
    case And(l, r) =>
      val (left, right) = (allMatch(l, columns), allMatch(r, columns))
      rows => left(rows) && right(rows)
    case Or(l, r) =>
      val (left, right) = (allMatch(l, columns), allMatch(r, columns))
      rows => left(rows) || right(rows)
    case Not(child) => allMatch(negate(child), columns)
    case p: Predicate if hasNan(p) => _ => false
    case p: Predicate => ColumnRange.of(p.term, columns).fold[S => Boolean](_ => false)(strict(p, _))
  }

  private def inclusive[S](p: Predicate, c: ColumnRange[S]): S => Boolean = p match {
    case IsNull(_) => c.mayBeNull
    case NotNull(_) => c.mayBePresent
    case IsNan(_) => c.mayBeNan
    case NotNan(_) => rows => c.mayBeNull(rows) || c.mayBeOrdinary(rows)
    case LessThan(_, v) => below(c, v)(_ < 0)
    case LessThanOrEqual(_, v) => below(c, v)(_ <= 0)
    case GreaterThan(_, v) => above(c, v)(_ > 0)
    case GreaterThanOrEqual(_, v) => above(c, v)(_ >= 0)
    case Equal(_, v) => equalTo(c, v)
    case In(_, vs) =>
      val values = new SortedValues(vs)
      rows =>
        c.mayBeOrdinary(rows) && values.intersects(c.lower(rows), c.upper(rows)) && vs.exists(c.mayContain(rows, _))
    case NotEqual(_, v) =>
      rows => c.mayBeNan(rows) || c.mayBeOrdinary(rows) && !singleValue(c, rows).exists(ordering.equiv(_, v))
    case NotIn(_, vs) =>
      val values = new SortedValues(vs)
      rows => c.mayBeNan(rows) || c.mayBeOrdinary(rows) && !singleValue(c, rows).exists(values.contains)
    case StartsWith(_, prefix) => rows => !excludesPrefix(prefix, c, rows) && c.mayBeOrdinary(rows)
    case NotStartsWith(_, prefix) => rows => c.mayBeOrdinary(rows) && !impliesPrefix(prefix, c, rows)
    case BoxIntersects(_, box) => rows => c.mayBeOrdinary(rows) && c.box(rows).forall(_.intersects(box))
    case BoxDisjoint(_, _) => c.mayBeOrdinary
  }

  private def equalTo[S](c: ColumnRange[S], v: Literal): S => Boolean = {
    val value = new Comparand(v)
    rows => {
      val lower = c.compareLower(rows, value)
      lower <= 0 && {
        val upper = c.compareUpper(rows, value)
        if (lower == NoBound && upper == NoBound) c.mayBeOrdinary(rows) else upper >= 0 || upper == NoBound
      } && c.mayContain(rows, v)
    }
  }

  /**
   * Tests the lower bound with `holds`, for a predicate that is true only for values below a limit. If there is a
   * bound, there are ordinary values, and the counts are not needed.
   */
  private def below[S](c: ColumnRange[S], v: Literal)(holds: Int => Boolean): S => Boolean = {
    val value = new Comparand(v)
    rows => {
      val lower = c.compareLower(rows, value)
      if (lower == NoBound) c.mayBeOrdinary(rows) else holds(lower)
    }
  }

  /**
   * Tests the upper bound with `holds`, for a predicate that is true for all values above a limit. NaN is tested
   * separately: it is greater than all other values, but bounds do not include it.
   */
  private def above[S](c: ColumnRange[S], v: Literal)(holds: Int => Boolean): S => Boolean = {
    val value = new Comparand(v)
    rows => {
      val upper = c.compareUpper(rows, value)
      (if (upper == NoBound) c.mayBeOrdinary(rows) else holds(upper)) || c.mayBeNan(rows)
    }
  }

  private def strict[S](p: Predicate, c: ColumnRange[S]): S => Boolean = p match {
    case IsNull(_) => rows => !c.mayBePresent(rows)
    case NotNull(_) => rows => !c.mayBeNull(rows)
    case IsNan(_) => rows => !c.mayBeNull(rows) && !c.mayBeOrdinary(rows)
    case NotNan(_) => rows => !c.mayBeNan(rows)
    case LessThan(_, v) => rows => hasOnlyOrdinary(c, rows) && c.upper(rows).exists(ordering.lt(_, v))
    case LessThanOrEqual(_, v) => rows => hasOnlyOrdinary(c, rows) && c.upper(rows).exists(ordering.lteq(_, v))
    case GreaterThan(_, v) => rows => hasOnlyOrdinary(c, rows) && c.lower(rows).exists(ordering.gt(_, v))
    case GreaterThanOrEqual(_, v) => rows => hasOnlyOrdinary(c, rows) && c.lower(rows).exists(ordering.gteq(_, v))
    case Equal(_, v) => rows => hasOnlyOrdinary(c, rows) && singleValue(c, rows).exists(ordering.equiv(_, v))
    case In(_, vs) =>
      val values = new SortedValues(vs)
      rows => hasOnlyOrdinary(c, rows) && singleValue(c, rows).exists(values.contains)
    case NotEqual(_, v) =>
      rows =>
        hasOnlyOrdinary(c, rows) && (c.lower(rows).exists(ordering.gt(_, v)) || c.upper(rows).exists(ordering.lt(_, v)))
    case NotIn(_, vs) =>
      val values = new SortedValues(vs)
      rows => hasOnlyOrdinary(c, rows) && !values.intersects(c.lower(rows), c.upper(rows))
    case StartsWith(_, prefix) => rows => hasOnlyOrdinary(c, rows) && impliesPrefix(prefix, c, rows)
    case NotStartsWith(_, prefix) => rows => hasOnlyOrdinary(c, rows) && excludesPrefix(prefix, c, rows)
    // A box with all coordinates does not show whether each geometry has coordinates.
    case BoxIntersects(_, _) => _ => false
    case BoxDisjoint(_, box) => rows => hasOnlyOrdinary(c, rows) && c.box(rows).exists(!_.intersects(box))
  }

  private def hasOnlyOrdinary[S](c: ColumnRange[S], rows: S): Boolean = !c.mayBeNull(rows) && !c.mayBeNan(rows)

  /**
   * Returns the only ordinary value, if the lower and upper bounds are equal. This is also correct for truncated
   * bounds, because all values are between the two bounds.
   */
  private def singleValue[S](c: ColumnRange[S], rows: S): Option[Literal] =
    c.lower(rows).filter(low => c.upper(rows).exists(ordering.equiv(low, _)))

  /**
   * Whether the bounds exclude every value with the prefix, because all values sort before the prefix, or because all
   * values sort after all strings with the prefix.
   */
  private def excludesPrefix[S](prefix: String, c: ColumnRange[S], rows: S): Boolean = {
    val first = StringLiteral(prefix)
    c.upper(rows).exists(ordering.lt(_, first)) ||
    c.lower(rows).exists(low => ordering.gt(low, first) && !hasPrefix(low, prefix))
  }

  /** Whether every value between the bounds has the prefix. */
  private def impliesPrefix[S](prefix: String, c: ColumnRange[S], rows: S): Boolean =
    c.lower(rows).exists(hasPrefix(_, prefix)) && c.upper(rows).exists(hasPrefix(_, prefix))

  /**
   * Whether a predicate has a NaN literal. [[Bind]] removes such literals. If a predicate still has a NaN literal, its
   * result is considered unknown.
   */
  private def hasNan(p: Predicate): Boolean = p match {
    case LessThan(_, v) => isNan(v)
    case LessThanOrEqual(_, v) => isNan(v)
    case GreaterThan(_, v) => isNan(v)
    case GreaterThanOrEqual(_, v) => isNan(v)
    case Equal(_, v) => isNan(v)
    case NotEqual(_, v) => isNan(v)
    case In(_, vs) => vs.exists(isNan)
    case NotIn(_, vs) => vs.exists(isNan)
    case _: IsNull | _: NotNull | _: IsNan | _: NotNan | _: StartsWith | _: NotStartsWith | _: BoxIntersects |
        _: BoxDisjoint => false
  }
}
