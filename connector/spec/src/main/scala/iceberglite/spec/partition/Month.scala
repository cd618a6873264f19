package iceberglite.spec.partition

import iceberglite.spec.types.{DateTime, Literal}

/** The month transform: months since January 1970. */
object Month extends TimeTransform("month") {
  override protected def units(value: Literal): Int = DateTime.monthsFromDays(days(value))

  override def toHuman(value: Literal): String = {
    val months = unitsOf(value)
    f"${1970 + Math.floorDiv(months, 12)}%04d-${1 + Math.floorMod(months, 12)}%02d"
  }
}
