package iceberglite.avro

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._

class AvroSchemasSuite extends AnyFunSuite {

  /** Returns the Avro type of the field as JSON without spaces. */
  private def json(field: NestedField): String = {
    val record = AvroSchemas.of(StructType(Vector(field)), "r")
    new AvroSchema.Parser().parse(record.toString).getFields.get(0).schema.toString
  }
  private def json(t: iceberglite.spec.types.Type): String = json(NestedField.required(1, "f", t))

  test("primitive types are mapped as in Appendix A of the Iceberg specification") {
    assert(json(BooleanType) == "\"boolean\"")
    assert(json(IntType) == "\"int\"")
    assert(json(LongType) == "\"long\"")
    assert(json(FloatType) == "\"float\"")
    assert(json(DoubleType) == "\"double\"")
    assert(json(StringType) == "\"string\"")
    assert(json(BinaryType) == "\"bytes\"")
    assert(json(DateType) == """{"type":"int","logicalType":"date"}""")
    assert(json(TimeType) == """{"type":"long","logicalType":"time-micros"}""")
    assert(json(TimestampType) == """{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false}""")
    assert(json(TimestampTzType) == """{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}""")
    assert(json(TimestampNsType) == """{"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":false}""")
    assert(json(TimestampTzNsType) == """{"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":true}""")
    assert(json(UuidType) == """{"type":"fixed","name":"uuid_fixed","size":16,"logicalType":"uuid"}""")
    assert(json(FixedType(7)) == """{"type":"fixed","name":"fixed_7","size":7}""")
    assert(
      json(DecimalType(9, 2)) ==
        """{"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,"scale":2}"""
    )
  }

  test("a decimal is stored in the fewest bytes that hold its precision") {
    val sizes = Map(1 -> 1, 2 -> 1, 3 -> 2, 4 -> 2, 5 -> 3, 9 -> 4, 10 -> 5, 18 -> 8, 19 -> 9, 38 -> 16)
    sizes.foreach { case (precision, size) => assert(AvroSchemas.bytesOfDecimal(precision) == size, precision) }
  }

  test("an optional field is a union of null and its type with the default null, and has its field id") {
    val record = AvroSchemas.of(StructType(Vector(NestedField.optional(8, "l", LongType))), "r")
    assert(record.getFields.get(0).toString.contains("l"))
    assert(record.toString.contains("""{"name":"l","type":["null","long"],"default":null,"field-id":8}"""))
  }

  test("the Avro schemas of lists, maps and structs contain the ids of their nested fields") {
    assert(json(ListType(9, IntType, elementRequired = true)) == """{"type":"array","items":"int","element-id":9}""")
    assert(
      json(MapType(10, StringType, 11, IntType, valueRequired = true)) ==
        """{"type":"map","values":"int","key-id":10,"value-id":11}"""
    )
    assert(
      json(MapType(12, IntType, 13, StringType, valueRequired = false)) ==
        """{"type":"array","items":{"type":"record","name":"k12_v13","fields":[""" +
        """{"name":"key","type":"int","field-id":12},""" +
        """{"name":"value","type":["null","string"],"default":null,"field-id":13}]},"logicalType":"map"}"""
    )
    val struct = json(NestedField.required(102, "f", StructType(Vector(NestedField.required(1000, "x", IntType)))))
    assert(struct == """{"type":"record","name":"r102","fields":[{"name":"x","type":"int","field-id":1000}]}""")
  }

  test("names that Avro forbids are escaped, and kept in a property", ManifestRules.partitionNames) {
    val names = Map("a.b" -> "a_x2Eb", "1st" -> "_1st", "é" -> "_xE9", "a b" -> "a_x20b", "ok_1" -> "ok_1")
    names.foreach { case (name, escaped) => assert(FileFieldNames.avro(name) == escaped) }
    val record = AvroSchemas.of(StructType(Vector(NestedField.required(1, "a.b", IntType))), "r")
    assert(record.getFields.asScala.head.getProp("iceberg-field-name") == "a.b")
  }

  test("a schema that uses the same fixed type twice is valid for Avro's own parser") {
    val decimals = Vector(1, 2).map(i => NestedField.optional(i, s"d$i", DecimalType(9, 2)))
    val text = AvroSchemas.of(StructType(decimals), "r").toString
    assert(new AvroSchema.Parser().parse(text).getFields.size == 2)
  }
}
