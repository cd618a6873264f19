package iceberglite.spark.read.parquet

import org.apache.parquet.filter2.predicate.{FilterApi, FilterPredicate}

import iceberglite.spec.expr.{Expression, Predicate, Term}
import iceberglite.spec.expr.Expression._

/**
 * Converts a condition on a table's columns to a Parquet filter, with the names and types of one file. Parquet uses the
 * filter to skip row groups by statistics and dictionaries, and pages by the column index. Parquet does not apply the
 * filter to rows. Therefore, the filter may be weaker than the condition: it omits tests that the file's statistics
 * cannot decide.
 *
 * @param columns the columns that are read, by field id. Parquet treats any other column as null in all rows.
 * @param withoutNan the ids of columns that certainly contain no NaN
 */
final private[read] class ParquetFilter(columns: Map[Int, FilterColumn], withoutNan: Set[Int]) {

  /** Converts a condition. @return absent if Parquet cannot evaluate any test of the condition */
  def of(condition: Expression): Option[FilterPredicate] = condition match {
    case And(l, r) => (of(l), of(r)) match {
        case (Some(a), Some(b)) => Some(FilterApi.and(a, b))
        case (a, b) => a.orElse(b)
      }
    case Or(l, r) => for (a <- of(l); b <- of(r)) yield FilterApi.or(a, b)
    case p: Predicate => leaf(p)
    case AlwaysTrue | AlwaysFalse | _: Not => None
  }

  private def leaf(p: Predicate): Option[FilterPredicate] = predicatesOn(p.term).flatMap { t =>
    p match {
      case IsNull(_) => Some(t.isNull)
      case NotNull(_) => Some(t.notNull)
      case LessThan(_, v) => t.less(v)
      case LessThanOrEqual(_, v) => t.lessOrEqual(v)
      case GreaterThan(_, v) => t.greater(v)
      case GreaterThanOrEqual(_, v) => t.greaterOrEqual(v)
      case Equal(_, v) => t.equalToAny(Set(v))
      case In(_, vs) => t.equalToAny(vs)
      case StartsWith(_, prefix) => t.startsWith(prefix)
      case _: NotEqual | _: NotIn | _: NotStartsWith | _: IsNan | _: NotNan | _: BoxIntersects | _: BoxDisjoint => None
    }
  }

  private def predicatesOn(term: Term): Option[ColumnPredicates] = term match {
    case Term.Bound(field, _) =>
      columns.get(field.id).flatMap(ColumnPredicates.of(
        _,
        field.fieldType,
        mayContainNan = !withoutNan.contains(field.id)
      ))
    case _: Term.Named | _: Term.Transformed | _: Term.Part => None
  }
}
