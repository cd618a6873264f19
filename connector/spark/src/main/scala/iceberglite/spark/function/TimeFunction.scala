package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.BoundFunction
import org.apache.spark.sql.types.{DataType, DateType, TimestampNTZType, TimestampType}

/**
 * A transform of a date or timestamp to whole years, months or days since 1970.
 *
 * @param result the Spark type of the result
 */
abstract class TimeFunction(name: String, val result: DataType) extends UnaryFunction(name) with Serializable {
  override protected def signature: String = s"$name(date or timestamp)"

  /** Returns the result for a date. @param days days since 1970-01-01 */
  def ofDays(days: Int): Int

  /** Returns the result for a timestamp. @param micros microseconds since 1970-01-01 00:00 UTC */
  def ofMicros(micros: Long): Int

  override protected def bound: PartialFunction[DataType, BoundFunction] = {
    case DateType => TimeFunction.OfDate(this)
    case t @ (TimestampType | TimestampNTZType) => TimeFunction.OfTimestamp(this, t)
  }
}

object TimeFunction {
  final case class OfDate(function: TimeFunction)
      extends BoundTransform[java.lang.Integer](function.name, Nil, DateType, function.result) {
    def invoke(days: Int): Int = function.ofDays(days)
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0))
  }

  final case class OfTimestamp(function: TimeFunction, source: DataType)
      extends BoundTransform[java.lang.Integer](function.name, Nil, source, function.result) {
    def invoke(micros: Long): Int = function.ofMicros(micros)
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getLong(0))
  }
}
