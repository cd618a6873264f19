package iceberglite.spark.function

import org.apache.spark.sql.types.IntegerType

import iceberglite.spec.types.DateTime

/** `years(ts)`: years since 1970. */
object YearsFunction extends TimeFunction("years", IntegerType) {
  override def ofDays(days: Int): Int = DateTime.yearsFromDays(days)
  override def ofMicros(micros: Long): Int = DateTime.yearsFromDays(DateTime.daysFromMicros(micros))
}
