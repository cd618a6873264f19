package iceberglite.spark.write.partition

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.UUID

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.types.{ByteType, IntegerType, ShortType, StructType => SparkStruct}
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.PartitionRules
import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spark.write.files.InputColumns
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.partition.{
  Bucket,
  Day,
  Hour,
  Identity,
  Month,
  PartitionField,
  PartitionSpec,
  PartitionTuple,
  Transform,
  Truncate,
  UnknownTransform,
  Void,
  Year
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DateTime, Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Checks the partition values that are computed from Spark rows. */
class PartitionerSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PartitionerSuite._

  test("every transform gives the same result for values in Spark rows as for Iceberg literals") {
    values.foreach { case (t, literals) =>
      transforms.filter(_.canTransform(t)).foreach { transform =>
        val schema = Schema(0, Vector(NestedField.optional(7, "c", t)))
        val partitioning = new RowPartitioning(schema, transform)
        forAll(literals) { literal =>
          val expected = PartitionTuple(Vector(transform(literal)))
          val row = new GenericInternalRow(Array[Any](SparkValues.toSpark(literal, t)))
          assert(partitioning.tuple(row) == expected, s"$transform of $literal")
          assert(partitioning.tuple(partitioning.unsafe(row)) == expected, s"$transform of $literal in an unsafe row")
        }
      }
    }
  }

  test("every transform of a null is null, for every type", PartitionRules.nullGivesNull) {
    for ((t, _) <- values; transform <- transforms if transform.canTransform(t)) {
      val partitioning = new RowPartitioning(Schema(0, Vector(NestedField.optional(7, "c", t))), transform)
      assert(partitioning.tuple(new GenericInternalRow(Array[Any](null))) == PartitionTuple(Vector(None)))
    }
  }

  test("a source column can be a field of a struct, and is null if the struct is null") {
    val inner = StructType(Vector(NestedField.optional(3, "x", StringType), NestedField.optional(4, "v", IntType)))
    val outer = StructType(Vector(NestedField.optional(2, "inner", inner)))
    val schema = Schema(0, Vector(NestedField.optional(8, "first", LongType), NestedField.optional(1, "outer", outer)))
    val partitioning = new RowPartitioning(schema, Identity, source = 4)
    def row(innermost: Any) = new GenericInternalRow(Array[Any](1L, new GenericInternalRow(Array(innermost))))
    val value = new GenericInternalRow(Array[Any](UTF8String.fromString("a"), 42))
    assert(partitioning.tuple(partitioning.unsafe(row(value))) == PartitionTuple(Vector(Some(IntLiteral(42)))))
    assert(partitioning.tuple(partitioning.unsafe(row(null))) == PartitionTuple(Vector(None)))
    val withoutStruct = new GenericInternalRow(Array[Any](1L, null))
    assert(partitioning.tuple(partitioning.unsafe(withoutStruct)) == PartitionTuple(Vector(None)))
  }

  test("the partition value of a column that the rows lack is null") {
    val schema = Schema(0, Vector(NestedField.optional(7, "c", IntType), NestedField.optional(8, "d", IntType)))
    val input = new InputColumns("t", schema, true, true).of(new SparkStruct().add("d", IntegerType))
    val spec = PartitionSpec(0, Vector(PartitionField(7, 1000, "c", Identity), PartitionField(8, 1001, "d", Identity)))
    val partitioner = Partitioner.of(spec, input)
    val key = partitioner.newKey()
    partitioner.read(new GenericInternalRow(Array[Any](5)), key)
    assert(partitioner.tuple(key) == PartitionTuple(Vector(None, Some(IntLiteral(5)))))
  }

  test("bytes and shorts of Spark are converted to int") {
    Seq((ByteType, 5.toByte), (ShortType, 5.toShort)).foreach { case (dataType, value) =>
      val schema = Schema(0, Vector(NestedField.optional(7, "c", IntType)))
      val input = new InputColumns("t", schema, true, true).of(new SparkStruct().add("c", dataType))
      transforms.filter(_.canTransform(IntType)).foreach { transform =>
        val partitioner = Partitioner.of(PartitionSpec(0, Vector(PartitionField(7, 1000, "p", transform))), input)
        val key = partitioner.newKey()
        partitioner.read(new GenericInternalRow(Array[Any](value)), key)
        assert(partitioner.tuple(key) == PartitionTuple(Vector(transform(IntLiteral(5)))), s"$transform of $dataType")
      }
    }
  }

  test("a retained key does not change when its row is reused, and keys of different rows differ") {
    val schema = Schema(0, Vector(NestedField.optional(7, "c", StringType)))
    val partitioning = new RowPartitioning(schema, Identity)
    val bytes = "abc".getBytes
    val key = partitioning.partitioner.newKey()
    partitioning.partitioner.read(new GenericInternalRow(Array[Any](UTF8String.fromBytes(bytes))), key)
    val retainedKey = key.retained
    assert(retainedKey == key && retainedKey.hashCode == key.hashCode)
    bytes(0) = 'x'
    assert(retainedKey != key)
    assert(partitioning.partitioner.tuple(retainedKey) == PartitionTuple(Vector(Some(StringLiteral("abc")))))
  }

  test("null, 0.0 and -0.0 are different partition values, and all NaN values are the same partition value") {
    val schema = Schema(0, Vector(NestedField.optional(7, "c", DoubleType)))
    val partitioning = new RowPartitioning(schema, Identity)
    def key(value: Any) = {
      val k = partitioning.partitioner.newKey()
      partitioning.partitioner.read(new GenericInternalRow(Array[Any](value)), k)
      k
    }
    assert(key(null) != key(0.0d) && key(0.0d) != key(-0.0d))
    assert(key(Double.NaN) == key(java.lang.Double.longBitsToDouble(0x7ff8000000000001L)))
  }

  test("a string that is not a UUID is rejected with the column name") {
    val partitioning = new RowPartitioning(Schema(0, Vector(NestedField.optional(7, "c", UuidType))), Identity)
    Seq("", "abc", "f79c3e09-677c-4bbd-a479-3f349cb785eg", "f79c3e09.677c-4bbd-a479-3f349cb785e7").foreach { text =>
      val error =
        intercept[InvalidArgument](partitioning.tuple(new GenericInternalRow(Array[Any](UTF8String.fromString(text)))))
      assert(error.getMessage.contains("column c") && error.value == text)
    }
  }

  test("an unknown transform is rejected") {
    val schema = Schema(0, Vector(NestedField.optional(7, "c", IntType)))
    val error = intercept[Unsupported](new RowPartitioning(schema, UnknownTransform("spiral[4]")))
    assert(error.getMessage.contains("spiral[4]"))
  }
}

private object PartitionerSuite {
  private val transforms: Seq[Transform] = Seq(
    Identity,
    Void,
    Bucket(1),
    Bucket(16),
    Truncate(1),
    Truncate(5),
    Truncate(1000),
    Year,
    Month,
    Day,
    Hour
  )

  private val micros: Gen[Long] =
    Gen.oneOf(Gen.choose(-4000000000000000L, 4000000000000000L), Gen.const(-1L), Gen.const(0L))
  private val nanos: Gen[Long] = Gen.oneOf(Gen.choose(-4000000000000000000L, 4000000000000000000L), Gen.const(-1L))
  private val text: Gen[String] = Gen.listOf(Gen.oneOf(
    Gen.alphaChar.map(_.toString),
    Gen.const("é"),
    Gen.const("漢"),
    Gen.const(new String(Character.toChars(0x1f600)))
  )).map(_.mkString)
  private def bytes(size: Gen[Int]): Gen[ByteBuffer] =
    size.flatMap(Gen.listOfN(_, Gen.choose(Byte.MinValue, Byte.MaxValue))).map(b => ByteBuffer.wrap(b.toArray))
  private def decimal(precision: Int, scale: Int): Gen[Literal] = {
    // Values near the minimum are left out, because truncating them gives values with more digits than the type has.
    // For simplicity, values near the maximum are left out too.
    val limit = BigInt(10).pow(precision) - 1001
    Gen.oneOf(Gen.choose(-limit, limit), Gen.choose(BigInt(-1000), BigInt(1000)))
      .map(unscaled => DecimalLiteral(new BigDecimal(unscaled.bigInteger, scale)))
  }

  private val values: Seq[(PrimitiveType, Gen[Literal])] = Seq(
    BooleanType -> Gen.oneOf(true, false).map(BooleanLiteral),
    IntType -> Gen.oneOf(Gen.choose(Int.MinValue, Int.MaxValue), Gen.choose(-10, 10)).map(IntLiteral),
    LongType -> Gen.oneOf(Gen.choose(Long.MinValue, Long.MaxValue), Gen.choose(-10L, 10L)).map(LongLiteral),
    FloatType -> Gen.oneOf(Gen.choose(-1e30f, 1e30f), Gen.oneOf(Float.NaN, -0.0f, 0.0f)).map(FloatLiteral),
    DoubleType -> Gen.oneOf(Gen.choose(-1e300, 1e300), Gen.oneOf(Double.NaN, -0.0, 0.0)).map(DoubleLiteral),
    DecimalType(7, 2) -> decimal(7, 2),
    DecimalType(18, 0) -> decimal(18, 0),
    DecimalType(38, 10) -> decimal(38, 10),
    DateType -> Gen.choose(-800000, 800000).map(DateLiteral),
    TimeType -> Gen.choose(0L, DateTime.MicrosPerDay - 1).map(TimeLiteral),
    TimestampType -> micros.map(TimestampLiteral),
    TimestampTzType -> micros.map(TimestampTzLiteral),
    TimestampNsType -> nanos.map(TimestampNsLiteral),
    TimestampTzNsType -> nanos.map(TimestampTzNsLiteral),
    StringType -> text.map(StringLiteral),
    UuidType -> Gen.uuid.map((u: UUID) => UuidLiteral(u)),
    FixedType(5) -> bytes(Gen.const(5)).map(FixedLiteral),
    BinaryType -> bytes(Gen.choose(0, 12)).map(BinaryLiteral)
  )

  /** Computes the partitions of rows for a partition spec with one field. */
  final private class RowPartitioning(schema: Schema, transform: Transform, source: Int = 7) {
    private val sparkType = SparkTypes.toSpark(schema)
    private val spec = PartitionSpec(0, Vector(PartitionField(source, 1000, "p", transform)))
    private val projection = UnsafeProjection.create(sparkType)
    val partitioner: Partitioner = Partitioner.of(spec, new InputColumns("t", schema, true, true).of(sparkType))

    def unsafe(row: InternalRow): InternalRow = projection(row).copy()

    def tuple(row: InternalRow): PartitionTuple = {
      val key = partitioner.newKey()
      partitioner.read(row, key)
      partitioner.tuple(key.retained)
    }
  }
}
