package iceberglite.data

import java.nio.ByteBuffer

import org.apache.iceberg.variants.{VariantValue, Variants}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag}
import iceberglite.conformance.SparkRules
import iceberglite.spec.IcebergError.InvalidArgument

/** Tests the conversion of variants to JSON. */
class VariantJsonSuite extends AnyFunSuite {
  private val emptyMetadata = bytes(1, 0, 0)

  private def bytes(values: Int*): ByteBuffer = ByteBuffer.wrap(values.map(_.toByte).toArray)

  private def text(values: Int*): String = VariantJson.text(emptyMetadata, bytes(values: _*))

  test("the JSON of a variant contains the values of its binary encoding", SparkRules.variantsAsText) {
    assert(text(0x00) == "null")
    assert(text(0x04) == "true")
    assert(text(0x0c, 0xff) == "-1")
    assert(text(0x18, 0, 0, 0, 0, 0, 0, 0, 0x80) == "-9223372036854775808")
    assert(text(0x20, 2, 0xc7, 0xcf, 0xff, 0xff) == "-123.45")
    assert(text(0x2c, 0xff, 0xff, 0xff, 0xff) == "\"1969-12-31\"")
    assert(text(0x09, 'h', 'i') == "\"hi\"")
    assert(text(0x03, 2, 0, 1, 2, 0x04, 0x00) == "[true,null]")
    assert(text(0x13, 1, 0, 0, 0, 0, 1, 0x08) == "[false]", "a large array")
  }

  test("the fields of an object have the names in the metadata, and the encoded order", SparkRules.variantsAsText) {
    val names = bytes(0x11, 2, 0, 1, 3, 'a', 'b', '"')
    val value = bytes(0x02, 2, 0, 1, 2, 0, 3, 0x00, 0xff, 0x04)
    assert(VariantJson.text(names, value) == """{"a":true,"b\"":null}""")
    assert(VariantJson.fields(names, value).contains(Vector("a" -> "true", "b\"" -> "null")))
    assert(VariantJson.fields(names, bytes(0x00)).isEmpty)
  }

  test("bytes that are not a valid variant are rejected, including arrays that overlap or are nested too deeply") {
    def rejection(metadata: ByteBuffer, value: ByteBuffer): String =
      intercept[InvalidArgument](VariantJson.text(metadata, value)).getMessage
    assert(rejection(bytes(2, 0, 0), bytes(0)).contains("its metadata has version 2"))
    assert(rejection(bytes(0xc1, 0xff, 0xff, 0xff, 0x7f), bytes(0)).contains("claims 2147483647 names"))
    assert(rejection(emptyMetadata, bytes()).contains("refers to byte 1, but has only 0 bytes"))
    assert(rejection(emptyMetadata, bytes(0x40, 0xff, 0xff, 0xff, 0x7f)).contains("refers to byte"))
    assert(rejection(emptyMetadata, bytes(0x02, 1, 0, 0, 1, 0)).contains("only 0 names"))
    assert(rejection(emptyMetadata, bytes(0x7c)).contains("unknown type 31"))
    assert(rejection(emptyMetadata, bytes(0x44, 0, 0, 0, 0, 0, 0, 0, 0x80)).contains("not a time of day"))
    // Each array contains the next array three times at the same offset.
    val arrays = (0 until 30).flatMap(_ => Seq(0x03, 3, 0, 0, 0, 0)) :+ 0x00
    assert(rejection(emptyMetadata, bytes(arrays: _*)).contains("overlap"))
    val deep = (0 until 5000).flatMap(_ => Seq(0x03, 1, 0, 1)) :+ 0x00
    assert(rejection(emptyMetadata, bytes(deep: _*)).contains("nested more than 500 levels deep"))
  }

  test("converting a damaged variant to JSON succeeds or throws an IcebergError", MoreRoundsInSlowTierTag) {
    val (metadata, value) = sample
    Fuzz.bytes("variant", 2000, Vector(value))(v => VariantJson.text(ByteBuffer.wrap(metadata), ByteBuffer.wrap(v)))
    Fuzz.bytes("names of a variant", 1000, Vector(metadata)) { m =>
      VariantJson.text(ByteBuffer.wrap(m), ByteBuffer.wrap(value))
    }
  }

  private def sample: (Array[Byte], Array[Byte]) = {
    val metadata = Variants.metadata("a", "b", "c")
    val inner = Variants.`object`(metadata)
    inner.put("c", Variants.of("x" * 80))
    inner.put("a", Variants.of(1.5d))
    val array = Variants.array()
    Seq[VariantValue](
      Variants.of(1),
      inner,
      Variants.ofIsoDate("2024-02-29"),
      Variants.of(new java.math.BigDecimal("1.25"))
    )
      .foreach(array.add)
    val whole = Variants.`object`(metadata)
    whole.put("a", array)
    whole.put("b", Variants.ofNull)
    (toBytes(metadata.sizeInBytes)(metadata.writeTo(_, 0)), toBytes(whole.sizeInBytes)(whole.writeTo(_, 0)))
  }

  private def toBytes(size: Int)(write: ByteBuffer => Int): Array[Byte] = {
    val buffer = ByteBuffer.allocate(size).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    write(buffer)
    buffer.array
  }
}
