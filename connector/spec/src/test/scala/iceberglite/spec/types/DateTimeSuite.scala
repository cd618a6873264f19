package iceberglite.spec.types

import java.time.LocalDate

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class DateTimeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("divisions round down for times before 1970") {
    assert(DateTime.daysFromMicros(-1L) == -1)
    assert(DateTime.daysFromMicros(-DateTime.MicrosPerDay) == -1)
    assert(DateTime.daysFromMicros(-DateTime.MicrosPerDay - 1) == -2)
    assert(DateTime.hoursFromMicros(-1L) == -1)
    assert(DateTime.hoursFromMicros(-DateTime.MicrosPerHour - 1) == -2)
    assert(DateTime.microsFromNanos(-1L) == -1L)
    assert(DateTime.microsFromNanos(-1000L) == -1L)
    assert(DateTime.microsFromNanos(-1001L) == -2L)
    assert(DateTime.monthsFromDays(-1) == -1)
    assert(DateTime.yearsFromDays(-1) == -1)
    assert(DateTime.yearsFromDays(-365) == -1)
    assert(DateTime.yearsFromDays(-366) == -2)
  }

  test("months and years agree with the JDK calendar") {
    forAll(Gen.oneOf(Gen.choose(Int.MinValue, Int.MaxValue), Gen.choose(-800000, 800000))) { days =>
      val date = LocalDate.ofEpochDay(days.toLong)
      assert(DateTime.yearsFromDays(days) == date.getYear - 1970)
      assert(DateTime.monthsFromDays(days) == (date.getYear - 1970) * 12 + date.getMonthValue - 1)
    }
    (-150000 to 150000).foreach { days =>
      val date = LocalDate.ofEpochDay(days.toLong)
      assert(DateTime.monthsFromDays(days) == (date.getYear - 1970) * 12 + date.getMonthValue - 1)
    }
  }

  test("dates and times are formatted as ISO 8601, as in the examples of Appendix D") {
    assert(DateTime.formatDate(17486) == "2017-11-16")
    assert(DateTime.formatTime(81068123456L) == "22:31:08.123456")
    assert(DateTime.formatTime(0L) == "00:00:00")
    assert(DateTime.formatTimestamp(1510871468123456L) == "2017-11-16T22:31:08.123456")
    assert(DateTime.formatTimestampTz(1510871468123456L) == "2017-11-16T22:31:08.123456+00:00")
    assert(DateTime.formatTimestampNs(1510871468123456789L) == "2017-11-16T22:31:08.123456789")
    assert(DateTime.formatTimestampTzNs(1510871468123456789L) == "2017-11-16T22:31:08.123456789+00:00")
    assert(DateTime.formatTimestamp(-1L) == "1969-12-31T23:59:59.999999")
  }

  test("formatted dates and times are parsed to the original number") {
    Seq(Long.MinValue, Long.MaxValue).foreach { end =>
      assert(DateTime.parseTimestamp(DateTime.formatTimestamp(end)).contains(end))
      assert(DateTime.parseTimestampTzNs(DateTime.formatTimestampTzNs(end)).contains(end))
    }
    forAll { (days: Int, units: Long) =>
      assert(DateTime.parseDate(DateTime.formatDate(days)).contains(days))
      assert(DateTime.parseTimestamp(DateTime.formatTimestamp(units)).contains(units))
      assert(DateTime.parseTimestampTz(DateTime.formatTimestampTz(units)).contains(units))
      assert(DateTime.parseTimestampNs(DateTime.formatTimestampNs(units)).contains(units))
      assert(DateTime.parseTimestampTzNs(DateTime.formatTimestampTzNs(units)).contains(units))
      val ofDay = Math.floorMod(units, DateTime.MicrosPerDay)
      assert(DateTime.parseTime(DateTime.formatTime(ofDay)).contains(ofDay))
    }
  }

  test("timestamps with an offset other than UTC are converted to UTC") {
    assert(DateTime.parseTimestampTz("2017-11-16T14:31:08-08:00").contains(1510871468000000L))
    assert(DateTime.parseTimestampTz("2017-11-16T22:31:08Z").contains(1510871468000000L))
  }

  test("text that is not a date or time, or that is too precise or out of range, is not parsed") {
    assert(DateTime.parseDate("2017-02-30").isEmpty)
    assert(DateTime.parseDate("").isEmpty)
    assert(DateTime.parseDate("+999999999-01-01").isEmpty)
    assert(DateTime.parseTime("25:00:00").isEmpty)
    assert(DateTime.parseTime("22:31:08.1234567").isEmpty)
    assert(DateTime.parseTimestamp("2017-11-16T22:31:08.123456789").isEmpty)
    assert(DateTime.parseTimestamp("2017-11-16T22:31:08+00:00").isEmpty)
    assert(DateTime.parseTimestamp("+999999999-01-01T00:00:00").isEmpty)
    assert(DateTime.parseTimestampTz("2017-11-16T22:31:08").isEmpty)
    assert(DateTime.parseTimestampNs("2300-01-01T00:00:00").isEmpty)
  }
}
