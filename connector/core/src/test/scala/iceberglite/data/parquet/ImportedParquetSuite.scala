package iceberglite.data.parquet

import org.apache.parquet.example.data.simple.NanoTime
import org.apache.parquet.io.api.Binary
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ParquetRules
import iceberglite.data.Record
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.{MappedField, NameMapping}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.TemporaryDirectory

/** Tests reading imported files without field ids, with two-level lists, or with types that only other writers use. */
class ImportedParquetSuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles {
  private val threeLevels = """optional group l (LIST) { repeated group bag { optional int32 item; } }
    optional group m (MAP) { repeated group key_value {
      required binary key (STRING); optional group value { optional int32 old; } } }
    optional group s { optional int32 x; }"""

  private val table = schemaOf(
    optional(1, "list", ListType(2, IntType, elementRequired = false)),
    optional(
      3,
      "map",
      MapType(4, StringType, 5, StructType(Vector(optional(6, "new", IntType))), valueRequired = false)
    ),
    optional(7, "struct", StructType(Vector(optional(8, "x", IntType))))
  )

  private def nestedFile(): String = writeForeign(threeLevels) { row =>
    val list = row.addGroup("l")
    list.addGroup("bag").append("item", 1)
    list.addGroup("bag")
    row.addGroup("m").addGroup("key_value").append("key", "k").addGroup("value").append("old", 2)
    row.addGroup("s").append("x", 3)
  }

  test("a name mapping assigns field ids at every level, by any name of a mapped field", ParquetRules.mappedNames) {
    val mapping = NameMapping(Vector(
      MappedField(Vector("other", "l"), Some(1), Vector(MappedField(Vector("element"), Some(2), Vector.empty))),
      MappedField(
        Vector("m"),
        Some(3),
        Vector(
          MappedField(Vector("key"), Some(4), Vector.empty),
          MappedField(Vector("value"), Some(5), Vector(MappedField(Vector("old"), Some(6), Vector.empty)))
        )
      ),
      MappedField(Vector("s"), None, Vector(MappedField(Vector("x"), Some(8), Vector.empty)))
    ))
    val expected = Record.of(Vector(1, null), Vector(("k", Record.of(2))), null)
    assert(read(nestedFile(), table, mapping = Some(mapping)) == Vector(expected))
  }

  test("a file with any field id is read only by its ids", ParquetRules.mappedNames) {
    val path = writeForeign("optional int32 a = 1; optional int32 b;")(_.append("a", 1).append("b", 2))
    val projection = schemaOf(optional(1, "a", IntType), optional(2, "b", IntType))
    assert(read(path, projection, mapping = Some(NameMapping.of(projection))) == Vector(Record.of(1, null)))
    assert(read(path, projection) == Vector(Record.of(1, null)))
  }

  test(
    "without ids and name mapping, columns are matched by position, and nested fields by name",
    ParquetRules.positionIds
  ) {
    val projection = schemaOf(
      optional(3, "struct", StructType(Vector(optional(9, "x", IntType), optional(8, "y", IntType)))),
      optional(1, "list", ListType(4, IntType, elementRequired = false)),
      optional(77, "later", IntType)
    )
    assert(read(nestedFile(), projection) == Vector(Record.of(Record.of(3, null), Vector(1, null), null)))
  }

  test("two-level lists of values and of structs are read", ParquetRules.threeLevelLists) {
    val path = writeForeign(
      """optional group a (LIST) = 1 { repeated int32 array = 2; }
        |optional group b (LIST) = 3 { repeated group array = 4 { optional int32 x = 5; } }
        |optional group c (LIST) = 6 { repeated group c_tuple = 7 { optional int32 y = 8; optional int32 z = 9; } }
        |""".stripMargin
    )(
      row => {
        row.addGroup("a").append("array", 1).append("array", 2)
        row.addGroup("b").addGroup("array").append("x", 3)
        row.addGroup("c").addGroup("c_tuple").append("z", 4)
      },
      row => row.addGroup("a")
    )
    val projection = schemaOf(
      optional(1, "a", ListType(2, LongType, elementRequired = true)),
      optional(3, "b", ListType(4, StructType(Vector(optional(5, "x", IntType))), elementRequired = true)),
      optional(6, "c", ListType(7, StructType(Vector(optional(9, "z", IntType))), elementRequired = true))
    )
    assert(read(path, projection) == Vector(
      Record.of(Vector(1L, 2L), Vector(Record.of(3)), Vector(Record.of(4))),
      Record.of(Vector.empty, null, null)
    ))
  }

  test("the error for a repeated field outside a list contains its name") {
    val path = writeForeign("repeated int32 r = 1;")(_.append("r", 1))
    val error = intercept[UnreadableFile](read(path, schemaOf(optional(1, "r", IntType))))
    assert(error.getMessage.contains("Column r") && error.getMessage.contains(path))
  }

  test("INT96, milliseconds, unsigned and small integers are read with their values", ParquetRules.typesRead) {
    val path = writeForeign(
      """optional int96 old = 1; optional int64 ms (TIMESTAMP(MILLIS,true)) = 2;
        optional int32 t (TIME(MILLIS,true)) = 3;
        |optional int32 u32 (INTEGER(32,false)) = 4; optional int32 i8 (INTEGER(8,true)) = 5;
        |optional binary e (ENUM) = 6; optional binary d (DECIMAL(20,2)) = 7; optional int96 oldNs = 8;
        |optional binary plain = 9; optional fixed_len_byte_array(2) fx = 10;""".stripMargin
    )(
      _.append("old", new NanoTime(2440589, 1999)).append("ms", -5L).append("t", 7).append("u32", -1).append("i8", -8)
        .append("e", "E").append("d", Binary.fromConstantByteArray(Array[Byte](-1, 0))).append(
          "oldNs",
          new NanoTime(2440587, 3)
        )
        .append("plain", "p").append("fx", Binary.fromConstantByteArray(Array[Byte](1, 2)))
    )
    val projection = schemaOf(
      optional(1, "old", TimestampTzType),
      optional(2, "ms", TimestampTzType),
      optional(3, "t", TimeType),
      optional(4, "u32", LongType),
      optional(5, "i8", IntType),
      optional(6, "e", StringType),
      optional(7, "d", DecimalType(20, 2)),
      optional(8, "oldNs", TimestampTzNsType),
      optional(9, "plain", StringType),
      optional(10, "fx", BinaryType)
    )
    val row = read(path, projection).head
    val expected = Seq[Any](
      86400000001L,
      -5000L,
      7000L,
      4294967295L,
      -8,
      "E",
      new java.math.BigDecimal("-2.56"),
      -86399999999997L,
      "p"
    )
    assert(row.values.toSeq.take(9) == expected)
    assert(row(9) == java.nio.ByteBuffer.wrap(Array[Byte](1, 2)))
  }

  test("a required column that is optional in the file is read, including nulls") {
    val path = writeForeign("optional int32 a = 1;")(_.append("a", 1), _ => ())
    assert(read(path, schemaOf(required(1, "a", IntType))) == Vector(Record.of(1), Record.of(null)))
  }
}
