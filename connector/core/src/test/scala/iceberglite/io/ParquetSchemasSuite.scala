package iceberglite.io

import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.{NestedField, Schema}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.NestedField.{optional, required}
import iceberglite.spec.Type._

class ParquetSchemasSuite extends AnyFunSuite {
  private def parquet(fields: NestedField*) = ParquetSchemas.of(Schema(0, fields.toVector))

  test("types are mapped as the table of Appendix A has it") {
    val schema = parquet(
      required(1, "bo", BooleanType),
      optional(2, "i", IntType),
      optional(3, "l", LongType),
      optional(4, "f", FloatType),
      optional(5, "d", DoubleType),
      optional(6, "d9", DecimalType(9, 2)),
      optional(7, "d18", DecimalType(18, 2)),
      optional(8, "d19", DecimalType(19, 2)),
      optional(9, "d38", DecimalType(38, 0)),
      optional(10, "da", DateType),
      optional(11, "t", TimeType),
      optional(12, "ts", TimestampType),
      optional(13, "tz", TimestampTzType),
      optional(14, "ns", TimestampNsType),
      optional(15, "nz", TimestampTzNsType),
      optional(16, "s", StringType),
      optional(17, "u", UuidType),
      optional(18, "fx", FixedType(7)),
      optional(19, "b", BinaryType)
    )
    val expected = MessageTypeParser.parseMessageType(
      """message table {
        |  required boolean bo = 1; optional int32 i = 2; optional int64 l = 3; optional float f = 4;
        |  optional double d = 5; optional int32 d9 (DECIMAL(9,2)) = 6; optional int64 d18 (DECIMAL(18,2)) = 7;
        |  optional fixed_len_byte_array(9) d19 (DECIMAL(19,2)) = 8;
        |  optional fixed_len_byte_array(16) d38 (DECIMAL(38,0)) = 9;
        |  optional int32 da (DATE) = 10; optional int64 t (TIME(MICROS,false)) = 11;
        |  optional int64 ts (TIMESTAMP(MICROS,false)) = 12; optional int64 tz (TIMESTAMP(MICROS,true)) = 13;
        |  optional int64 ns (TIMESTAMP(NANOS,false)) = 14; optional int64 nz (TIMESTAMP(NANOS,true)) = 15;
        |  optional binary s (STRING) = 16; optional fixed_len_byte_array(16) u (UUID) = 17;
        |  optional fixed_len_byte_array(7) fx = 18; optional binary b = 19;
        |}""".stripMargin
    )
    assert(schema == expected)
  }

  test("every node of lists, maps and structs has its id, and lists have three levels") {
    val element = StructType(Vector(optional(11, "x", IntType)))
    val schema = parquet(
      optional(1, "list", ListType(10, element, elementRequired = false)),
      required(2, "map", MapType(20, StringType, 21, LongType, valueRequired = true))
    )
    val expected = MessageTypeParser.parseMessageType(
      """message table {
        |  optional group list (LIST) = 1 {
        |    repeated group list { optional group element = 10 { optional int32 x = 11; } } }
        |  required group map (MAP) = 2 {
        |    repeated group key_value { required binary key (STRING) = 20; required int64 value = 21; } }
        |}""".stripMargin
    )
    assert(schema == expected)
  }

  test("names that Parquet's tools cannot stand are escaped, letters of any script are not") {
    val names = Map("a.b" -> "a_x2Eb", "a b" -> "a_x20b", "größe" -> "größe", "漢字" -> "漢字", "1" -> "_1")
    names.foreach { case (name, escaped) =>
      assert(parquet(optional(1, name, IntType)).getFields.get(0).getName == escaped)
    }
  }

  test("unknown columns are not stored, and what is not written yet is refused by name") {
    assert(parquet(optional(1, "u", UnknownType), optional(2, "i", IntType)).getFieldCount == 1)
    val error = intercept[Unsupported](parquet(optional(1, "v", VariantType)))
    assert(error.getMessage.contains("column v") && error.getMessage.contains("variant"))
  }
}
