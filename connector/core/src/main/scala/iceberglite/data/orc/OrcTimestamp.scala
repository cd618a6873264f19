package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector

/** The moments in the library's vectors. */
private[iceberglite] object OrcTimestamp {

  /**
   * Of a vector of milliseconds, and of nanoseconds in the second: what is less than a second stands in both. In files
   * of Arrow's writer both are negative before 1970.
   *
   * @param unitsPerSecond of the result, which counts from 1970
   * @throws ArithmeticException where it is out of the range of a long
   */
  def exactly(times: TimestampColumnVector, row: Int, unitsPerSecond: Long): Long = {
    val nanos = times.nanos(row)
    val seconds = Math.floorDiv(Math.subtractExact(times.time(row), nanos / 1000000L), 1000L)
    val rest = Math.floorDiv(nanos.toLong, 1000000000L / unitsPerSecond)
    // At the least of all longs only the sum fits.
    if (seconds >= 0) Math.addExact(Math.multiplyExact(seconds, unitsPerSecond), rest)
    else Math.addExact(Math.multiplyExact(seconds + 1, unitsPerSecond), rest - unitsPerSecond)
  }
}
