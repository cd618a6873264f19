package iceberglite.spark.function

import org.apache.spark.sql.types.DateType

import iceberglite.spec.types.DateTime

/** `days(ts)`: the day in UTC, as a date. */
object DaysFunction extends TimeFunction("days", DateType) {
  override def ofDays(days: Int): Int = days
  override def ofMicros(micros: Long): Int = DateTime.daysFromMicros(micros)
}
