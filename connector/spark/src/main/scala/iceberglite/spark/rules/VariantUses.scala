package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.VariantPath
import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spark.function.{VariantGet, VariantGetFunction}

/**
 * A column, or a field of a struct in it.
 *
 * @param fields the ordinals of the fields that lead to the value; empty for the column itself
 */
final private[rules] case class ValuePlace(column: ExprId, fields: Vector[Int]) {
  def /(field: Int): ValuePlace = copy(fields = fields :+ field)

  def contains(that: ValuePlace): Boolean = that.column == column && that.fields.startsWith(fields)
}

private[rules] object ValuePlace {
  def of(column: Attribute): ValuePlace = ValuePlace(column.exprId, Vector.empty)

  /** Returns the value that an element of a select list only passes on, with the id of the element. */
  def passedOn(element: NamedExpression): Option[(ExprId, ValuePlace)] = element match {
    case column: Attribute => Some(column.exprId -> of(column))
    case Alias(PlacedValue(value), _) => Some(element.exprId -> value)
    case _ => None
  }
}

/** Matches a column or a field of a struct. */
private[rules] object PlacedValue {
  def unapply(e: Expression): Option[ValuePlace] = e match {
    case column: Attribute => Some(ValuePlace.of(column))
    case GetStructField(PlacedValue(struct), ordinal, _) => Some(struct / ordinal)
    case _ => None
  }
}

/**
 * How a part of a plan uses values.
 *
 * @param complete the values that are used completely
 * @param parts the paths of variants of which parts are used
 */
final private[rules] case class VariantUses(
    complete: Set[ValuePlace],
    parts: Map[ValuePlace, Set[VariantPath]]
) {
  def ++(more: VariantUses): VariantUses = VariantUses(
    complete ++ more.complete,
    more.parts.foldLeft(parts) { case (all, (value, paths)) =>
      all.updated(value, all.getOrElse(value, Set.empty) ++ paths)
    }
  )

  /**
   * Returns the uses of the values from which columns are made. Uses of other columns are dropped.
   *
   * @param sources the values that become the columns of the given ids; several columns may be made from one value
   */
  def from(sources: Seq[(ExprId, ValuePlace)]): VariantUses = {
    val byColumn = sources.groupBy(_._1)
    def placed(value: ValuePlace): Seq[ValuePlace] = byColumn.getOrElse(value.column, Nil).map {
      case (_, source) => source.copy(fields = source.fields ++ value.fields)
    }
    val placedParts = for ((value, paths) <- parts.toSeq; place <- placed(value))
      yield VariantUses(Set.empty, Map(place -> paths))
    placedParts.foldLeft(VariantUses(complete.flatMap(placed(_)), Map.empty))(_ ++ _)
  }

  /** Returns the parts of a variant that are used; absent if its complete value is used or if no part is. */
  def partsOf(variant: ValuePlace): Option[Set[VariantPath]] =
    parts.get(variant).filter(_.forall(_.steps.nonEmpty)).filterNot(_ => complete.exists(_.contains(variant)))
}

private[rules] object VariantUses {
  private val Unused = VariantUses(Set.empty, Map.empty)

  def whole(columns: Seq[Attribute]): VariantUses = VariantUses(columns.map(ValuePlace.of).toSet, Map.empty)

  def in(expressions: Seq[Expression]): VariantUses = expressions.foldLeft(Unused)(_ ++ in(_))

  private def in(e: Expression): VariantUses = e match {
    case Part(value, path) => VariantUses(Set.empty, Map(value -> Set(path)))
    case IsNull(PlacedValue(_)) | IsNotNull(PlacedValue(_)) => Unused
    case PlacedValue(value) => VariantUses(Set(value), Map.empty)
    // Only the key of the join is a value of the outer plan; the references also contain the whole column of the key.
    case pruning: DynamicPruningSubquery => in(pruning.children)
    case _: SubqueryExpression => whole(e.references.toSeq) ++ in(e.children)
    case other => in(other.children)
  }

  /** A call of `system.variant_get` or `system.try_variant_get` on a column or a field of a struct. */
  private object Part {
    def unapply(e: Expression): Option[(ValuePlace, VariantPath)] = e match {
      case VariantGet(JsonText(value), path, _, _, _) => Some(value -> path)
      case ApplyFunctionExpression(
            _: VariantGetFunction.Untyped,
            Seq(JsonText(value), Literal(path: UTF8String, _))
          ) =>
        VariantPath.of(path.toString).map(value -> _)
      case _ => None
    }
  }

  /** A variant as JSON text. A statement that changes rows converts it in its search for files, too. */
  private object JsonText {
    def unapply(e: Expression): Option[ValuePlace] = e match {
      case VariantsAsJson(PlacedValue(value), _) => Some(value)
      case PlacedValue(value) => Some(value)
      case _ => None
    }
  }
}
