package iceberglite.spark.write.files

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.DateTime

/** Checks times of day, which Spark represents as microseconds since midnight. */
private[iceberglite] object TimeOfDay {

  /**
   * Checks that a value is a time of day, and returns the value.
   *
   * @param column the name of the column, for messages
   */
  def checked(micros: Long, column: String): Long =
    if (micros >= 0 && micros < DateTime.MicrosPerDay) micros
    else throw InvalidArgument(
      s"value of column $column",
      micros.toString,
      s"It must be a time of day: microseconds since midnight, 0 to ${DateTime.MicrosPerDay - 1}"
    )
}
