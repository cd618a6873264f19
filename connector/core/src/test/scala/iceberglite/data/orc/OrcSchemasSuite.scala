package iceberglite.data.orc

import scala.collection.JavaConverters._

import org.apache.orc.TypeDescription
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.FormatRules
import iceberglite.data.RecordGenerators
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/** Tests the conversion of schemas to and from ORC types (specification, "Appendix A: ORC"). */
class OrcSchemasSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def node(t: Type): TypeDescription =
    OrcSchemas.of(Schema(0, Vector(optional(5, "c", t)))).getChildren.get(0)

  private def attributes(t: TypeDescription): Map[String, String] =
    t.getAttributeNames.asScala.map(name => name -> t.getAttributeValue(name)).toMap

  private val commonAttributes = Map("iceberg.id" -> "5", "iceberg.required" -> "false")

  /** The types of Iceberg and ORC in the table of the specification, including the types of version 3. */
  private val table: Seq[(Type, String, Map[String, String])] = Seq(
    (BooleanType, "boolean", Map.empty),
    (IntType, "int", Map.empty),
    (LongType, "bigint", Map("iceberg.long-type" -> "LONG")),
    (FloatType, "float", Map.empty),
    (DoubleType, "double", Map.empty),
    (DecimalType(9, 2), "decimal(9,2)", Map.empty),
    (DateType, "date", Map.empty),
    (TimeType, "bigint", Map("iceberg.long-type" -> "TIME")),
    (TimestampType, "timestamp", Map("iceberg.timestamp-unit" -> "MICROS")),
    (TimestampTzType, "timestamp with local time zone", Map("iceberg.timestamp-unit" -> "MICROS")),
    (TimestampNsType, "timestamp", Map("iceberg.timestamp-unit" -> "NANOS")),
    (TimestampTzNsType, "timestamp with local time zone", Map("iceberg.timestamp-unit" -> "NANOS")),
    (StringType, "string", Map.empty),
    (UuidType, "binary", Map("iceberg.binary-type" -> "UUID")),
    (FixedType(7), "binary", Map("iceberg.binary-type" -> "FIXED", "iceberg.length" -> "7")),
    (BinaryType, "binary", Map("iceberg.binary-type" -> "BINARY")),
    (VariantType, "struct<metadata:binary,value:binary>", Map("iceberg.struct-type" -> "VARIANT")),
    (GeometryType(DefaultCrs), "binary", Map("iceberg.binary-type" -> "GEOMETRY")),
    (GeographyType(DefaultCrs, DefaultEdgeAlgorithm), "binary", Map("iceberg.binary-type" -> "GEOGRAPHY"))
  )

  test("types are mapped in both directions as in the table of Appendix A", FormatRules.orcTypes) {
    table.foreach { case (t, orc, extra) =>
      assert(node(t).toString == orc, t)
      assert(attributes(node(t)) == commonAttributes ++ extra, t)
      assert(
        OrcSchemas.toStruct(OrcSchemas.of(Schema(0, Vector(optional(5, "c", t))))).fields.map(_.fieldType) == Vector(t)
      )
    }
  }

  test("elements, keys, values and nested fields also have the id and required attributes", FormatRules.orcAttributes) {
    val inner = StructType(Vector(required(6, "x", IntType), optional(7, "y", IntType)))
    val schema = Schema(
      0,
      Vector(
        required(1, "l", ListType(2, inner, elementRequired = true)),
        optional(3, "m", MapType(4, StringType, 5, DateType, valueRequired = false))
      )
    )
    val orc = OrcSchemas.of(schema)
    assert(orc.toString == "struct<l:array<struct<x:int,y:int>>,m:map<string,date>>")
    def all(t: TypeDescription): Vector[Map[String, String]] =
      Option(t.getChildren).toVector.flatMap(_.asScala).flatMap(c => attributes(c) +: all(c))
    val found = all(orc).map(a => a("iceberg.id").toInt -> a("iceberg.required"))
    assert(found == Vector(
      1 -> "true",
      2 -> "true",
      6 -> "true",
      7 -> "false",
      3 -> "false",
      4 -> "true",
      5 -> "false"
    ))
  }

  test(
    "a schema that is converted to an ORC schema and back has the same types, ids and names",
    FormatRules.orcTypes,
    FormatRules.orcAttributes
  ) {
    forAll(RecordGenerators.schema(RecordGenerators.all.filter(_ != UnknownType))) { schema =>
      assert(OrcSchemas.toStruct(OrcSchemas.of(schema)) == schema.asStruct)
    }
  }

  test("a column of type unknown is not stored, and a list of unknown elements is rejected", FormatRules.unknown) {
    val schema = Schema(0, Vector(optional(1, "u", UnknownType), optional(2, "i", IntType)))
    assert(OrcSchemas.of(schema).getFieldNames.asScala == Seq("i"))
    intercept[Unsupported](node(ListType(6, UnknownType, elementRequired = false)))
  }

  test(
    "ORC's smaller types are mapped as in the specification, and columns without id or Iceberg type are omitted",
    FormatRules.orcNarrow
  ) {
    val orc = TypeDescription.fromString(
      "struct<a:tinyint,b:smallint,c:varchar(5),d:char(3),e:uniontype<int,string>,f:timestamp,g:array<int>,h:int>"
    )
    orc.getChildren.asScala.init.zipWithIndex.foreach { case (t, i) => t.setAttribute("iceberg.id", i.toString) }
    val fields: Vector[NestedField] = OrcSchemas.toStruct(orc).fields
    assert(fields.map(f => f.name -> f.fieldType) == Vector(
      "a" -> IntType,
      "b" -> IntType,
      "c" -> StringType,
      "d" -> StringType,
      "f" -> TimestampType
    ))
    assert(fields.forall(_.optional))
  }
}
