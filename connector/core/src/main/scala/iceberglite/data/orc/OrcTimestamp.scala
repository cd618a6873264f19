package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector

import iceberglite.spec.IcebergError.ValidationFailed

/** Reads and writes timestamps in the column vectors of the ORC library. */
private[iceberglite] object OrcTimestamp {

  /**
   * Reads a timestamp from a vector, which stores milliseconds since 1970 and nanoseconds within the second. Both
   * numbers contain the fraction of the second. In files from Arrow's writer, both are negative for times before 1970.
   *
   * @param unitsPerSecond units per second of the result, which is the time since 1970
   * @throws ArithmeticException if the result is out of the range of a long
   */
  def exactly(times: TimestampColumnVector, row: Int, unitsPerSecond: Long): Long = {
    val nanos = times.nanos(row)
    val seconds = Math.floorDiv(Math.subtractExact(times.time(row), nanos / 1000000L), 1000L)
    val fraction = Math.floorDiv(nanos.toLong, 1000000000L / unitsPerSecond)
    // For times near the minimum of a long, the product of the seconds would overflow, although the sum is in range.
    if (seconds >= 0) Math.addExact(Math.multiplyExact(seconds, unitsPerSecond), fraction)
    else Math.addExact(Math.multiplyExact(seconds + 1, unitsPerSecond), fraction - unitsPerSecond)
  }

  private val NanosPerMilli = 1000000

  /**
   * Writes a timestamp to a vector. The milliseconds and the nanoseconds both contain the fraction of the second (spec:
   * "Appendix A: ORC", note 1).
   *
   * @param units the timestamp in units since 1970
   * @param path path of the column, for messages
   * @throws ValidationFailed if ORC files cannot store the timestamp
   */
  def put(times: TimestampColumnVector, row: Int, units: Long, unitsPerSecond: Long, path: String): Unit = {
    val nanos = (Math.floorMod(units, unitsPerSecond) * (1000000000L / unitsPerSecond)).toInt
    if (units < 0 && units > -unitsPerSecond && nanos >= NanosPerMilli) refuseLastSecond(path)
    times.setIsUTC(true)
    times.time(row) = Math.floorDiv(units, unitsPerSecond / 1000L)
    times.nanos(row) = nanos
  }

  /**
   * Rejects timestamps in the last 999 milliseconds before 1970. In this range, the ORC library loses the sign of the
   * seconds (ORC-763), so readers would return a time that is one second later.
   */
  private def refuseLastSecond(path: String): Nothing = throw ValidationFailed(
    s"Column $path has a timestamp between 1969-12-31T23:59:59.001 and 1970, which ORC files cannot store. Use " +
      "Parquet or Avro for the files of the table"
  )
}
