package iceberglite.spark.read.parquet

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.time.{Instant, LocalDate, LocalDateTime}
import java.util.UUID

import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.NanoTime
import org.apache.parquet.io.api.Binary
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.read.parquet.ParquetFile.{Scan, write}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.types.Type
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._

/** Checks the conversion of values in Parquet files to the types of Iceberg columns. */
class PrimitiveConversionSuite extends AnyFunSuite {

  /** Writes a file with a column `c` that contains the given values and, in the last row, null. */
  private def column(parquet: String)(values: (Group => Any)*): ParquetFile =
    write(s"message m { optional $parquet = 1; }")(values :+ ((_: Group) => ()): _*)

  private def values(file: ParquetFile, t: Type): Seq[Any] = {
    val rows = file.read(optional(1, "c", t)).map(_.get(0))
    assert(rows.last == null)
    rows.init
  }

  private def bytes(values: Int*): Binary = Binary.fromConstantByteArray(values.map(_.toByte).toArray)

  test("values that need no conversion are read unchanged") {
    assert(values(column("boolean c")(_.append("c", true)), BooleanType) == Seq(true))
    assert(values(column("int64 c")(_.append("c", Long.MinValue)), LongType) == Seq(Long.MinValue))
    assert(values(column("float c")(_.append("c", 1.5f)), FloatType) == Seq(1.5f))
    assert(values(column("double c")(_.append("c", -0.1)), DoubleType) == Seq(-0.1))
    assert(values(column("binary c (UTF8)")(_.append("c", "größe")), StringType) == Seq("größe"))
    assert(values(column("binary c")(_.append("c", "text")), StringType) == Seq("text"))
    assert(values(column("int32 c (INT_8)")(_.append("c", -7)), IntType) == Seq(-7))
    val binary = values(column("binary c")(_.append("c", bytes(0, 255))), BinaryType)
    assert(binary.head.asInstanceOf[Array[Byte]].toSeq == Seq[Byte](0, -1))
  }

  test("ints are read as longs and floats as doubles") {
    val ints = column("int32 c")(_.append("c", Int.MinValue), _.append("c", Int.MaxValue))
    assert(values(ints, LongType) == Seq(Int.MinValue.toLong, Int.MaxValue.toLong))
    val floats = column("float c")(_.append("c", 0.1f), _.append("c", Float.NaN))
    assert(values(floats, DoubleType).map(_.toString) == Seq(0.1f.toDouble.toString, "NaN"))
  }

  test("unsigned numbers in imported files are read as positive numbers") {
    assert(values(column("int32 c (INTEGER(32,false))")(_.append("c", -1)), LongType) == Seq(4294967295L))
    assert(values(column("int32 c (INTEGER(16,false))")(_.append("c", 65535)), IntType) == Seq(65535))
    intercept[UnreadableFile](values(column("int32 c (INTEGER(32,false))")(_.append("c", -1)), IntType))
  }

  test("decimals are read at wider precisions, from int, long, fixed-length and binary values") {
    val small = column("int32 c (DECIMAL(5,2))")(_.append("c", -12345), _.append("c", 7))
    val middle = column("int64 c (DECIMAL(15,2))")(_.append("c", -12345L), _.append("c", 7L))
    val large = column("fixed_len_byte_array(9) c (DECIMAL(20,2))")(
      _.append("c", bytes(-1, -1, -1, -1, -1, -1, -1, 0xcf, 0xc7)),
      _.append("c", bytes(0, 0, 0, 0, 0, 0, 0, 0, 7))
    )
    val variable = column("binary c (DECIMAL(20,2))")(_.append("c", bytes(0xcf, 0xc7)), _.append("c", bytes(7)))
    val short = column("binary c (DECIMAL(5,2))")(_.append("c", bytes(0xcf, 0xc7)), _.append("c", bytes(7)))
    val narrow = column("fixed_len_byte_array(3) c (DECIMAL(5,2))")(
      _.append("c", bytes(-1, 0xcf, 0xc7)),
      _.append("c", bytes(0, 0, 7))
    )
    val expected = Seq(new BigDecimal("-123.45"), new BigDecimal("0.07"))
    for {
      (file, precision) <- Seq(small -> 5, middle -> 15, large -> 20, variable -> 20, short -> 5, narrow -> 5)
      wider <- Seq(5, 9, 15, 18, 20, 38) if wider >= precision
    } assert(values(file, DecimalType(wider, 2)) == expected, s"from $precision to $wider")
  }

  test("a decimal with another scale or a greater precision is rejected") {
    val file = column("int32 c (DECIMAL(5,2))")(_.append("c", 1))
    intercept[UnreadableFile](values(file, DecimalType(9, 3)))
    intercept[UnreadableFile](values(file, DecimalType(4, 2)))
  }

  test("dates and times before 1582 use the proleptic Gregorian calendar") {
    val day = LocalDate.of(1500, 3, 1)
    val days = column("int32 c (DATE)")(_.append("c", day.toEpochDay.toInt))
    assert(values(days, DateType) == Seq(java.sql.Date.valueOf(day)))
    val time = LocalDateTime.of(1000, 1, 1, 1, 2, 3)
    val micros = time.toEpochSecond(java.time.ZoneOffset.UTC) * 1000000L
    assert(values(column("int64 c (TIMESTAMP(MICROS,false))")(_.append("c", micros)), TimestampType) == Seq(time))
  }

  test("timestamps are read regardless of the flag isAdjustedToUTC in the file") {
    val instant = Instant.parse("2013-01-01T10:00:00.000001Z")
    val micros = instant.getEpochSecond * 1000000L + 1
    for (flag <- Seq("true", "false")) {
      val file = column(s"int64 c (TIMESTAMP(MICROS,$flag))")(_.append("c", micros))
      assert(values(file, TimestampType) == Seq(LocalDateTime.parse("2013-01-01T10:00:00.000001")))
      assert(values(file, TimestampTzType).map(_.asInstanceOf[java.sql.Timestamp].toInstant) == Seq(instant))
    }
  }

  test("milliseconds and INT96 of imported files are converted to microseconds") {
    val instant = Instant.parse("2013-01-01T10:00:00.001Z")
    val local = LocalDateTime.parse("2013-01-01T10:00:00.001")
    val julianDay = 2456294
    val int96 = column("int96 c")(_.append("c", new NanoTime(julianDay, 36000001000000L)))
    val files = Seq("true", "false").map { flag =>
      column(s"int64 c (TIMESTAMP(MILLIS,$flag))")(_.append("c", instant.toEpochMilli))
    } :+ int96
    files.foreach { file =>
      assert(values(file, TimestampTzType).map(_.asInstanceOf[java.sql.Timestamp].toInstant) == Seq(instant))
      assert(values(file, TimestampType) == Seq(local))
    }
  }

  test("a date that was promoted to timestamp is read as midnight, and dates out of the range of nanoseconds fail") {
    val file = column("int32 c (DATE)")(_.append("c", 1), _.append("c", -1))
    assert(values(file, TimestampType) ==
      Seq(LocalDateTime.parse("1970-01-02T00:00:00"), LocalDateTime.parse("1969-12-31T00:00:00")))
    assert(values(file, TimestampNsType) == Seq(86400000000000L, -86400000000000L))
    intercept[UnreadableFile](values(file, TimestampTzType))
    val far = column("int32 c (DATE)")(_.append("c", 200000))
    assert(values(far, TimestampType).size == 1)
    intercept[ArithmeticException](values(far, TimestampNsType))
  }

  test("values of the types time, timestamp with nanoseconds, UUID and fixed, which Spark lacks, are read completely") {
    assert(values(column("int64 c (TIME(MICROS,false))")(_.append("c", 86399999999L)), TimeType) == Seq(86399999999L))
    val millis = column("int32 c (TIME(MILLIS,true))")(_.append("c", 86399999))
    assert(values(millis, TimeType) == Seq(86399999000L))
    val nanos = 1384900000123456789L
    for ((flag, t) <- Seq("false" -> TimestampNsType, "true" -> TimestampTzNsType)) {
      assert(values(column(s"int64 c (TIMESTAMP(NANOS,$flag))")(_.append("c", nanos)), t) == Seq(nanos))
    }
    val uuid = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    val buffer = ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits)
    val uuids = column("fixed_len_byte_array(16) c (UUID)")(_.append("c", Binary.fromConstantByteArray(buffer.array)))
    assert(values(uuids, UuidType) == Seq(uuid.toString))
    val fixed = values(column("fixed_len_byte_array(3) c")(_.append("c", bytes(1, 2, 3))), FixedType(3))
    assert(fixed.head.asInstanceOf[Array[Byte]].toSeq == Seq[Byte](1, 2, 3))
  }

  test("a column of type unknown is null, even if the file has a column with its id") {
    assert(values(column("int32 c")(_.append("c", 1)), UnknownType) == Seq(null))
  }

  test("promoted values in structs, lists and maps are read correctly, with dictionary and with plain encoding") {
    // The writer uses a dictionary for x, f and the values of m, which have one or two distinct values. In the other
    // columns (d, the elements of l and the keys of m), all values differ, and the writer falls back to plain encoding.
    val file = write(
      """message m {
        |  optional group s = 1 { optional int32 x = 2; optional float f = 3; optional int32 d (DECIMAL(5,2)) = 4; }
        |  optional group l (LIST) = 5 { repeated group list { optional int32 element (DATE) = 6; } }
        |  optional group m (MAP) = 7 { repeated group key_value { required int32 key = 8; optional float value = 9; } }
        |}""".stripMargin
    )((1 to 10).map(i =>
      (g: Group) => {
        g.addGroup("s").append("x", i % 2).append("f", 0.5f).append("d", i)
        g.addGroup("l").addGroup("list").append("element", i)
        g.addGroup("m").addGroup("key_value").append("key", i).append("value", 1.5f)
      }
    ): _*)
    val s = StructType(
      Vector(optional(4, "d", DecimalType(30, 2)), optional(2, "x", LongType), optional(3, "f", DoubleType))
    )
    val columns = Vector(
      optional(1, "s", s),
      optional(5, "l", ListType(6, TimestampType, elementRequired = false)),
      optional(7, "m", MapType(8, LongType, 9, DoubleType, valueRequired = false))
    )
    val expected = (1 to 10).map { i =>
      val midnight = LocalDateTime.of(1970, 1, 1, 0, 0).plusDays(i.toLong)
      Row(Row(BigDecimal.valueOf(i.toLong, 2), (i % 2).toLong, 0.5), Seq(midnight), Map(i.toLong -> 1.5))
    }
    assert(file.read(Scan(columns)) == expected)
  }
}
