package iceberglite.data.avro

import org.apache.avro.{Schema => AvroSchema}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.avro.AvroSchemas
import iceberglite.conformance.FormatRules
import iceberglite.data.RecordGenerators
import iceberglite.spec.types.Type
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/** Tests the conversion of types to and from Avro schemas (specification, "Appendix A: Avro"). */
class AvroTypesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def toAvro(t: Type): AvroSchema = AvroSchemas.of(StructType(Vector(required(1, "f", t))), "r")

  private def json(t: Type): String = {
    val parsed = new AvroSchema.Parser().parse(toAvro(t).toString)
    parsed.getFields.get(0).schema.toString
  }

  private def fromJson(json: String): Type = {
    val record = s"""{"type":"record","name":"r","fields":[{"name":"f","type":$json,"field-id":1}]}"""
    AvroTypes.toStruct(new AvroSchema.Parser().parse(record)).fields.head.fieldType
  }

  private val typeTable: Seq[(Type, String)] = Seq(
    BooleanType -> "\"boolean\"",
    IntType -> "\"int\"",
    LongType -> "\"long\"",
    FloatType -> "\"float\"",
    DoubleType -> "\"double\"",
    DecimalType(9, 2) ->
      """{"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,"scale":2}""",
    DateType -> """{"type":"int","logicalType":"date"}""",
    TimeType -> """{"type":"long","logicalType":"time-micros"}""",
    TimestampType -> """{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":false}""",
    TimestampTzType -> """{"type":"long","logicalType":"timestamp-micros","adjust-to-utc":true}""",
    TimestampNsType -> """{"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":false}""",
    TimestampTzNsType -> """{"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":true}""",
    StringType -> "\"string\"",
    UuidType -> """{"type":"fixed","name":"uuid_fixed","size":16,"logicalType":"uuid"}""",
    FixedType(7) -> """{"type":"fixed","name":"fixed_7","size":7}""",
    BinaryType -> "\"bytes\"",
    UnknownType -> "\"null\"",
    VariantType ->
      ("""{"type":"record","name":"r1","fields":[{"name":"metadata","type":"bytes"},{"name":"value",""" +
        """"type":"bytes"}],"logicalType":"variant"}"""),
    StructType(Vector(optional(8, "l", LongType))) ->
      """{"type":"record","name":"r1","fields":[{"name":"l","type":["null","long"],"default":null,"field-id":8}]}""",
    ListType(9, IntType, elementRequired = true) -> """{"type":"array","items":"int","element-id":9}""",
    ListType(9, IntType, elementRequired = false) -> """{"type":"array","items":["null","int"],"element-id":9}""",
    MapType(10, StringType, 11, IntType, valueRequired = true) ->
      """{"type":"map","values":"int","key-id":10,"value-id":11}""",
    MapType(12, IntType, 13, StringType, valueRequired = true) ->
      ("""{"type":"array","items":{"type":"record","name":"k12_v13","fields":[{"name":"key","type":"int",""" +
        """"field-id":12},{"name":"value","type":"string","field-id":13}]},"logicalType":"map"}""")
  )

  test(
    "types are mapped in both directions as in the table of Appendix A",
    FormatRules.avroTypes,
    FormatRules.avroUtc,
    FormatRules.avroIds,
    FormatRules.avroMaps,
    FormatRules.avroDecimals,
    FormatRules.avroNulls,
    FormatRules.variants
  ) {
    typeTable.foreach { case (t, text) =>
      assert(json(t) == text)
      assert(fromJson(text) == t)
    }
    assert(json(GeometryType(DefaultCrs)) == "\"bytes\"")
    assert(json(GeographyType(DefaultCrs, DefaultEdgeAlgorithm)) == "\"bytes\"")
  }

  test(
    "a schema that is converted to an Avro schema and back has the same types, ids and names",
    FormatRules.avroTypes,
    FormatRules.avroNames
  ) {
    val types = RecordGenerators.all.filter {
      case _: GeometryType | _: GeographyType => false // Both are stored as bytes, which are read as binary.
      case _ => true
    }
    forAll(RecordGenerators.schema(types)) { schema =>
      val json = AvroSchemas.of(schema.asStruct, "table").toString
      assert(AvroTypes.toStruct(new AvroSchema.Parser().parse(json)) == schema.asStruct)
    }
  }

  test("a name that Avro forbids is escaped and restored", FormatRules.avroNames) {
    val struct =
      StructType(Vector(required(1, "a.b", IntType), required(2, "1st", IntType), required(3, "größe", IntType)))
    val schema = AvroSchemas.of(struct, "table")
    assert(schema.toString.contains(""""name":"a_x2Eb","type":"int","iceberg-field-name":"a.b","field-id":1"""))
    assert(schema.toString.contains(""""name":"_1st""""))
    assert(AvroTypes.toStruct(schema) == struct)
  }

  test("equivalent types of other writers are mapped to the same types", FormatRules.avroUtc, FormatRules.avroUnions) {
    assert(fromJson("""["int","null"]""") == IntType)
    assert(fromJson("""{"type":"string","logicalType":"uuid"}""") == UuidType)
    assert(fromJson("""{"type":"long","logicalType":"timestamp-micros"}""") == TimestampType)
    assert(fromJson("""{"type":"long","logicalType":"timestamp-millis","adjust-to-utc":"true"}""") == TimestampTzType)
    assert(fromJson("""{"type":"bytes","logicalType":"decimal","precision":5,"scale":1}""") == DecimalType(5, 1))
    assert(fromJson("""{"type":"bytes","logicalType":"decimal","precision":5}""") == DecimalType(5, 0))
    assert(fromJson("""{"type":"enum","name":"e","symbols":["A"]}""") == StringType)
    assert(fromJson("""{"type":"int","logicalType":"time-millis"}""") == TimeType)
  }

  test("fields without ids, lists whose elements have no ids, and unions of several types are omitted") {
    val record = """{"type":"record","name":"r","fields":[
      {"name":"a","type":"int"},{"name":"b","type":["int","string"],"field-id":2},
      {"name":"c","type":{"type":"array","items":"int"},"field-id":3},{"name":"d","type":"int","field-id":"4"}]}"""
    assert(AvroTypes.toStruct(new AvroSchema.Parser().parse(record)).fields == Vector(required(4, "d", IntType)))
  }
}
