package iceberglite.spec.update

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.EvolutionRules
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

class SchemaUnionSuite extends AnyFunSuite {
  private val table = SampleTables.empty(V2)
  private val start = SchemaChanges(table)

  private def union(fields: NestedField*): SchemaChanges = start.unionByNameWith(Schema(0, fields.toVector))

  test("columns that the table lacks are added at the end as optional columns", EvolutionRules.unionByName) {
    val update = union(required(1, "id", IntType), required(2, "new", StringType), optional(3, "ts", TimestampTzType))
    assert(update.result._1.fields.map(_.name) == table.schema.fields.map(_.name) :+ "new")
    assert(update.result._1.require("new").optional)
  }

  test("structs are merged at every level", EvolutionRules.unionByName) {
    val point = StructType(Vector(required(1, "x", IntType), optional(2, "z", IntType)))
    val place = StructType(Vector(required(3, "lat", DoubleType), optional(4, "alt", FloatType)))
    val update = union(
      optional(5, "points", ListType(6, point, elementRequired = true)),
      required(7, "location", place),
      optional(8, "tags", MapType(9, StringType, 10, LongType, valueRequired = false))
    )
    val schema = update.result._1
    assert(schema.require("points.element.z").fieldType == IntType)
    assert(schema.require("location.alt").fieldType == FloatType)
    assert(schema.require("location.lat").fieldType == DoubleType)
    assert(schema.require("tags.value").fieldType == LongType)
    assert(schema.fields.map(_.id) == table.schema.fields.map(_.id), "existing columns do not move")
  }

  test("columns whose values the table's types can represent do not change the table", EvolutionRules.unionByName) {
    assert(union(required(1, "location", StructType(Vector.empty))).schema == table.schema)
    val wide = start.updateType(Vector("id"), LongType)
    assert(wide.unionByNameWith(Schema(0, Vector(required(1, "id", IntType)))).schema == wide.schema)
    assert(union(optional(1, "amount", DecimalType(5, 2))).schema == table.schema)
    assert(union(optional(1, "ts", UnknownType)).schema == table.schema)
  }

  test(
    "a column that is optional in the rows becomes optional and gets the comment of the rows' column",
    EvolutionRules.unionByName
  ) {
    val schema = union(optional(1, "id", IntType, "Key")).result._1
    assert(schema.require("id").optional && schema.require("id").doc.contains("Key"))
    assert(union(optional(1, "ts", TimestampTzType)).schema.require("ts").doc.contains("When"))
  }

  test(
    "incompatible types are rejected with the path of the column in the message",
    EvolutionRules.unionByName,
    EvolutionRules.primitiveStaysPrimitive
  ) {
    def rejection(fields: NestedField*) = intercept[ValidationFailed](union(fields: _*)).getMessage
    assert(rejection(required(1, "id", StringType)).contains("column id from int to string"))
    val point = StructType(Vector(required(1, "x", StringType)))
    assert(rejection(optional(2, "points", ListType(3, point, elementRequired = true))).contains("points.element.x"))
    assert(rejection(optional(1, "id", StructType(Vector(optional(2, "a", IntType))))).contains("column id from int"))
    assert(rejection(required(1, "location", IntType)).contains("column location"))
  }

  test("names are matched case-insensitively when the session is case-insensitive", EvolutionRules.unionByName) {
    val anyCase = SchemaChanges(SampleTables.empty(V3), caseSensitive = false)
    assert(anyCase.unionByNameWith(Schema(0, Vector(required(1, "ID", LongType)))).result._1.require("id").fieldType ==
      LongType)
  }
}
