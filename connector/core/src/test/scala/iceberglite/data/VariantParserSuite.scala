package iceberglite.data

import java.math.BigDecimal
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._

import com.fasterxml.jackson.core.JsonGenerator
import com.fasterxml.jackson.databind.node.JsonNodeFactory
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode, ObjectMapper}
import org.apache.iceberg.variants.{PhysicalType, VariantMetadata, VariantValue}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks.forAll

import iceberglite.MoreRoundsInSlowTierTag
import iceberglite.conformance.SparkRules
import iceberglite.spec.IcebergError.InvalidArgument

/** Tests the conversion of JSON text to variants, and their encoding. Apache Iceberg's library reads the variants. */
class VariantParserSuite extends AnyFunSuite {
  import VariantParserSuite._

  test("every JSON value is read back from its variant", SparkRules.variantsWritten, MoreRoundsInSlowTierTag) {
    forAll(json(3)) { node =>
      val variant = encoded(mapper.writeValueAsString(node))
      assert(mapper.readTree(VariantJson.text(variant.metadata, variant.value)) == node)
      val again = VariantEncoding.encode(VariantJson.node(variant.metadata, variant.value))
      assert(again == variant, "the variant after it is encoded a second time")
    }
  }

  test("Apache Iceberg reads the same values from the encoding", SparkRules.variantsWritten, MoreRoundsInSlowTierTag) {
    forAll(json(3)) { node =>
      val variant = encoded(mapper.writeValueAsString(node))
      val metadata = VariantMetadata.from(littleEndian(variant.metadata))
      assert(peerJson(VariantValue.from(metadata, littleEndian(variant.value))) == node)
      assert(metadata.dictionarySize == names(node).size)
      assert((0 until metadata.dictionarySize).map(metadata.get) == names(node).toVector.sortBy(bytesOf)(byBytes))
    }
  }

  test("a name that many objects have counts once for the size of a variant", Slow) {
    val text = Iterator.fill(700000)("""{"aaaaaaaaaaaaaaaaaaaa":1}""").mkString("[", ",", "]")
    assert(encoded(text).value.remaining < VariantEncoding.MaxSize)
  }

  test("numbers have the smallest exact type, and doubles are used only where no such type exists") {
    def typeOf(text: String): PhysicalType = {
      val variant = encoded(text)
      val metadata = VariantMetadata.from(littleEndian(variant.metadata))
      VariantValue.from(metadata, littleEndian(variant.value)).`type`
    }
    assert(Seq("0", "-0", "127", "-128").map(typeOf).forall(_ == PhysicalType.INT8))
    assert(Seq("128", "-32768").map(typeOf).forall(_ == PhysicalType.INT16))
    assert(Seq("32768", "-2147483648").map(typeOf).forall(_ == PhysicalType.INT32))
    assert(Seq("2147483648", s"${Long.MinValue}").map(typeOf).forall(_ == PhysicalType.INT64))
    assert(Seq("1.5", "0.0", "-12345678.9", "0.123456789").map(typeOf).forall(_ == PhysicalType.DECIMAL4))
    assert(Seq("1234567890.5", "0.1234567890").map(typeOf).forall(_ == PhysicalType.DECIMAL8))
    assert(Seq("9223372036854775808", "9" * 38, s"-0.${"9" * 38}").map(typeOf).forall(_ == PhysicalType.DECIMAL16))
    assert(Seq("1e0", "1E+3", "9" * 39, s"0.${"1" * 39}", "1e-400").map(typeOf).forall(_ == PhysicalType.DOUBLE))
    assert(text("1.50") == "1.50" && text("1e3") == "1000.0" && text(s"-${"9" * 38}") == s"-${"9" * 38}")
  }

  test("fields are in the order of the bytes of their names, and large objects and arrays have wide counts") {
    assert(text(
      """{"b":1,"a":{"\uD83D\uDE00":2,"\uFFFD":3},"":4}"""
    ) == "{\"\":4,\"a\":{\"\uFFFD\":3,\"\uD83D\uDE00\":2},\"b\":1}")
    val fields = (0 until 70000).map(i => s""""name$i":$i""").mkString("{", ",", "}")
    assert(mapper.readTree(text(fields)) == mapper.readTree(fields))
    def ofEqualHashCode(bits: Int) = (0 until 12).map(b => if ((bits >> b & 1) == 0) "Aa" else "BB").mkString
    val equalHashCodes = (0 until 1 << 12).map(ofEqualHashCode)
    assert(equalHashCodes.map(_.hashCode).distinct.size == 1)
    val colliding = equalHashCodes.map(name => s""""$name":1""").mkString("{", ",", "}")
    assert(mapper.readTree(text(colliding)) == mapper.readTree(colliding))
    val elements = (0 until 70000).mkString("[", ",", "]")
    assert(text(elements) == elements)
    assert(text(" [ ] ") == "[]" && text("{}") == "{}" && text("\"\"") == "\"\"")
    for (length <- Seq(63, 64, 300, 70000))
      assert(text(s""""${"ü" * (length / 2)}"""") == s""""${"ü" * (length / 2)}"""")
  }

  test("text that is not JSON is rejected with its position") {
    assert(rejection("") == "It must be a JSON value, but it is empty (at character 1)")
    assert(rejection("   ").contains("it is empty"))
    assert(
      rejection("[1,\n2,,3]").contains("It must be JSON: ") && rejection("[1,\n2,,3]").endsWith("(at character 7)")
    )
    assert(rejection("{\"a\":1} 2") == "It must be one JSON value, but another value follows (at character 9)")
    val invalidTexts = Seq("nul", "'a'", "{a:1}", "[1,]", "{\"a\"}", "[", "\"a", "01", "+1", ".5", "NaN", "1 // x", "]")
    (invalidTexts :+ "\"\t\"").foreach { invalid =>
      assert(rejection(invalid).contains("(at character "), invalid)
    }
    assert(rejection("{\"a\":1,\"b\":2,\"a\":3}") ==
      "An object has several fields with the name a (at character 14)")
    assert(rejection("\"\\ud800\"").contains("unpaired surrogate"))
    assert(rejection("{\"\\udc00x\":1}").contains("unpaired surrogate"))
    assert(text("\"\\ud83d\\ude00\"") == "\"\uD83D\uDE00\"")
    assert(rejection("1e999").contains("The number 1e999 is too large"))
    assert(rejection("1" * 900).contains("is too large"))
    assert(rejection("1" * 2000).contains("(at character "))
    val invalidUtf8 = Array[Byte]('"', -1, '"')
    assert(
      intercept[InvalidArgument](VariantParser.parse(ByteBuffer.wrap(invalidUtf8))).reason == "It must be in UTF-8"
    )
    val utf16 = ByteBuffer.wrap("[]".getBytes("UTF-16LE"))
    assert(intercept[InvalidArgument](VariantParser.parse(utf16)).reason.contains("It must be JSON"))
  }

  test("depth and size are limited, and errors contain only the beginning of a long text", Slow) {
    val deepest = "[" * 500 + "1" + "]" * 500
    assert(text(deepest) == deepest)
    Seq("[" * 502 + "]" * 502, "[" * 100000, "{\"a\":" * 100000).foreach { deep =>
      val error = intercept[InvalidArgument](encoded(deep))
      assert(error.reason.contains("nested more than 500 levels deep") && error.getMessage.length < 400)
    }
    val long = "\"" + "x" * 10000000 + "\""
    assert(text(long) == long)
    assert(rejection("\"" + "x" * 17000000 + "\"").contains("more than 16777216 bytes as a variant"))
    assert(rejection("[" + "0," * 5000000 + "0]").contains("more than 16777216 bytes as a variant"))
    assert(rejection("[" + Seq.fill(15)("\"" + "ü" * 600000 + "\"").mkString(",") + "]").contains("16777216 bytes"))
    assert(rejection(" " * (65 << 20)).contains("67108864 are supported"))
  }
}

private object VariantParserSuite {
  val mapper: ObjectMapper = new ObjectMapper()
    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, DeserializationFeature.USE_BIG_INTEGER_FOR_INTS)
    .setNodeFactory(new JsonNodeFactory(true))
    .configure(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN, true)

  def encoded(json: String): Variant =
    VariantEncoding.encode(VariantParser.parse(ByteBuffer.wrap(json.getBytes(UTF_8))))

  def text(json: String): String = {
    val variant = encoded(json)
    VariantJson.text(variant.metadata, variant.value)
  }

  def rejection(json: String): String = org.scalatest.Assertions.intercept[InvalidArgument](encoded(json)).reason

  def littleEndian(bytes: ByteBuffer): ByteBuffer = bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN)

  def bytesOf(name: String): Array[Byte] = name.getBytes(UTF_8)

  val byBytes: Ordering[Array[Byte]] = (a, b) => java.util.Arrays.compareUnsigned(a, b)

  def names(node: JsonNode): Set[String] =
    node.fieldNames.asScala.toSet ++ node.elements.asScala.flatMap(names)

  private val string: Gen[String] = Gen.frequency(
    5 -> Gen.alphaNumStr,
    2 -> Gen.listOf(Gen.oneOf("ü", "\"", "\\", "\n", "\u0001", "中", "\uE000", " ")).map(_.mkString),
    1 -> Gen.choose(60, 70).map("z" * _)
  )

  /**
   * Generates names of fields. Their order is the same in UTF-16 and in UTF-8: Apache Iceberg sorts fields by UTF-16,
   * and the encoding requires the order of UTF-8.
   */
  private val name: Gen[String] = Gen.oneOf(string.map(_.take(20)), Gen.oneOf("a", "b", "c"))

  private val number: Gen[JsonNode] = Gen.oneOf(
    Gen.choose(-200L, 200L).map(n => mapper.readTree(n.toString)),
    Gen.choose(Long.MinValue, Long.MaxValue).map(n => mapper.readTree(n.toString)),
    Gen.choose(1, 38).flatMap(n => Gen.listOfN(n, Gen.choose(1, 9))).map(d => mapper.readTree(d.mkString)),
    for (digits <- Gen.choose(1, 38); unscaled <- Gen.listOfN(digits, Gen.choose(1, 9)); scale <- Gen.choose(1, 38))
      yield mapper.readTree(new BigDecimal(BigInt(unscaled.mkString).bigInteger, scale).toPlainString)
  )

  /** Generates JSON values that are equal to the text of their variants. */
  def json(depth: Int): Gen[JsonNode] = {
    val factory = mapper.getNodeFactory
    val scalar: Gen[JsonNode] = Gen.oneOf(
      number,
      string.map(s => factory.textNode(s): JsonNode),
      Gen.oneOf(true, false).map(b => factory.booleanNode(b): JsonNode),
      Gen.const(factory.nullNode(): JsonNode)
    )
    if (depth == 0) scalar
    else Gen.frequency(
      1 -> scalar,
      2 -> Gen.resize(8, Gen.listOf(Gen.zip(name, Gen.lzy(json(depth - 1))))).map { fields =>
        val result = factory.objectNode()
        fields.foreach { case (n, v) => result.set[JsonNode](n, v) }
        result: JsonNode
      },
      2 -> Gen.resize(8, Gen.listOf(Gen.lzy(json(depth - 1)))).map { elements =>
        val result = factory.arrayNode()
        elements.foreach(result.add)
        result: JsonNode
      }
    )
  }

  /** Converts a value that Apache Iceberg has read to JSON. */
  def peerJson(value: VariantValue): JsonNode = value.`type` match {
    case PhysicalType.OBJECT =>
      val result = mapper.createObjectNode()
      val fields = value.asObject
      fields.fieldNames.asScala.foreach(n => result.set[JsonNode](n, peerJson(fields.get(n))))
      result
    case PhysicalType.ARRAY =>
      val result = mapper.createArrayNode()
      (0 until value.asArray.numElements).foreach(i => result.add(peerJson(value.asArray.get(i))))
      result
    case PhysicalType.NULL => mapper.nullNode()
    case PhysicalType.STRING => mapper.getNodeFactory.textNode(value.asPrimitive.get.toString)
    case _ => mapper.readTree(value.asPrimitive.get match {
        case decimal: BigDecimal => decimal.toPlainString
        case other => other.toString
      })
  }
}
