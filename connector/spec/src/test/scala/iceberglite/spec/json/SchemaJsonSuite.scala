package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.{EvolutionRules, TypeRules}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

class SchemaJsonSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def invalid(json: String): InvalidMetadata = intercept[InvalidMetadata](SchemaJson.parse("f.json", json))

  private def fieldOf(fieldType: String): String =
    s"""{"type":"struct","fields":[{"id":1,"name":"c","required":false,"type":$fieldType}]}"""

  test("every schema round-trips through JSON", TypeRules.anyNesting) {
    forAll(MetadataGenerators.schema(4))(schema => assert(SchemaJson.parse("f", SchemaJson.toJson(schema)) == schema))
  }

  test("types are written and read in the form of Appendix C", TypeRules.primitiveNames, TypeRules.spatialDefaults) {
    val expected = Seq(
      "boolean" -> BooleanType,
      "int" -> IntType,
      "long" -> LongType,
      "float" -> FloatType,
      "double" -> DoubleType,
      "date" -> DateType,
      "time" -> TimeType,
      "timestamp" -> TimestampType,
      "timestamptz" -> TimestampTzType,
      "timestamp_ns" -> TimestampNsType,
      "timestamptz_ns" -> TimestampTzNsType,
      "string" -> StringType,
      "uuid" -> UuidType,
      "fixed[16]" -> FixedType(16),
      "binary" -> BinaryType,
      "decimal(9, 2)" -> DecimalType(9, 2),
      "unknown" -> UnknownType,
      "variant" -> VariantType,
      "geometry" -> GeometryType(DefaultCrs),
      "geometry(srid:3857)" -> GeometryType("srid:3857"),
      "geography" -> GeographyType(DefaultCrs, DefaultEdgeAlgorithm),
      "geography(EPSG:4326, karney)" -> GeographyType("EPSG:4326", "karney")
    )
    expected.foreach { case (name, t) =>
      assert(TypeJson.toJson(t) == s""""$name"""")
      assert(TypeJson.parse("f", s""""$name"""") == t)
    }
  }

  test("types are read regardless of case and whitespace") {
    val expected = Seq(
      "decimal(9,2)" -> DecimalType(9, 2),
      "decimal( 9 , 2 )" -> DecimalType(9, 2),
      "decimal(9,-2)" -> DecimalType(9, -2),
      "STRING" -> StringType,
      "fixed[ 4 ]" -> FixedType(4),
      "geometry(OGC:CRS84)" -> GeometryType(DefaultCrs),
      "Geography( EPSG:4326 )" -> GeographyType("EPSG:4326", DefaultEdgeAlgorithm)
    )
    expected.foreach { case (name, t) => assert(TypeJson.parse("f", s""""$name"""") == t) }
  }

  test("the specification's example of a struct with defaults is read", TypeRules.initialAndWrite) {
    val json = """{"type":"struct","fields":[
      {"id":1,"name":"id","required":true,"type":"uuid",
       "initial-default":"0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb","write-default":"ec5911be-b0a7-458c-8438-c9a3e53cffae"},
      {"id":2,"name":"data","required":false,"type":
        {"type":"list","element-id":3,"element-required":true,"element":"string"}},
      {"id":6,"name":"m","required":false,"type":
        {"type":"map","key-id":4,"key":"string","value-id":5,"value-required":false,"value":"double"}}]}"""
    val schema = SchemaJson.parse("f", json)
    def uuid(text: String) = Some(OfPrimitive(UuidLiteral(java.util.UUID.fromString(text))))
    assert(schema == Schema(
      0,
      Vector(
        NestedField(
          1,
          "id",
          UuidType,
          required = true,
          initialDefault = uuid("0db3e2a8-9d1d-42b9-aa7b-74ebe558dceb"),
          writeDefault = uuid("ec5911be-b0a7-458c-8438-c9a3e53cffae")
        ),
        NestedField.optional(2, "data", ListType(3, StringType, true)),
        NestedField.optional(6, "m", MapType(4, StringType, 5, DoubleType, false))
      )
    ))
  }

  test("a schema is written with its id and identifier fields, and JSON keys without a value are omitted") {
    val schema = Schema(2, Vector(NestedField.required(1, "a", IntType, "doc")), Set(1))
    assert(SchemaJson.toJson(schema) == """{"type":"struct","schema-id":2,"identifier-field-ids":[1],""" +
      """"fields":[{"id":1,"name":"a","required":true,"type":"int","doc":"doc"}]}""")
    assert(SchemaJson.toJson(Schema.Empty) == """{"type":"struct","schema-id":0,"fields":[]}""")
  }

  test("an invalid schema is reported with its JSON path", TypeRules.decimalPrecision) {
    assert(invalid(fieldOf("\"intt\"")).path == "$.fields[0].type")
    assert(invalid(fieldOf("\"intt\"")).reason == "Unknown type: intt")
    val noId = fieldOf("""{"type":"list","element":"int","element-required":true}""")
    assert(invalid(noId).reason == "The key element-id is missing")
    assert(invalid(fieldOf("""{"type":"set"}""")).path == "$.fields[0].type.type")
    assert(invalid(fieldOf("7")).path == "$.fields[0].type")
    assert(invalid(fieldOf("\"decimal(39, 1)\"")).reason.contains("decimal(39, 1)"))
    assert(invalid(fieldOf("\"fixed[0]\"")).reason.contains("fixed[0]"))
    assert(invalid("""{"type":"struct","fields":[{"id":"1"}]}""").reason == "Expected an int, found \"1\"")
    assert(invalid("""{"type":"struct"}""").reason == "The key fields is missing")
    assert(invalid("[]").path == "$")
  }

  test("reserved ids and duplicate ids are rejected", EvolutionRules.reservedIds, TypeRules.uniqueIds) {
    val field = """{"id":2147483646,"name":"c","required":false,"type":"int"}"""
    assert(invalid(s"""{"fields":[$field]}""").path == "$.fields[0].id")
    val element = """{"type":"list","element-id":2147483448,"element":"int","element-required":false}"""
    assert(invalid(fieldOf(element)).reason.contains("reserved id 2147483448"))
    val one = field.replace("2147483646", "1")
    assert(invalid(s"""{"fields":[$one,$one]}""").reason == "Two fields have the id 1")
  }

  private def defaulted(fieldType: String, default: String): String =
    s"""{"fields":[{"id":1,"name":"c","required":false,"type":$fieldType,"write-default":$default}]}"""

  private val structJson =
    """{"type":"struct","fields":[{"id":2,"name":"x","required":false,"type":"int","initial-default":3}]}"""
  private val listJson = """{"type":"list","element-id":2,"element":"int","element-required":false}"""
  private val mapJson =
    """{"type":"map","key-id":2,"key":"string","value-id":3,"value":"date","value-required":true}"""

  test(
    "defaults of lists and maps are read in the form of Appendix D, and the default of a struct is {}",
    TypeRules.nestedDefaults,
    TypeRules.structDefault
  ) {
    def default(json: String) = SchemaJson.parse("f.json", json).fields.head.writeDefault
    assert(default(defaulted(structJson, "{}")).contains(EmptyStruct))
    assert(default(defaulted(structJson, "null")).isEmpty)
    val one = OfPrimitive(IntLiteral(1))
    assert(default(defaulted(listJson, "[1, null]")).contains(OfList(Vector(Some(one), None))))
    assert(default(defaulted(mapJson, """{"keys": ["a"], "values": ["1970-01-02"]}"""))
      .contains(OfMap(Vector(OfPrimitive(StringLiteral("a")) -> Some(OfPrimitive(DateLiteral(1)))))))
  }

  test("a default that is not a value of its type is rejected with its JSON path") {
    Seq(
      structJson -> """{"2": 1}""" -> "$.fields[0].write-default",
      structJson -> "1" -> "$.fields[0].write-default",
      listJson -> """[1, "a"]""" -> "$.fields[0].write-default[1]",
      mapJson -> """{"keys": ["a"], "values": []}""" -> "$.fields[0].write-default",
      mapJson -> """{"keys": ["a"], "values": [null]}""" -> "$.fields[0].write-default.values[0]",
      mapJson -> """{"keys": [null], "values": ["1970-01-02"]}""" -> "$.fields[0].write-default.keys[0]",
      "\"variant\"" -> "{}" -> "$.fields[0].write-default"
    ).foreach { case ((fieldType, default), place) => assert(invalid(defaulted(fieldType, default)).path == place) }
  }
}
