package iceberglite.spec.types

import java.math.BigDecimal
import java.nio.ByteBuffer

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.{EvolutionRules, TypeRules}
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError._
import iceberglite.spec.schema.{Schema, SchemaCheck}
import iceberglite.spec.types.DefaultValue._
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.spec.update.SchemaChanges

class DefaultValueSuite extends AnyFunSuite {
  private def fault(value: DefaultValue, t: Type): Option[String] = DefaultValue.invalidReason(value, t)

  private val defaultOfOne: DefaultValue = OfPrimitive(IntLiteral(1))
  private val struct = StructType(Vector(NestedField.optional(2, "x", IntType)))
  private val list = ListType(2, IntType, elementRequired = true)
  private val map = MapType(2, StringType, 3, IntType, valueRequired = true)

  test("a default must be a value of its field's type", TypeRules.defaultsFit) {
    assert(fault(defaultOfOne, IntType).isEmpty)
    assert(fault(defaultOfOne, LongType).isDefined && fault(defaultOfOne, struct).isDefined)
    val decimal = OfPrimitive(DecimalLiteral(new BigDecimal("1.20")))
    assert(fault(decimal, DecimalType(9, 2)).isEmpty)
    assert(fault(decimal, DecimalType(9, 3)).isDefined && fault(decimal, DecimalType(2, 2)).isDefined)
    val bytes = ByteBuffer.wrap(new Array[Byte](4))
    assert(fault(OfPrimitive(FixedLiteral(bytes)), FixedType(4)).isEmpty)
    assert(fault(OfPrimitive(FixedLiteral(bytes)), FixedType(5)).isDefined)
  }

  test(
    "the default of a struct is {}, and defaults of lists and maps must fit their element types",
    TypeRules.structDefault,
    TypeRules.nestedDefaults
  ) {
    assert(fault(EmptyStruct, struct).isEmpty && fault(EmptyStruct, IntType).isDefined)
    assert(fault(OfList(Vector(Some(defaultOfOne))), list).isEmpty)
    assert(fault(OfList(Vector(Some(defaultOfOne), None)), list).exists(_.contains("null element")))
    assert(fault(OfList(Vector(Some(EmptyStruct))), list).isDefined)
    val key = OfPrimitive(StringLiteral("k"))
    assert(fault(OfMap(Vector(key -> Some(defaultOfOne))), map).isEmpty)
    assert(fault(OfMap(Vector(key -> None)), map).exists(_.contains("null value")))
    assert(fault(OfMap(Vector(defaultOfOne -> Some(defaultOfOne))), map).isDefined)
  }

  test("unknown, variant, geometry and geography have no default but null", TypeRules.nullDefaultOnly) {
    val types = Seq(
      UnknownType,
      VariantType,
      GeometryType(DefaultCrs),
      GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
    )
    types.foreach { t =>
      Seq(defaultOfOne, EmptyStruct).foreach(value => assert(fault(value, t).exists(_.contains("null"))))
      val update = SchemaChanges(SampleTables.empty(V3)).addColumn(Vector.empty, "v", t, default = Some(EmptyStruct))
      assert(intercept[InvalidArgument](update.result).name == "default of column v")
    }
  }

  test("defaults require version 3", TypeRules.defaultsOfV3) {
    val field = NestedField.optional(1, "c", IntType).copy(writeDefault = Some(defaultOfOne))
    Seq(V1, V2).foreach { version =>
      val update = SchemaChanges(SampleTables.empty(version))
      assert(intercept[Unsupported](update.addColumn(Vector.empty, "n", IntType, default = Some(defaultOfOne)))
        .getMessage.contains("column n"))
      assert(intercept[Unsupported](update.updateDefault(Vector("location", "lon"), Some(defaultOfOne)))
        .getMessage.contains("column location.lon"))
      val inside = StructType(Vector(field))
      intercept[Unsupported](update.addColumn(Vector.empty, "s", inside))
      val description = SampleTables.description(version)
      intercept[Unsupported](description.copy(schema = Schema(0, Vector(field))).creation(SampleTables.Uuid))
      intercept[Unsupported](SchemaCheck(Schema(0, Vector(field.copy(initialDefault = Some(defaultOfOne)))), version))
    }
  }

  test("an existing write default in an older table is accepted", TypeRules.defaultsOfV3) {
    SchemaCheck(Schema(0, Vector(NestedField.optional(1, "c", IntType).copy(writeDefault = Some(defaultOfOne)))), V2)
  }

  test("defaults that contain a promoted element are promoted", EvolutionRules.initialDefaultStays) {
    val start = SchemaChanges(SampleTables.empty(V3))
    val ints = start.addColumn(Vector.empty, "l", list, default = Some(OfList(Vector(Some(defaultOfOne)))))
    val longs = ints.updateType(Vector("l", "element"), LongType).result._1.require("l")
    assert(longs.initialDefault.contains(OfList(Vector(Some(OfPrimitive(LongLiteral(1)))))))
    val key = OfPrimitive(StringLiteral("k"))
    val date = OfPrimitive(DateLiteral(1))
    val dates = MapType(0, StringType, 0, DateType, valueRequired = false)
    val days = start.addColumn(Vector.empty, "m", dates, default = Some(OfMap(Vector(key -> Some(date), key -> None))))
    val times = days.updateType(Vector("m", "value"), TimestampType).result._1.require("m")
    assert(times.writeDefault.contains(
      OfMap(Vector(key -> Some(OfPrimitive(TimestampLiteral(86400000000L))), key -> None))
    ))
  }

  test("a column is not promoted if the wider type cannot hold its default", EvolutionRules.outOfRange) {
    val far = OfPrimitive(DateLiteral(Int.MaxValue))
    val update = SchemaChanges(SampleTables.empty(V3)).addColumn(Vector.empty, "d", DateType, default = Some(far))
    Seq(TimestampType, TimestampNsType).foreach { t =>
      val error = intercept[InvalidArgument](update.updateType(Vector("d"), t))
      assert(error.name == "default of column d" && error.getMessage.contains(t.toString))
    }
  }
}
