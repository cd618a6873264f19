package iceberglite.spec.types

import java.math.BigDecimal
import java.nio.{ByteBuffer, ByteOrder}
import java.util.UUID

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.IcebergError
import iceberglite.spec.expr.ExpressionGenerators
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class SingleValueSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def hex(buffer: ByteBuffer): String =
    (buffer.position() until buffer.limit()).map(i => f"${buffer.get(i)}%02x").mkString

  private def buffer(hex: String): ByteBuffer =
    ByteBuffer.wrap(hex.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray)

  test("values are encoded as in Appendix D") {
    val uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    val expected = Seq[(Literal, String)](
      BooleanLiteral(false) -> "00",
      BooleanLiteral(true) -> "01",
      IntLiteral(34) -> "22000000",
      IntLiteral(-1) -> "ffffffff",
      LongLiteral(34L) -> "2200000000000000",
      FloatLiteral(1.0f) -> "0000803f",
      FloatLiteral(-0.0f) -> "00000080",
      DoubleLiteral(1.0) -> "000000000000f03f",
      DateLiteral(-1) -> "ffffffff",
      TimeLiteral(1L) -> "0100000000000000",
      TimestampLiteral(-1L) -> "ffffffffffffffff",
      TimestampTzLiteral(256L) -> "0001000000000000",
      TimestampNsLiteral(1L) -> "0100000000000000",
      TimestampTzNsLiteral(1L) -> "0100000000000000",
      StringLiteral("é\uD83D\uDE00") -> "c3a9f09f9880",
      UuidLiteral(UUID.fromString(uuid)) -> uuid.replace("-", ""),
      FixedLiteral(buffer("000102ff")) -> "000102ff",
      BinaryLiteral(buffer("")) -> "",
      DecimalLiteral(new BigDecimal("14.20")) -> "058c",
      DecimalLiteral(new BigDecimal("-0.01")) -> "ff",
      DecimalLiteral(new BigDecimal("1.28")) -> "0080"
    )
    expected.foreach { case (value, bytes) => assert(hex(SingleValue.encode(value)) == bytes, value) }
  }

  test("every value is decoded from part of a buffer of either byte order") {
    forAll(Gen.oneOf(ExpressionGenerators.types).flatMap(t => ExpressionGenerators.value(t).map(t -> _))) {
      case (t, value) =>
        val bytes = SingleValue.encode(value)
        val padded = ByteBuffer.allocate(bytes.remaining + 2)
        padded.put(7.toByte).put(bytes.duplicate()).put(7.toByte)
        padded.position(1).limit(bytes.remaining + 1)
        Seq(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN).foreach { order =>
          val buffer = padded.duplicate().order(order)
          assert(SingleValue.decode(t, buffer) == value && buffer.position() == 1)
        }
    }
  }

  test("bounds that were written before a promotion are recognized by their length") {
    assert(SingleValue.decode(LongType, SingleValue.encode(IntLiteral(-7))) == LongLiteral(-7L))
    assert(SingleValue.decode(DoubleType, SingleValue.encode(FloatLiteral(1.5f))) == DoubleLiteral(1.5))
    assert(
      SingleValue.decode(TimestampType, SingleValue.encode(DateLiteral(-1))) ==
        TimestampLiteral(-DateTime.MicrosPerDay)
    )
    assert(
      SingleValue.decode(TimestampNsType, SingleValue.encode(DateLiteral(1))) ==
        TimestampNsLiteral(DateTime.NanosPerDay)
    )
    val wide = SingleValue.encode(DecimalLiteral(new BigDecimal("1.28")))
    assert(SingleValue.decode(DecimalType(38, 2), wide) == DecimalLiteral(new BigDecimal("1.28")))
    assert(SingleValue.decode(DecimalType(9, 2), buffer("00000080")) == DecimalLiteral(new BigDecimal("1.28")))
  }

  test("bytes that are not a value of the type are rejected, with the type in the message") {
    val wrong = Seq[(PrimitiveType, String)](
      BooleanType -> "",
      IntType -> "0000",
      IntType -> "0000000000000000",
      LongType -> "000000",
      FloatType -> "0000000000000000",
      TimestampTzType -> "00000000",
      TimestampNsType -> "ffffff7f",
      UuidType -> "00",
      DecimalType(9, 2) -> "",
      VariantType -> "00000000"
    )
    wrong.foreach { case (t, bytes) =>
      val e = intercept[IcebergError.InvalidArgument](SingleValue.decode(t, buffer(bytes)))
      assert(e.getMessage.contains(t.toString))
      assert(SingleValue.decodeValid(t, buffer(bytes)).isEmpty)
    }
  }

  test("a string that was truncated within a character is not a valid bound") {
    assert(SingleValue.decodeValid(StringType, buffer("61e4b8")).isEmpty)
    assert(SingleValue.decodeValid(StringType, buffer("61efbfbd")).contains(StringLiteral("a\uFFFD")))
  }

  test("binary and fixed literals can be serialized to another JVM") {
    val binary = BinaryLiteral(ByteBuffer.wrap(Array[Byte](1, -1)))
    Seq[Literal](binary, FixedLiteral(ByteBuffer.wrap(Array[Byte](0, 2)))).foreach {
      value =>
        val bytes = new java.io.ByteArrayOutputStream
        new java.io.ObjectOutputStream(bytes).writeObject(value)
        val read = new java.io.ObjectInputStream(new java.io.ByteArrayInputStream(bytes.toByteArray)).readObject()
        assert(read == value)
    }
  }
}
