package iceberglite.parquet

import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ParquetRules
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

class ParquetSchemasSuite extends AnyFunSuite {
  private def parquet(fields: NestedField*) = ParquetSchemas.of(Schema(0, fields.toVector))

  private val types = Vector(
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

  private val file = MessageTypeParser.parseMessageType(
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

  test(
    "Appendix A, Parquet: each type is mapped to its physical and logical type",
    ParquetRules.typesWritten,
    ParquetRules.idsOnNodes
  ) {
    assert(parquet(types: _*) == file)
  }

  test("Appendix A, Parquet: the schema of a file is mapped to the table's schema", ParquetRules.typesRead) {
    assert(SchemaOfParquet.of(file) == Schema(0, types))
  }

  test(
    "Appendix A, Parquet: elements, keys, values and fields have their ids, and lists have three levels",
    ParquetRules.threeLevelLists,
    ParquetRules.idsOnNodes,
    ParquetRules.typesRead
  ) {
    val element = StructType(Vector(optional(11, "x", IntType)))
    val fields = Vector(
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
    assert(parquet(fields: _*) == expected)
    assert(SchemaOfParquet.of(expected) == Schema(0, fields))
  }

  test("special characters and leading digits in names are escaped, but letters of any script are not") {
    val names = Map("a.b" -> "a_x2Eb", "a b" -> "a_x20b", "größe" -> "größe", "漢字" -> "漢字", "1" -> "_1")
    names.foreach { case (name, escaped) =>
      assert(parquet(optional(1, name, IntType)).getFields.get(0).getName == escaped)
    }
  }

  test(
    "columns of type unknown are not stored, geometries are binary and variants are groups",
    ParquetRules.unknownNotStored,
    ParquetRules.variantParts
  ) {
    val schema = parquet(
      optional(1, "u", UnknownType),
      optional(2, "g", GeometryType(DefaultCrs)),
      required(3, "h", GeographyType(DefaultCrs, DefaultEdgeAlgorithm)),
      optional(4, "v", VariantType)
    )
    val expected = MessageTypeParser.parseMessageType(
      """message table { optional binary g = 2; required binary h = 3;
        |  optional group v = 4 { required binary metadata; required binary value; } }""".stripMargin
    )
    assert(schema == expected)
  }

  test("the error for a struct or list without stored fields mentions the type unknown") {
    val withoutStoredFields =
      Seq(StructType(Vector(optional(2, "u", UnknownType))), ListType(2, UnknownType, elementRequired = false))
    withoutStoredFields.foreach(t =>
      assert(intercept[Unsupported](parquet(optional(1, "hollow", t))).getMessage.contains("unknown"))
    )
  }

  test("a file without ids gets column ids from 1, and ids of nested fields from 1000", ParquetRules.typesRead) {
    val schema = SchemaOfParquet.of(MessageTypeParser.parseMessageType(
      """message m { required int96 t; optional group l (LIST) { repeated int32 array; }
        |  optional group m (MAP) { repeated group map {
        |    required binary k (UTF8); optional group v { optional int32 x; } } }
        |  optional int32 u (INTEGER(32,false)); optional int32 i (INTEGER(16,false));
        |  optional int64 ms (TIMESTAMP(MILLIS,false));
        |  optional binary e (ENUM); optional binary j (JSON); optional binary d (DECIMAL(12,3));
        |  optional int32 t3 (TIME(MILLIS,true)); optional fixed_len_byte_array(12) iv (INTERVAL); }""".stripMargin
    ))
    assert(schema == Schema(
      0,
      Vector(
        required(1, "t", TimestampTzType),
        optional(2, "l", ListType(1000, IntType, elementRequired = true)),
        optional(
          3,
          "m",
          MapType(1001, StringType, 1002, StructType(Vector(optional(1003, "x", IntType))), valueRequired = false)
        ),
        optional(4, "u", LongType),
        optional(5, "i", IntType),
        optional(6, "ms", TimestampType),
        optional(7, "e", StringType),
        optional(8, "j", StringType),
        optional(9, "d", DecimalType(12, 3)),
        optional(10, "t3", TimeType),
        optional(11, "iv", FixedType(12))
      )
    ))
  }

  test("the error for a file column whose type no table column can have contains the column") {
    Seq("optional int64 c (INTEGER(64,false));", "repeated int32 c;", "optional int64 c (TIME(NANOS,true));").foreach {
      c =>
        val error = intercept[Unsupported](SchemaOfParquet.of(MessageTypeParser.parseMessageType(s"message m { $c }")))
        assert(error.getMessage.contains("column c"))
    }
  }
}
