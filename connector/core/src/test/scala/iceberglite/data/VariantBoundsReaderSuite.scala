package iceberglite.data

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.iceberg.expressions.PathUtil
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.MetricsRules
import iceberglite.spec.expr.VariantPart
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Tests the binary form of bounds of variants and the names of their parts. */
class VariantBoundsReaderSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def decimal(text: String) = DecimalLiteral(new java.math.BigDecimal(text))

  private val bounds = Vector(
    ("$", IntLiteral(1), IntType),
    ("$['a']", LongLiteral(-1L), LongType),
    ("$['a']['b']", decimal("1.5"), DecimalType(38, 1)),
    ("$['d']", DateLiteral(3), DateType),
    ("$['s']", StringLiteral("x" * 100), StringType)
  )

  private def read(bytes: ByteBuffer, name: String): Option[Literal] =
    VariantBoundsReader.decode(bytes).flatMap(_.of(name.getBytes(UTF_8)))

  private def encoded: ByteBuffer = VariantBoundsReader.encode(bounds).get

  test("bounds are read by the name of the part", MetricsRules.variantBounds) {
    bounds.foreach { case (name, value, _) => assert(read(encoded, name).contains(value)) }
    assert(read(encoded, "$['b']").isEmpty && VariantBoundsReader.encode(Vector.empty).isEmpty)
    // The position of the bytes does not change, and they need not be at the beginning of a buffer.
    val shifted = ByteBuffer.allocate(encoded.remaining + 3)
    shifted.position(3)
    shifted.put(encoded).position(3)
    assert(read(shifted, "$['a']").contains(LongLiteral(-1L)) && shifted.position() == 3)
  }

  test("all bounds of a part have the same type in the encoding, whatever their size", MetricsRules.variantBounds) {
    def header(value: Literal, t: PrimitiveType): Int =
      VariantNode.ofWidth(value, t) match {
        case VariantNode.Scalar(bytes) => bytes(0).toInt
        case other => fail(other.toString)
      }
    assert(Seq(1, 1000, Int.MaxValue).map(v => header(IntLiteral(v), IntType)).toSet.size == 1)
    assert(Seq(1L, Long.MaxValue).map(v => header(LongLiteral(v), LongType)).toSet.size == 1)
    for (precision <- Seq(9, 18, 38))
      assert(Seq("1.5", "-99999999.9").map(v => header(decimal(v), DecimalType(precision, 1))).toSet.size == 1)
  }

  test("invalid bounds are ignored", MetricsRules.variantBounds) {
    def ofBytes(bytes: Int*) = read(ByteBuffer.wrap(bytes.map(_.toByte).toArray), "$")
    assert(ofBytes().isEmpty && ofBytes(1, 0, 0).isEmpty && ofBytes(1, 0, 0, 12, 1).isEmpty)
    val bytes = new Array[Byte](encoded.remaining)
    encoded.get(bytes)
    val random = new Random(1L)
    for (_ <- 0 until 5000) {
      val damaged = bytes.clone
      for (_ <- 0 to random.nextInt(3)) damaged(random.nextInt(damaged.length)) = random.nextInt().toByte
      val length = if (random.nextBoolean()) damaged.length else random.nextInt(damaged.length)
      val shown = ByteBuffer.wrap(damaged, 0, length)
      bounds.foreach { case (name, _, _) => read(shown, name) }
    }
    val nested = VariantEncoding.encode(VariantNode.Fields(Vector("$" -> VariantNode.Elements(Vector.empty))))
    val joined = ByteBuffer.allocate(nested.metadata.remaining + nested.value.remaining)
    joined.put(nested.metadata).put(nested.value).flip()
    assert(read(joined, "$").isEmpty)
  }

  test("bounds of a part whose name is not the first, or a prefix of another name, are found") {
    val names = (0 until 300).map(i => "n" * (i % 7) + s"é$i").toVector
    val bounds = VariantBoundsReader.encode(names.map(name => (name, StringLiteral(name), StringType))).get
    names.foreach(name => assert(read(bounds, name).contains(StringLiteral(name))))
    assert(read(bounds, "n").isEmpty && read(bounds, "").isEmpty && read(bounds, "é1234").isEmpty)
  }

  test("bounds are encoded only if their names and values are not larger than a variant may be") {
    def encodes(names: Int, value: Int): Boolean = VariantBoundsReader
      .encode(Vector("a", "b").map(n => (n * names, StringLiteral("x" * value), StringType))).isDefined
    val half = VariantEncoding.MaxSize / 2
    assert(encodes(1, half - 20) && !encodes(1, half))
    assert(encodes(half - 20, 1) && !encodes(half, 1))
  }

  test("the names of parts are the normalized paths of Apache Iceberg", MetricsRules.variantBounds) {
    val names = Gen.listOf(Gen.oneOf(
      Gen.alphaStr,
      Gen.stringOf(Gen.choose(' ', '\u00ff')),
      Gen.stringOf(Gen.oneOf(
        "'\\\"\b\t\n\f\r\u0001\u001f.[]$😀".toSeq
      )).map(_.filterNot(Character.isSurrogate))
    ))
    forAll(names)(path => assert(VariantPart.nameOf(path) == PathUtil.toNormalizedPath(path.asJava)))
    assert(VariantPart.nameOf(Seq("a", "b'c")) == "$['a']['b\\'c']")
  }
}
