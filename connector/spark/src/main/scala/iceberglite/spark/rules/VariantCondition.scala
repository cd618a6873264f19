package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spark.function.{VariantGet, VariantPartFunction}

/** A condition on a part of a variant: `system.variant_get(v, '$.a.b', 'int') = 5`. */
private[rules] object VariantCondition {

  /** The maximum number of values of a list that a scan tests. */
  private val MaxValues = 100

  /** Returns a condition that a scan can use to skip files. It is true for all rows for which the condition is true. */
  def unapply(e: Expression): Option[Expression] = e match {
    case EqualNullSafe(Part(part), value: Literal) if value.value != null => Some(EqualTo(part, value))
    case EqualNullSafe(value: Literal, Part(part)) if value.value != null => Some(EqualTo(part, value))
    case _: EqualNullSafe => None
    case BinaryComparison(Part(part), value: Literal) => Some(e.withNewChildren(Seq(part, value)))
    case BinaryComparison(value: Literal, Part(part)) => Some(e.withNewChildren(Seq(value, part)))
    case StartsWith(Part(part), prefix @ Literal(_: UTF8String, _)) => Some(StartsWith(part, prefix))
    case InList(Part(part), values) if values.size <= MaxValues =>
      Some(In(part, values.map(Literal(_, part.dataType))))
    case _ => None
  }

  /** A part of a column of a type whose bounds may be known. */
  private object Part {
    def unapply(e: Expression): Option[Expression] = e match {
      case get @ VariantGet(VariantColumn(column), _, Some(t), _, _) if isOrdered(t) =>
        VariantPartFunction.of(column, get)
      case _ => None
    }
  }

  /** A column or a field of a struct. In statements that change rows, it is converted to JSON text. */
  private object VariantColumn {
    def unapply(e: Expression): Option[Expression] = e match {
      case PushableColumn(column) => Some(column)
      case VariantsAsJson(PushableColumn(column), _) => Some(column)
      case _ => None
    }
  }

  private def isOrdered(t: DataType): Boolean = t match {
    case IntegerType | LongType | FloatType | DoubleType | _: DecimalType | StringType | DateType | TimestampType |
        TimestampNTZType => true
    case _ => false
  }
}
