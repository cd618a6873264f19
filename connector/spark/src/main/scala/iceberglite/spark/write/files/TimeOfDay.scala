package iceberglite.spark.write.files

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.DateTime

/** Times of day, which are microseconds since midnight in Spark. */
private[iceberglite] object TimeOfDay {

  /** Checks a value. @param column the column, for messages */
  def checked(micros: Long, column: String): Long =
    if (micros >= 0 && micros < DateTime.MicrosPerDay) micros
    else throw InvalidArgument(
      s"value of column $column",
      micros.toString,
      s"It must be a time of day: microseconds since midnight, 0 to ${DateTime.MicrosPerDay - 1}"
    )
}
