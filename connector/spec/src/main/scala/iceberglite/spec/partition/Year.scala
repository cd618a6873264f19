package iceberglite.spec.partition

import iceberglite.spec.types.{DateTime, Literal}

/** The year transform: years since 1970. */
object Year extends TimeTransform("year") {
  override protected def units(value: Literal): Int = DateTime.yearsFromDays(days(value))

  override def toHuman(value: Literal): String = f"${1970 + unitsOf(value)}%04d"
}
