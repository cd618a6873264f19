package iceberglite.spark.maintenance

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

/**
 * Maps the values of a column to ordinals of a given number of bits. Greater values have greater or equal ordinals, and
 * each ordinal has about the same number of rows. The ordinal of a value is proportional to the share of sampled rows
 * that have smaller values. A null is less than every value, and NaN is greater than every other number.
 */
sealed abstract private[maintenance] class ColumnOrdinals extends Serializable

/**
 * Ordinals of a column whose values can be converted to longs with the same order.
 *
 * @param starts the smallest value of each range of values with the same ordinal, ascending
 * @param ordinals for each value in `starts`, the ordinal of this value and of the values before the next value in
 *   `starts`
 */
final private[maintenance] class NumberOrdinals(starts: Array[Long], ordinals: Array[Int]) extends ColumnOrdinals {
  def of(value: Long): Int = {
    var (low, high) = (0, starts.length)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (starts(middle) <= value) low = middle + 1 else high = middle
    }
    if (low == 0) 0 else ordinals(low - 1)
  }

  def ofReal(value: Double): Int = of(NumberOrdinals.sortable(value))
}

private[maintenance] object NumberOrdinals {

  /**
   * Converts a double to a long with the same order. All NaN values become the same long, which is greater than the
   * longs of all other values.
   */
  def sortable(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(value)
    if (bits < 0) bits ^ Long.MaxValue else bits
  }
}

/** Ordinals of a column of another type. @param starts as in [[NumberOrdinals]], in Spark's internal format */
final private[maintenance] class ValueOrdinals(dataType: DataType, starts: Array[Any], ordinals: Array[Int])
    extends ColumnOrdinals {
  @transient private lazy val ordering: Ordering[Any] = TypeUtils.getInterpretedOrdering(dataType)

  def of(value: Any): Int = {
    var low = 0
    var high = starts.length
    while (low < high) {
      val middle = (low + high) >>> 1
      if (ordering.lteq(starts(middle), value)) low = middle + 1 else high = middle
    }
    if (low == 0) 0 else ordinals(low - 1)
  }
}

private[maintenance] object ColumnOrdinals {

  /** Whether [[longOf]] can convert the values of a type to longs. */
  def isNumber(dataType: DataType): Boolean = dataType match {
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _: NumericType | BooleanType | DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /** Converts a value in Spark's internal format to a long with the same order. */
  def longOf(value: Any): Long = value match {
    case b: Boolean => if (b) 1L else 0L
    case real @ (_: Float | _: Double) => NumberOrdinals.sortable(real.asInstanceOf[Number].doubleValue)
    case d: Decimal => d.toUnscaledLong
    case n => n.asInstanceOf[Number].longValue
  }

  /**
   * Returns the ordinals of a column.
   *
   * @param sample sampled values of the column in Spark's internal format; nulls are allowed
   * @param bits the number of bits of an ordinal
   */
  def of(dataType: DataType, sample: Array[Any], bits: Int): ColumnOrdinals = {
    val values = sample.filter(_ != null)
    def steps[A](sorted: Array[A])(isEqual: (A, A) => Boolean): (ArrayBuffer[A], ArrayBuffer[Int]) = {
      val (starts, ordinals) = (ArrayBuffer.empty[A], ArrayBuffer.empty[Int])
      sorted.indices.foreach { i =>
        if (i == 0 || !isEqual(sorted(i), sorted(i - 1))) {
          val smaller = sample.length - sorted.length + i
          val ordinal = ((smaller.toLong << bits) / sample.length).toInt
          if (ordinals.isEmpty || ordinal > ordinals.last) {
            starts += sorted(i)
            ordinals += ordinal
          }
        }
      }
      (starts, ordinals)
    }
    if (isNumber(dataType)) {
      val (starts, ordinals) = steps(values.map(longOf).sorted)(_ == _)
      new NumberOrdinals(starts.toArray, ordinals.toArray)
    } else {
      val ordering = TypeUtils.getInterpretedOrdering(dataType)
      val (starts, ordinals) = steps(values.sorted(ordering))(ordering.equiv)
      new ValueOrdinals(dataType, starts.toArray, ordinals.toArray)
    }
  }
}
