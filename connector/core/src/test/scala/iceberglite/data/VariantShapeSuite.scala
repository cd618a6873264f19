package iceberglite.data

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.VariantShape.{Elements, Fields, Values}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Tests the choice of the typed columns of shredded variants. */
class VariantShapeSuite extends AnyFunSuite {
  private def shape(json: String*): Option[VariantShape] =
    VariantShape.of(json.map(text => VariantParser.parse(ByteBuffer.wrap(text.getBytes(UTF_8)))))

  test("a column has the type of at least half of the values that are not null") {
    assert(shape("1", "2", "null", "null", "null", "\"x\"").contains(Values(IntType)))
    assert(shape("1", "\"x\"", "true").isEmpty && shape("null").isEmpty && shape().isEmpty)
    assert(shape("true").contains(Values(BooleanType)) && shape("1e3").contains(Values(DoubleType)))
    assert(shape("1", "99999999999").contains(Values(LongType)))
  }

  test("decimals of one scale have a column with the digits of one of the decimal types") {
    assert(shape("1.50", "12.25").contains(Values(DecimalType(9, 2))))
    assert(shape("1.50", "12345678901.25").contains(Values(DecimalType(18, 2))))
    assert(shape("0.0000000001").contains(Values(DecimalType(18, 10))))
    assert(shape("12345678901234567890.5").contains(Values(DecimalType(38, 1))))
    assert(shape("1.5", "1.25", "1.125").isEmpty)
  }

  test("fields of objects and elements of lists are typed at every level, except rare fields and unsuitable names") {
    val list = Elements(Fields(Vector("c" -> Values(IntType))))
    assert(shape("""{"a":{"b":[{"c":1}]},"d":"x"}""").contains(
      Fields(Vector("a" -> Fields(Vector("b" -> list)), "d" -> Values(StringType)))
    ))
    val rare = """{"a":1,"rare":2}""" +: Seq.fill(10)("""{"a":1}""")
    assert(shape(rare: _*).contains(Fields(Vector("a" -> Values(IntType)))))
    assert(shape("{\"a.b\":1,\"\":2,\"\\u0001\":3,\"x\":4,\"X\":5}").exists {
      case Fields(Vector((name, _))) => name.equalsIgnoreCase("x")
      case _ => false
    })
    assert(shape("{}", "[]").isEmpty && shape("[null]").isEmpty)
  }

  test("the number and the depth of columns is limited") {
    def count(s: VariantShape): Int = s match {
      case Values(_) => 1
      case Elements(element) => count(element)
      case Fields(fields) => fields.map(f => count(f._2)).sum
    }
    val wide = (1 to 500).map(i => s""""f$i":{"x":$i}""").mkString("{", ",", "}")
    assert(shape(wide).map(count).contains(100))
    assert(shape("[" * 20 + "1" + "]" * 20).isEmpty)
  }

  test("a value is in a typed column only if it can be read from the column as it was") {
    assert(VariantShape.valueIn(LongType, IntLiteral(1)).contains(LongLiteral(1L)))
    assert(VariantShape.valueIn(IntType, LongLiteral(1L << 40)).isEmpty)
    assert(VariantShape.valueIn(DoubleType, FloatLiteral(1f)).isEmpty)
    assert(VariantShape.valueIn(IntType, DateLiteral(1)).isEmpty)
    assert(VariantShape.valueIn(DecimalType(9, 2), DecimalLiteral(new BigDecimal("1.5"))).isEmpty)
    assert(VariantShape.valueIn(DecimalType(9, 2), DecimalLiteral(new BigDecimal("1234567890.50"))).isEmpty)
    assert(VariantShape.valueIn(DecimalType(9, 2), IntLiteral(1)).isEmpty)
    assert(VariantShape.valueIn(StringType, StringLiteral("\ufffd")).isEmpty)
  }
}
