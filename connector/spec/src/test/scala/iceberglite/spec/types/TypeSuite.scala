package iceberglite.spec.types

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{EvolutionRules, TypeRules}
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.{MetadataColumns, Schema, SchemaCheck}
import iceberglite.spec.types.Type._
import iceberglite.spec.update.SchemaChanges

class TypeSuite extends AnyFunSuite {
  private val typesBeforeVersion3: Seq[PrimitiveType] = Seq(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(12, 2),
    DecimalType(12, 3),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    StringType,
    UuidType,
    FixedType(4),
    FixedType(8),
    BinaryType
  )
  private val typesOfVersion3: Seq[PrimitiveType] = Seq(
    TimestampNsType,
    TimestampTzNsType,
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
  )
  private val struct = StructType(Vector(NestedField.optional(1, "a", IntType)))

  private def promotions(version: FormatVersion): Set[(Type, Type)] = {
    val all: Seq[Type] = typesBeforeVersion3 ++ typesOfVersion3 :+ struct
    (for (a <- all; b <- all if a != b && canPromote(a, b, version)) yield (a, b)).toSet
  }

  private val promotionsBeforeVersion3: Set[(Type, Type)] = Set(
    (IntType, LongType),
    (FloatType, DoubleType),
    (DecimalType(9, 2), DecimalType(12, 2))
  )

  test(
    "versions 1 and 2 have the three promotions of the section Schema Evolution",
    EvolutionRules.promotions,
    EvolutionRules.primitiveStaysPrimitive
  ) {
    assert(promotions(V1) == promotionsBeforeVersion3)
    assert(promotions(V2) == promotionsBeforeVersion3)
  }

  test(
    "version 3 adds promotions of date to timestamps without zone, and of unknown to any type",
    EvolutionRules.promotionsOfV3
  ) {
    val targets = (typesBeforeVersion3 ++ typesOfVersion3 :+ struct).filter(_ != UnknownType)
    val ofUnknown = targets.map((UnknownType: Type) -> _).toSet
    val ofDate = Set[(Type, Type)]((DateType, TimestampType), (DateType, TimestampNsType))
    assert(promotions(V3) == promotionsBeforeVersion3 ++ ofUnknown ++ ofDate)
  }

  test(
    "when an unknown column is promoted to a nested type, the nested fields get new ids",
    EvolutionRules.promotionsOfV3,
    EvolutionRules.freshIds
  ) {
    val start = SchemaChanges(SampleTables.empty(V3)).addColumn(Vector.empty, "u", UnknownType)
    val update = start.updateType(Vector("u"), ListType(1, struct, elementRequired = false))
    assert(update.result._1.require("u.element.a").id == start.lastColumnId + 2)
    assert(update.lastColumnId == start.lastColumnId + 2)
    intercept[ValidationFailed](update.updateType(Vector("u"), UnknownType))
  }

  test(
    "types of later versions are rejected at any level",
    TypeRules.versionOfTypes,
    TypeRules.anyNesting
  ) {
    def check(t: Type, version: FormatVersion): Unit =
      SchemaCheck(Schema(0, Vector(NestedField.optional(1, "c", t))), version)
    typesBeforeVersion3.foreach(t => Seq(V1, V2, V3).foreach(check(t, _)))
    typesOfVersion3.foreach { t =>
      check(t, V3)
      val inMap = MapType(2, StringType, 3, ListType(4, t, elementRequired = false), valueRequired = false)
      check(inMap, V3)
      Seq(V1, V2).foreach { version =>
        intercept[Unsupported](check(t, version))
        assert(intercept[Unsupported](check(inMap, version)).getMessage.contains("c.value.element"))
      }
    }
  }

  test("decimals have a precision from 1 to 38", TypeRules.decimalPrecision) {
    def check(t: Type): Unit = SchemaCheck(Schema(0, Vector(NestedField.optional(1, "c", t))), V2)
    check(DecimalType(38, 38))
    Seq(DecimalType(39, 2), DecimalType(0, 0)).foreach(t => intercept[InvalidArgument](check(t)))
  }

  test("map keys are required, and elements and values are required as declared", TypeRules.optionalOrRequired) {
    val map = MapType(1, struct, 3, IntType, valueRequired = false)
    assert(map.keyField.required && map.valueField.optional)
    assert(ListType(1, IntType, elementRequired = true).elementField.required)
  }

  test("fields of type unknown cannot be required", TypeRules.unknownOptional) {
    Seq[Type](
      ListType(2, UnknownType, elementRequired = true),
      MapType(2, UnknownType, 3, IntType, valueRequired = true),
      StructType(Vector(NestedField.required(2, "u", UnknownType)))
    ).foreach { t =>
      val schema = Schema(0, Vector(NestedField.optional(1, "c", t)))
      assert(intercept[InvalidArgument](SchemaCheck(schema, V3)).getMessage.contains("cannot be NOT NULL"))
    }
    SchemaCheck(Schema(0, Vector(NestedField.optional(1, "c", ListType(2, UnknownType, elementRequired = false)))), V3)
  }

  test("the metadata columns have the ids of the section Reserved Field IDs", EvolutionRules.metadataColumns) {
    import MetadataColumns._
    val expected = Seq(
      (FilePath, 2147483646, "_file", StringType),
      (Position, 2147483645, "_pos", LongType),
      (Deleted, 2147483644, "_deleted", BooleanType),
      (SpecId, 2147483643, "_spec_id", IntType),
      (RowId, 2147483540, "_row_id", LongType),
      (LastUpdatedSequenceNumber, 2147483539, "_last_updated_sequence_number", LongType)
    )
    expected.foreach { case (field, id, name, t) => assert((field.id, field.name, field.fieldType) == ((id, name, t))) }
    assert((PartitionId, PartitionName) == ((2147483642, "_partition")))
    assert(Schema.MaxFieldId == 2147483447)
  }
}
