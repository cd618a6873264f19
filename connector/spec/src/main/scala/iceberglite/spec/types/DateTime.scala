package iceberglite.spec.types

import java.time.{DateTimeException, LocalDate, LocalDateTime, LocalTime, OffsetDateTime, ZoneOffset}
import java.time.format.DateTimeFormatter

/**
 * Converts dates and times between the numbers of the specification and ISO 8601 text. Every division rounds down, even
 * for times before 1970. For example, the microsecond before 1970-01-01 00:00 is on day -1.
 */
object DateTime {
  val MicrosPerSecond = 1000000L
  val MicrosPerHour: Long = 3600L * MicrosPerSecond
  val MicrosPerDay: Long = 24L * MicrosPerHour
  val NanosPerDay: Long = MicrosPerDay * 1000L
  private val NanosPerSecond = 1000000000L
  private val DaysPerEra = 146097L

  def daysFromMicros(micros: Long): Int = Math.floorDiv(micros, MicrosPerDay).toInt

  def hoursFromMicros(micros: Long): Int = Math.floorDiv(micros, MicrosPerHour).toInt

  /** Converts nanoseconds to microseconds, rounded down. */
  def microsFromNanos(nanos: Long): Long = Math.floorDiv(nanos, 1000L)

  /**
   * Returns months since January 1970 in the proleptic Gregorian calendar. The method allocates no objects, because
   * writers call it for each row.
   */
  def monthsFromDays(days: Int): Int = {
    // The computation uses years that start on March 1, so that a leap day is the last day of a year. It also uses eras
    // of 400 years. Era 0 starts on 0000-03-01.
    val sinceEraZero = days.toLong + 719468L
    val era = Math.floorDiv(sinceEraZero, DaysPerEra)
    val dayOfEra = Math.floorMod(sinceEraZero, DaysPerEra)
    val yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146096) / 365
    val dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    val monthFromMarch = (5 * dayOfYear + 2) / 153
    ((era * 400 + yearOfEra - 1970) * 12 + monthFromMarch + 2).toInt
  }

  /** Returns years since 1970. */
  def yearsFromDays(days: Int): Int = Math.floorDiv(monthsFromDays(days), 12)

  def formatDate(days: Int): String = LocalDate.ofEpochDay(days.toLong).format(DateTimeFormatter.ISO_LOCAL_DATE)

  /** Formats a time with seconds and as many fractional digits as needed. */
  def formatTime(micros: Long): String =
    LocalTime.ofNanoOfDay(micros * 1000L).format(DateTimeFormatter.ISO_LOCAL_TIME)

  /** Formats a date for partition paths, without the plus sign that ISO 8601 requires for years after 9999. */
  def formatDateInPath(days: Int): String = {
    val date = LocalDate.ofEpochDay(days.toLong)
    f"${date.getYear}%04d-${date.getMonthValue}%02d-${date.getDayOfMonth}%02d"
  }

  /**
   * Formats a time for partition paths. Omits zero seconds, and writes three or six fractional digits if needed. A
   * value that is not within a day is formatted as a number of microseconds.
   */
  def formatTimeInPath(micros: Long): String =
    if (micros < 0 || micros >= MicrosPerDay) micros.toString else LocalTime.ofNanoOfDay(micros * 1000L).toString

  def formatTimestamp(micros: Long): String = formatLocal(micros, MicrosPerSecond)

  /** Formats a timestamp with the offset `+00:00` (spec: "JSON single-value serialization"). */
  def formatTimestampTz(micros: Long): String = formatLocal(micros, MicrosPerSecond) + "+00:00"

  def formatTimestampNs(nanos: Long): String = formatLocal(nanos, NanosPerSecond)

  def formatTimestampTzNs(nanos: Long): String = formatLocal(nanos, NanosPerSecond) + "+00:00"

  /**
   * Returns days since 1970-01-01; `None` if the text is not a date. The other methods that parse a text also return
   * `None` for an invalid text.
   */
  def parseDate(text: String): Option[Int] = tryParse(Math.toIntExact(LocalDate.parse(text).toEpochDay))

  /**
   * Returns microseconds since midnight. Like `parseTimestamp` and `parseTimestampTz`, the method returns `None` for a
   * text with fractions of a microsecond.
   */
  def parseTime(text: String): Option[Long] =
    tryParse(LocalTime.parse(text).toNanoOfDay).filter(_ % 1000L == 0).map(_ / 1000L)

  def parseTimestamp(text: String): Option[Long] = tryParse(LocalDateTime.parse(text)).flatMap(micros)

  /** Parses a timestamp with any offset. Returns microseconds since 1970-01-01 00:00 UTC. */
  def parseTimestampTz(text: String): Option[Long] = parseUtc(text).flatMap(micros)

  def parseTimestampNs(text: String): Option[Long] = tryParse(nanos(LocalDateTime.parse(text)))

  def parseTimestampTzNs(text: String): Option[Long] = parseUtc(text).flatMap(utc => tryParse(nanos(utc)))

  private def formatLocal(units: Long, unitsPerSecond: Long): String = {
    val nanoOfSecond = Math.floorMod(units, unitsPerSecond) * (NanosPerSecond / unitsPerSecond)
    LocalDateTime
      .ofEpochSecond(Math.floorDiv(units, unitsPerSecond), nanoOfSecond.toInt, ZoneOffset.UTC)
      .format(DateTimeFormatter.ISO_LOCAL_DATE_TIME)
  }

  private def parseUtc(text: String): Option[LocalDateTime] =
    tryParse(OffsetDateTime.parse(text).withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime)

  private def micros(utc: LocalDateTime): Option[Long] =
    if (utc.getNano % 1000 != 0) None
    else tryParse(toUnits(utc, MicrosPerSecond, utc.getNano / 1000L))

  private def nanos(utc: LocalDateTime): Long =
    toUnits(utc, NanosPerSecond, utc.getNano.toLong)

  private def toUnits(utc: LocalDateTime, unitsPerSecond: Long, fraction: Long): Long = {
    val seconds = utc.toEpochSecond(ZoneOffset.UTC)
    // The second that contains the minimum long starts before the minimum long, so the multiplication of this second
    // would overflow. Therefore negative seconds are increased by one before the multiplication, and one second is
    // subtracted afterwards.
    if (seconds >= 0) Math.addExact(Math.multiplyExact(seconds, unitsPerSecond), fraction)
    else Math.addExact(Math.multiplyExact(seconds + 1, unitsPerSecond), fraction - unitsPerSecond)
  }

  private def tryParse[A](value: => A): Option[A] =
    try Some(value)
    catch { case _: DateTimeException | _: ArithmeticException => None }
}
