package iceberglite.spark.convert

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.inspect.MetadataRow
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

class ValuesSuite extends AnyFunSuite {
  private val uuid = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")

  private val values: Seq[(PrimitiveType, Literal)] = Seq(
    BooleanType -> BooleanLiteral(true),
    IntType -> IntLiteral(-1),
    LongType -> LongLiteral(Long.MaxValue),
    FloatType -> FloatLiteral(0.5f),
    DoubleType -> DoubleLiteral(Double.NaN),
    DecimalType(20, 2) -> DecimalLiteral(new BigDecimal("1.50")),
    DateType -> DateLiteral(-1),
    TimeType -> TimeLiteral(1),
    TimestampType -> TimestampLiteral(2),
    TimestampTzType -> TimestampTzLiteral(3),
    TimestampNsType -> TimestampNsLiteral(4),
    TimestampTzNsType -> TimestampTzNsLiteral(5),
    StringType -> StringLiteral("größe"),
    UuidType -> UuidLiteral(uuid),
    FixedType(2) -> FixedLiteral(ByteBuffer.wrap(Array[Byte](1, 2))),
    BinaryType -> BinaryLiteral(ByteBuffer.wrap(Array[Byte](3)))
  )

  test("values are converted to Spark and back unchanged") {
    values.foreach { case (t, value) =>
      assert(SparkValues.fromSpark(SparkValues.toSpark(value, t), t).contains(value), t.toString)
    }
  }

  test("a value that the type cannot represent is not converted") {
    assert(SparkValues.fromSpark(Long.MaxValue, IntType).isEmpty)
    assert(SparkValues.fromSpark(Decimal("1.234"), DecimalType(5, 2)).isEmpty)
    assert(SparkValues.fromSpark(UTF8String.fromString("no uuid"), UuidType).isEmpty)
    assert(SparkValues.fromSpark(Array[Byte](1), FixedType(2)).isEmpty)
    assert(SparkValues.fromSpark(7, LongType).contains(LongLiteral(7)))
  }

  test("rows of metadata tables become Spark rows, with null for absent values") {
    val struct = StructType(Vector(required(2, "x", IntType), optional(3, "y", StringType)))
    val schema = Schema(
      0,
      Vector(
        required(1, "s", struct),
        optional(4, "l", ListType(5, DecimalType(9, 2), elementRequired = false)),
        optional(6, "m", MapType(7, StringType, 8, BinaryType, valueRequired = true)),
        optional(9, "u", UuidType),
        required(10, "ts", TimestampTzType)
      )
    )
    val bytes = ByteBuffer.wrap(Array[Byte](9, 8))
    val full = MetadataRow.of(
      MetadataRow.of(1, Some("a")),
      Some(Vector(Some(new BigDecimal("1.25")), None)),
      Some(Map("k" -> bytes)),
      Some(uuid),
      0L
    )
    val empty = MetadataRow.of(MetadataRow.of(2, None), None, None, None, 1L)
    val convert = InternalRows.of(schema)
    val toScala = CatalystTypeConverters.createToScalaConverter(SparkTypes.toSpark(schema))
    def read(row: MetadataRow): Row = toScala(convert(row)).asInstanceOf[Row]
    assert(read(full).getStruct(0) == Row(1, "a"))
    assert(read(full).getSeq[BigDecimal](1) == Seq(new BigDecimal("1.25"), null))
    assert(read(full).getMap[String, Array[Byte]](2).mapValues(_.toSeq).toMap == Map("k" -> Seq[Byte](9, 8)))
    assert(read(full).getString(3) == uuid.toString && read(full).getTimestamp(4).getTime == 0)
    assert(read(empty).toSeq.take(4) == Seq(Row(2, null), null, null, null))
    assert(bytes.remaining == 2)
  }
}
