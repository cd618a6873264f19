package iceberglite.spark.read.parquet

import org.apache.parquet.example.data.Group
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT32
import org.apache.parquet.schema.Types
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ProjectionRules
import iceberglite.spark.read.parquet.ParquetFile.{Scan, write}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.{MappedField, NameMapping}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/** Checks by which field ids or names the columns of a table are found in Parquet files. */
class ColumnMatchSuite extends AnyFunSuite {
  private val twoInts = write("message m { required int32 a = 1; optional int32 b = 2; }")(
    _.append("a", 1).append("b", 10),
    _.append("a", 2)
  )

  test("columns are found by id, regardless of their names", ProjectionRules.byId) {
    assert(twoInts.read(optional(2, "a", IntType), required(1, "b", IntType)) == Seq(Row(10, 1), Row(null, 2)))
  }

  test("a new column with the name of a dropped column does not read the old values", ProjectionRules.byId) {
    assert(twoInts.read(required(1, "a", IntType), optional(3, "b", IntType)) == Seq(Row(1, null), Row(2, null)))
  }

  test("a scan that selects no column of the file returns the correct number of rows") {
    assert(twoInts.read() == Seq(Row(), Row()))
    assert(twoInts.read(optional(9, "x", StringType)) == Seq(Row(null), Row(null)))
  }

  test("lists, maps and structs that the file lacks are null") {
    val list = optional(3, "l", ListType(4, IntType, elementRequired = true))
    val map = optional(5, "m", MapType(6, StringType, 7, IntType, valueRequired = true))
    val s = optional(8, "s", StructType(Vector(required(9, "x", IntType))))
    assert(twoInts.read(list, map, s) == Seq(Row(null, null, null), Row(null, null, null)))
  }

  test("rows written before a column was added have its initial default", ProjectionRules.missingOrder) {
    val added = optional(3, "c", StringType).copy(initialDefault = Some(OfPrimitive(StringLiteral("old"))))
    val needed = required(4, "d", LongType).copy(initialDefault = Some(OfPrimitive(IntLiteral(7))))
    assert(twoInts.read(added, needed) == Seq(Row("old", 7L), Row("old", 7L)))
  }

  test(
    "an added list, map or struct has its initial default, and the fields of the struct have their own defaults",
    ProjectionRules.structOfDefaults
  ) {
    def int(n: Int) = OfPrimitive(IntLiteral(n))
    val list = optional(3, "l", ListType(4, IntType, elementRequired = false))
      .copy(initialDefault = Some(OfList(Vector(Some(int(1)), None))))
    val map = optional(5, "m", MapType(6, StringType, 7, LongType, valueRequired = false))
      .copy(initialDefault = Some(OfMap(Vector(OfPrimitive(StringLiteral("k")) -> Some(int(2))))))
    val x = required(9, "x", IntType).copy(initialDefault = Some(int(3)))
    val inner = optional(10, "inner", StructType(Vector(x.copy(id = 11))))
    val s = required(8, "s", StructType(Vector(x, inner, inner.copy(id = 12, initialDefault = Some(EmptyStruct)))))
      .copy(initialDefault = Some(EmptyStruct))
    val expected = Row(Seq(1, null), Map("k" -> 2L), Row(3, null, Row(3)))
    assert(twoInts.read(list, map, s) == Seq(expected, expected))
    val structs = optional(3, "l", ListType(4, s.fieldType, elementRequired = true))
      .copy(initialDefault = Some(OfList(Vector(Some(EmptyStruct)))))
    assert(twoInts.read(structs).head == Row(Seq(Row(3, null, Row(3)))))
  }

  test(
    "a missing required field in a struct with a default is reported with its path",
    ProjectionRules.requiredMissing
  ) {
    val s = optional(3, "s", StructType(Vector(required(9, "x", IntType)))).copy(initialDefault = Some(EmptyStruct))
    assert(intercept[UnreadableFile](twoInts.read(s)).getMessage.contains("no column s.x"))
  }

  test("a file without a required column is rejected with file and column name", ProjectionRules.requiredMissing) {
    val error = intercept[UnreadableFile](twoInts.read(required(3, "c", IntType)))
    assert(error.getMessage.contains(twoInts.path) && error.getMessage.contains("lite.db.t"))
    assert(error.getMessage.contains("no column c (field id 3)"))
  }

  test("the error for a column whose type does not match the table contains both types") {
    val error = intercept[UnreadableFile](twoInts.read(required(1, "a", StringType)))
    assert(error.getMessage.contains("column a is required int32 a = 1, but the table has string"))
  }

  test(
    "an identity partition value is used only if the file lacks the column",
    ProjectionRules.partitionValueOnlyMissing
  ) {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "a", Identity), PartitionField(3, 1001, "c", Identity)))
    val scan = Scan(
      Vector(required(1, "a", IntType), required(3, "c", LongType)),
      specs = Map(0 -> spec),
      task = _.copy(partition = PartitionTuple(Vector(Some(IntLiteral(99)), Some(IntLiteral(5)))))
    )
    assert(twoInts.read(scan) == Seq(Row(1, 5L), Row(2, 5L)))
  }

  private val nested = write(
    """message m {
      |  optional group s = 1 { optional int32 x = 2; optional group inner = 3 { optional binary t (UTF8) = 4; } }
      |}""".stripMargin
  )(
    g => {
      val s = g.addGroup("s")
      s.append("x", 1)
      s.addGroup("inner").append("t", "one")
    },
    _.addGroup("s"),
    _ => ()
  )

  private def struct(id: Int, name: String, fields: NestedField*) = optional(id, name, StructType(fields.toVector))

  test("fields of structs are found by id, and fields that the file lacks are null") {
    val inner = struct(3, "in", optional(4, "u", StringType))
    val s = struct(1, "renamed", optional(9, "new", IntType), inner, optional(2, "y", IntType))
    assert(nested.read(s) == Seq(Row(Row(null, Row("one"), 1)), Row(Row(null, null, null)), Row(null)))
  }

  test("a struct without any requested field in the file is null only where the file has a null struct") {
    assert(nested.read(struct(1, "s", optional(9, "new", IntType))) == Seq(Row(Row(null)), Row(Row(null)), Row(null)))
  }

  test("a nested struct without any requested field in the file is null where the file has a null struct") {
    val s = struct(1, "s", struct(3, "inner", optional(9, "new", IntType)))
    assert(nested.read(s) == Seq(Row(Row(Row(null))), Row(Row(null)), Row(null)))
  }

  test("a field that was added to a struct has its initial default in structs that were written before") {
    val added = optional(9, "new", IntType).copy(initialDefault = Some(OfPrimitive(IntLiteral(3))))
    assert(nested.read(struct(1, "s", added)) == Seq(Row(Row(3)), Row(Row(3)), Row(null)))
  }

  private val list =
    """message m { optional group l (LIST) = 1 { repeated group list { optional group element = 2 {
      |  optional int32 x = 3; optional binary y (UTF8) = 4; } } } }""".stripMargin

  test("fields of structs in lists are found by id", ProjectionRules.byId) {
    val file = write(list)(
      g => {
        val elements = g.addGroup("l")
        elements.addGroup("list").addGroup("element").append("x", 1).append("y", "a")
        elements.addGroup("list").addGroup("element").append("x", 2)
        elements.addGroup("list")
      },
      _.addGroup("l"),
      _ => ()
    )
    def listOf(fields: NestedField*) =
      optional(1, "l", ListType(2, StructType(fields.toVector), elementRequired = false))
    val swapped = listOf(optional(4, "x", StringType), optional(9, "z", IntType), optional(3, "y", LongType))
    val expected = Seq(Row(Seq(Row("a", null, 1L), Row(null, null, 2L), null)), Row(Seq()), Row(null))
    assert(file.read(swapped) == expected)
    assert(file.read(listOf(optional(9, "z", IntType))).map(_.toString) ==
      Seq("[WrappedArray([null], [null], null)]", "[WrappedArray()]", "[null]"))
  }

  test("fields of structs in maps are found by id") {
    val file = write(
      """message m { optional group m (MAP) = 1 { repeated group key_value { required binary key (UTF8) = 2;
        |  optional group value = 3 { optional int32 x = 4; optional int32 y = 5; } } } }""".stripMargin
    )(g => {
      val entries = g.addGroup("m")
      entries.addGroup("key_value").append("key", "k").addGroup("value").append("x", 1).append("y", 2)
      entries.addGroup("key_value").append("key", "none")
    })
    val value = StructType(Vector(optional(5, "a", LongType), optional(9, "b", StringType)))
    val map = optional(1, "m", MapType(2, StringType, 3, value, valueRequired = false))
    assert(file.read(map) == Seq(Row(Map("k" -> Row(2L, null), "none" -> null))))
  }

  test("two-level lists keep their elements if only some fields of the elements are selected") {
    val file = write(
      """message m {
        |  optional group ints (LIST) = 1 { repeated int32 element = 2; }
        |  optional group structs (LIST) = 3 { repeated group it = 4 { optional int32 x = 5; optional int32 y = 6; } }
        |}""".stripMargin
    )(g => {
      g.addGroup("ints").append("element", 1).append("element", 2)
      val structs = g.addGroup("structs")
      structs.addGroup("it").append("x", 1).append("y", 10)
      structs.addGroup("it").append("y", 20)
    })
    val ints = optional(1, "ints", ListType(2, LongType, elementRequired = true))
    val structs =
      optional(3, "structs", ListType(4, StructType(Vector(optional(6, "y", IntType))), elementRequired = true))
    assert(file.read(ints, structs) == Seq(Row(Seq(1L, 2L), Seq(Row(10), Row(20)))))
  }

  test("a repeated field that is not selected does not affect the elements of two-level lists") {
    val file = write(
      "message m { optional group l (LIST) = 1 { repeated group array = 2 { repeated int32 many; " +
        "optional int32 x = 3; } } }"
    )(
      g => {
        val list = g.addGroup("l")
        list.addGroup("array").append("many", 1).append("many", 2).append("x", 10)
        list.addGroup("array").append("x", 20)
        list.addGroup("array").append("many", 3)
      },
      _ => (),
      _.addGroup("l").addGroup("array").append("many", 4).append("x", 30)
    )
    val list = optional(1, "l", ListType(2, StructType(Vector(optional(3, "x", IntType))), elementRequired = true))
    assert(file.read(list) == Seq(Row(Seq(Row(10), Row(20), Row(null))), Row(null), Row(Seq(Row(30)))))
  }

  test("a repeated field that is not a list is rejected") {
    val file = write("message m { repeated int32 a = 1; }")(_.append("a", 1))
    intercept[UnreadableFile](file.read(optional(1, "a", IntType)))
  }

  test(
    "columns and nested fields of a file without field ids are found with the table's name mapping",
    ProjectionRules.mappingWithoutIds,
    ProjectionRules.mappingNesting
  ) {
    val file = write(
      """message m {
        |  optional int32 a;
        |  optional group s { optional int32 x; }
        |  optional group l (LIST) { repeated group bag { optional group array_element { optional int32 x; } } }
        |  optional group m (MAP) { repeated group map { required binary key (UTF8); optional int32 value; } }
        |}""".stripMargin
    )(g => {
      g.append("a", 1)
      g.addGroup("s").append("x", 2)
      g.addGroup("l").addGroup("bag").addGroup("array_element").append("x", 3)
      g.addGroup("m").addGroup("map").append("key", "k").append("value", 4)
    })
    def field(id: Int, nested: MappedField*)(names: String*) = MappedField(names.toVector, Some(id), nested.toVector)
    val mapping = NameMapping(Vector(
      field(1)("other", "a"),
      field(2, field(3)("x"))("s"),
      field(4, field(5, field(6)("x"))("element"))("l"),
      field(7, field(8)("key"), field(9)("value"))("m")
    ))
    val columns = Vector(
      optional(1, "renamed", IntType),
      struct(2, "s", optional(3, "y", IntType)),
      optional(4, "l", ListType(5, StructType(Vector(optional(6, "y", IntType))), elementRequired = false)),
      optional(7, "m", MapType(8, StringType, 9, LongType, valueRequired = false))
    )
    val scan = Scan(columns, mapping = Some(mapping))
    assert(file.read(scan) == Seq(Row(1, Row(2), Seq(Row(3)), Map("k" -> 4L))))
    // Without a name mapping, the top-level columns of a file get ids from 1 on, as in Apache Iceberg. Nested fields
    // get no ids.
    assert(file.read(Scan(columns.take(2))) == Seq(Row(1, Row(null))))
  }

  test("the name mapping is ignored for a file with field ids", ProjectionRules.mappingWithoutIds) {
    val mapping = NameMapping(Vector(MappedField(Vector("a"), Some(9), Vector.empty)))
    val scan = Scan(Vector(optional(9, "a", IntType)), mapping = Some(mapping))
    assert(twoInts.read(scan) == Seq(Row(null), Row(null)))
  }

  test(
    "columns whose names contain dots, spaces, quotes and non-ASCII letters are found by id",
    ProjectionRules.mappingLiteralNames
  ) {
    val names = Seq("a.b", "a b", "a`b", "größe", "列", "A", "a", ";= {")
    val builder = Types.buildMessage()
    names.zipWithIndex.foreach { case (n, i) => builder.addField(Types.optional(INT32).id(i + 1).named(n)) }
    val file = write(builder.named("m"))((g: Group) => names.zipWithIndex.foreach { case (n, i) => g.append(n, i) })
    val columns = names.zipWithIndex.map { case (n, i) => optional(i + 1, n, IntType) }
    assert(file.read(columns: _*) == Seq(Row(names.indices: _*)))
    val renamed = columns.zip(names.reverse).map { case (f, n) => f.copy(name = n) }
    assert(file.read(renamed: _*) == Seq(Row(names.indices: _*)))
  }
}
