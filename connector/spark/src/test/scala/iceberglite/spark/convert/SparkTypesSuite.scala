package iceberglite.spark.convert

import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{Feature, Unsupported}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type
import iceberglite.spec.types.NestedField.{optional, required}

class SparkTypesSuite extends AnyFunSuite {

  test("the Spark columns have the names, order, nullability, comments and types of the Iceberg columns") {
    val fields = Vector[(Type, DataType)](
      Type.BooleanType -> BooleanType,
      Type.IntType -> IntegerType,
      Type.LongType -> LongType,
      Type.FloatType -> FloatType,
      Type.DoubleType -> DoubleType,
      Type.DecimalType(38, 10) -> DecimalType(38, 10),
      Type.DateType -> DateType,
      Type.TimeType -> LongType,
      Type.TimestampType -> TimestampNTZType,
      Type.TimestampTzType -> TimestampType,
      Type.TimestampNsType -> LongType,
      Type.TimestampTzNsType -> LongType,
      Type.StringType -> StringType,
      Type.UuidType -> StringType,
      Type.FixedType(4) -> BinaryType,
      Type.BinaryType -> BinaryType,
      Type.UnknownType -> NullType,
      Type.GeometryType(Type.DefaultCrs) -> BinaryType
    ).zipWithIndex.map { case ((t, spark), i) =>
      (if (i % 2 == 0) required(i, s"c$i", t, s"doc $i") else optional(i, s"c$i", t)) -> spark
    }
    val struct = SparkTypes.toSpark(Schema(0, fields.map(_._1)))
    fields.zip(struct.fields).foreach { case ((field, spark), f) =>
      assert(f.name == field.name && f.dataType == spark && f.nullable == field.optional && f.getComment() == field.doc)
    }
  }

  private val nested = StructType(Seq(
    StructField("s", StructType(Seq(StructField("x", IntegerType, nullable = false))), nullable = false),
    StructField("l", ArrayType(StructType(Seq(StructField("y", StringType))), containsNull = false)),
    StructField("m", MapType(StringType, ArrayType(DateType), valueContainsNull = false)),
    StructField("c", DecimalType(10, 2)).withComment("a comment")
  ))

  test("nested columns are converted to Iceberg and back unchanged, and each nested field gets an id") {
    val fields = SparkTypes.fromSpark(nested)
    assert(SparkTypes.toSpark(fields) == nested)
    val ids = Schema.fieldsOf(Type.StructType(fields)).map(_.id)
    assert(ids.size == ids.distinct.size && ids.size == 10)
  }

  test("byte and short are converted to int, and char and varchar to string") {
    val struct = StructType(Seq(
      StructField("b", ByteType),
      StructField("s", ShortType),
      StructField("v", VarcharType(3)),
      StructField("c", CharType(3))
    ))
    assert(SparkTypes.fromSpark(struct).map(_.fieldType) ==
      Vector(Type.IntType, Type.IntType, Type.StringType, Type.StringType))
  }

  test("an unsupported type is rejected with the column's path") {
    val interval = StructType(Seq(StructField("l", ArrayType(DayTimeIntervalType()))))
    val error = intercept[Unsupported](SparkTypes.fromSpark(interval))
    assert(error.feature == Feature.ColumnType("l.element", "INTERVAL DAY TO SECOND"))
  }
}
