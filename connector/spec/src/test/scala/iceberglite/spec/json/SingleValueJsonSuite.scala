package iceberglite.spec.json

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.ExpressionGenerators
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class SingleValueJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def read(json: String, t: PrimitiveType): Literal = SingleValueJson.read(JsonValue.parse("f", json), t)

  private def written(value: Literal): String = JsonFormat.text(SingleValueJson.write(value, _))

  private def bytes(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  test("values are written in the form of the table in Appendix D") {
    val expected = Seq[(PrimitiveType, String, Literal)](
      (BooleanType, "true", BooleanLiteral(true)),
      (IntType, "34", IntLiteral(34)),
      (LongType, "9223372036854775807", LongLiteral(Long.MaxValue)),
      (FloatType, "1.0", FloatLiteral(1.0f)),
      (DoubleType, "1.0", DoubleLiteral(1.0)),
      (DecimalType(9, 2), "\"14.20\"", DecimalLiteral(new BigDecimal("14.20"))),
      (DecimalType(9, -20), "\"2E+20\"", DecimalLiteral(new BigDecimal("2E+20"))),
      (DecimalType(9, -20), "\"25E+20\"", DecimalLiteral(new BigDecimal("25E+20"))),
      (DecimalType(9, 9), "\"0.000000001\"", DecimalLiteral(new BigDecimal("0.000000001"))),
      (DateType, "\"2017-11-16\"", DateLiteral(17486)),
      (TimeType, "\"22:31:08.123456\"", TimeLiteral(81068123456L)),
      (TimestampType, "\"2017-11-16T22:31:08.123456\"", TimestampLiteral(1510871468123456L)),
      (TimestampTzType, "\"2017-11-16T22:31:08.123456+00:00\"", TimestampTzLiteral(1510871468123456L)),
      (TimestampNsType, "\"2017-11-16T22:31:08.123456789\"", TimestampNsLiteral(1510871468123456789L)),
      (TimestampTzNsType, "\"2017-11-16T22:31:08.123456789+00:00\"", TimestampTzNsLiteral(1510871468123456789L)),
      (StringType, "\"iceberg\"", StringLiteral("iceberg")),
      (
        UuidType,
        "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"",
        UuidLiteral(UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7"))
      ),
      (FixedType(4), "\"000102ff\"", FixedLiteral(bytes(0, 1, 2, 255))),
      (BinaryType, "\"000102ff\"", BinaryLiteral(bytes(0, 1, 2, 255)))
    )
    expected.foreach { case (t, json, value) =>
      assert(read(json, t) == value)
      assert(written(value) == json)
    }
  }

  test("every value round-trips through JSON") {
    val values = Gen.oneOf(ExpressionGenerators.types).flatMap(t => ExpressionGenerators.value(t).map(t -> _))
    forAll(values) { case (t, value) => assert(read(written(value), t) == value) }
  }

  test("JSON that is not a value of the type is rejected") {
    val wrong = Seq[(PrimitiveType, String)](
      BooleanType -> "1",
      IntType -> "2147483648",
      IntType -> "1.0",
      LongType -> "9223372036854775808",
      LongType -> "\"1\"",
      DoubleType -> "\"x\"",
      DecimalType(9, 2) -> "14.20",
      DecimalType(9, 2) -> "\"14.2\"",
      DecimalType(3, 2) -> "\"14.20\"",
      DecimalType(9, 2) -> "\"1E+999999999\"",
      DateType -> "\"2017-02-30\"",
      TimeType -> "\"25:00:00\"",
      TimestampType -> "\"2017-11-16T22:31:08+00:00\"",
      TimestampTzType -> "\"2017-11-16T22:31:08\"",
      TimestampNsType -> "\"9999-01-01T00:00:00\"",
      UuidType -> "\"1-1-1-1-1\"",
      FixedType(4) -> "\"0001\"",
      BinaryType -> "\"0g\"",
      BinaryType -> "\"012\"",
      UnknownType -> "1",
      VariantType -> "{}"
    )
    wrong.foreach { case (t, json) => withClue(s"$t $json")(intercept[InvalidMetadata](read(json, t))) }
  }
}
