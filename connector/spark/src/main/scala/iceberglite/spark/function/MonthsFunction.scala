package iceberglite.spark.function

import org.apache.spark.sql.types.IntegerType

import iceberglite.spec.types.DateTime

/** `months(ts)`: months since January 1970. */
object MonthsFunction extends TimeFunction("months", IntegerType) {
  override def ofDays(days: Int): Int = DateTime.monthsFromDays(days)
  override def ofMicros(micros: Long): Int = DateTime.monthsFromDays(DateTime.daysFromMicros(micros))
}
