package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.BoundFunction
import org.apache.spark.sql.types.{DataType, IntegerType, TimestampNTZType, TimestampType}

import iceberglite.spec.types.DateTime

/** `hours(ts)`: hours since 1970-01-01 00:00 UTC. */
object HoursFunction extends UnaryFunction("hours") with Serializable {
  override protected def signature: String = "hours(timestamp)"

  override protected def bound: PartialFunction[DataType, BoundFunction] = {
    case t @ (TimestampType | TimestampNTZType) => OfTimestamp(t)
  }

  final case class OfTimestamp(source: DataType)
      extends BoundTransform[java.lang.Integer]("hours", Nil, source, IntegerType) {
    def invoke(micros: Long): Int = DateTime.hoursFromMicros(micros)
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getLong(0))
  }
}
