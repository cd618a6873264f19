package iceberglite.spark.maintenance

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.math.Ordering.Implicits._
import scala.util.Random

import org.apache.iceberg.util.ZOrderByteUtils
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GetStructField, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.function.OrderedBytes

/** Compares Z-order keys with the order of the values, and with the keys that Apache Iceberg computes. */
class ZOrderKeySuite extends AnyFunSuite {
  private val random = new Random(23)
  private val unlimited = Int.MaxValue

  /** The Spark types of all primitive Iceberg types. In Spark, a uuid is a string, and fixed is binary. */
  private val types: Seq[DataType] = Seq(
    BooleanType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(18, 4),
    DecimalType(38, 10),
    DateType,
    TimestampType,
    TimestampNTZType,
    StringType,
    BinaryType
  )

  private def valuesOf(dataType: DataType): Vector[Any] = {
    def many(value: => Any): Vector[Any] = Vector.fill(200)(value)
    dataType match {
      case BooleanType => Vector(true, false)
      case ByteType => many(random.nextInt.toByte) ++ Vector(Byte.MinValue, Byte.MaxValue)
      case ShortType => many(random.nextInt.toShort) ++ Vector(Short.MinValue, Short.MaxValue)
      case IntegerType | DateType => many(random.nextInt) ++ Vector(Int.MinValue, Int.MaxValue, 0, -1)
      case LongType | TimestampType | TimestampNTZType =>
        many(random.nextLong) ++ Vector(Long.MinValue, Long.MaxValue, 0L, -1L)
      case FloatType =>
        val extremes =
          Vector(Float.NaN, 0f, -1e30f, Float.NegativeInfinity, Float.PositiveInfinity, Float.MinPositiveValue)
        many(random.nextGaussian.toFloat) ++ extremes
      case DoubleType =>
        val extremes = Vector(Double.NaN, 0.0, Double.MinValue, Double.NegativeInfinity, Double.PositiveInfinity)
        many(random.nextGaussian * 1e10) ++ extremes
      case d: DecimalType =>
        val bound = BigInt(10).pow(d.precision)
        many(Decimal(BigDecimal(BigInt(bound.bitLength, random) % bound * (random.nextInt(2) * 2 - 1), d.scale)))
      case StringType =>
        val texts = Vector("", "a", "ab", "\u00e9", "\u65e5\u672c", "customer 12345678")
        (many(random.alphanumeric.take(random.nextInt(12)).mkString) ++ texts)
          .map(text => UTF8String.fromString(text.toString))
      case BinaryType => many(Array.fill(random.nextInt(12))(random.nextInt.toByte))
      case _ => Vector.empty
    }
  }

  private def key(types: Seq[DataType], variableBytes: Int = 8, maxBytes: Int = unlimited): ZOrderKey = ZOrderKey(
    types.zipWithIndex.map { case (dataType, i) => BoundReference(i, dataType, nullable = true) },
    variableBytes,
    maxBytes
  )

  private def bytesOf(key: ZOrderKey, values: Any*): Seq[Int] =
    key.eval(InternalRow(values: _*)).asInstanceOf[Array[Byte]].toSeq.map(_ & 0xff)

  /**
   * Returns the bytes that Apache Iceberg computes for a value. Returns `None` for values that cannot be compared:
   * decimals, which Apache Iceberg does not support in a Z-order, booleans, and strings with multi-byte characters.
   */
  private def peerBytes(dataType: DataType, value: Any, variableBytes: Int): Option[Array[Byte]] = {
    def number: ByteBuffer = ByteBuffer.allocate(8)
    def variable: ByteBuffer = ByteBuffer.allocate(variableBytes)
    val bytes = (dataType, value) match {
      case (_: DecimalType | BooleanType, _) => None
      case (StringType, null) => Some(ZOrderByteUtils.byteTruncateOrFill(Array.empty, variableBytes, variable))
      case (BinaryType, null) => Some(ZOrderByteUtils.byteTruncateOrFill(Array.empty, variableBytes, variable))
      case (_, null) => Some(number)
      case (_, v: Int) => Some(ZOrderByteUtils.intToOrderedBytes(v, number))
      case (_, v: Long) => Some(ZOrderByteUtils.longToOrderedBytes(v, number))
      case (_, v: Float) => Some(ZOrderByteUtils.floatToOrderedBytes(v, number))
      case (_, v: Double) => Some(ZOrderByteUtils.doubleToOrderedBytes(v, number))
      case (_, v: UTF8String) if v.numChars == v.numBytes =>
        Some(ZOrderByteUtils.stringToOrderedBytes(v.toString, variableBytes, variable, UTF_8.newEncoder))
      case (_, v: Array[Byte]) => Some(ZOrderByteUtils.byteTruncateOrFill(v, variableBytes, variable))
      case _ => None
    }
    bytes.map(_.array)
  }

  test("for one column of any type, the key has the order of the values, with nulls first and NaN last") {
    (types ++ Seq(ByteType, ShortType)).foreach { dataType =>
      val ordering = TypeUtils.getInterpretedOrdering(dataType)
      val sorted = valuesOf(dataType).sorted(ordering)
      val sortKey = key(Seq(dataType), variableBytes = 64)
      val keys = (null +: sorted).map(bytesOf(sortKey, _))
      assert(keys.zip(keys.tail).forall { case (a, b) => a <= b }, dataType)
      // Decimals are ordered by the nearest double, so different decimals can have equal keys.
      if (!dataType.isInstanceOf[DecimalType]) assert(keys.distinct.size >= sorted.distinct.size, dataType)
      assert(keys.head.forall(_ == 0), dataType)
      val projection = UnsafeProjection.create(sortKey)
      sorted.foreach { value =>
        assert(projection(InternalRow(value)).getBinary(0).toSeq.map(_ & 0xff) == bytesOf(sortKey, value), dataType)
      }
    }
  }

  test("the bytes of a column are those of Apache Iceberg") {
    for (dataType <- types; variableBytes <- Seq(1, 8, 20); value <- valuesOf(dataType) :+ null)
      peerBytes(dataType, value, variableBytes).foreach { expected =>
        val found = bytesOf(key(Seq(dataType), variableBytes), value)
        assert(found == expected.toSeq.map(_ & 0xff), s"$dataType $value $variableBytes")
      }
  }

  test("the bits of several columns are interleaved as by Apache Iceberg, up to the maximum length") {
    val comparable = types.filter(peerBytes(_, null, 1).isDefined)
    for (columns <- 1 to 6; _ <- 1 to 20) {
      val chosen = Vector.fill(columns)(comparable(random.nextInt(comparable.size)))
      val variableBytes = 1 + random.nextInt(12)
      val length = chosen.map(t => if (t == StringType || t == BinaryType) variableBytes else 8).sum
      val maxBytes = Seq(1, 3, length, unlimited)(random.nextInt(4))
      val values = chosen.map { dataType =>
        val all = (valuesOf(dataType) :+ null).filter(peerBytes(dataType, _, variableBytes).isDefined)
        all(random.nextInt(all.size))
      }
      val parts = chosen.zip(values).map { case (dataType, value) => peerBytes(dataType, value, variableBytes).get }
      val size = math.min(maxBytes, length)
      val expected = ZOrderByteUtils.interleaveBits(parts.toArray, size, ByteBuffer.allocate(size))
      assert(bytesOf(key(chosen, variableBytes, maxBytes), values: _*) == expected.toSeq.map(_ & 0xff), chosen)
    }
  }

  test("values that differ only after the bytes that a column contributes to the key have equal keys") {
    val (a, b) = (UTF8String.fromString("customer 1"), UTF8String.fromString("customer 2"))
    assert(bytesOf(key(Seq(StringType)), a) == bytesOf(key(Seq(StringType)), b))
    assert(bytesOf(key(Seq(StringType), variableBytes = 10), a) < bytesOf(key(Seq(StringType), variableBytes = 10), b))
    assert(bytesOf(key(Seq(LongType, LongType), maxBytes = 5), 1L, 2L).size == 5)
  }

  test("fields of structs are ordered, and a null struct is a null field") {
    val struct = StructType(Seq(StructField("a", LongType), StructField("b", StringType)))
    val field = GetStructField(BoundReference(0, struct, nullable = true), 0, Some("a"))
    val nested = ZOrderKey(Seq(field), 8, unlimited)
    def of(value: Any): Seq[Int] = nested.eval(InternalRow(value)).asInstanceOf[Array[Byte]].toSeq.map(_ & 0xff)
    val ordered =
      Seq(of(null), of(InternalRow(Long.MinValue, null)), of(InternalRow(-5L, null)), of(InternalRow(7L, null)))
    assert(ordered.zip(ordered.tail).forall { case (a, b) => a <= b } && ordered.distinct.size == 3)
    assert(of(InternalRow(7L, null)) == bytesOf(key(Seq(LongType)), 7L))
  }

  test("columns without an order are rejected") {
    val rejected = Seq(ArrayType(IntegerType), MapType(StringType, IntegerType), new StructType(), CalendarIntervalType)
    assert(rejected.forall(dataType => !OrderedBytes.isSupported(dataType)))
    rejected.foreach { dataType =>
      assert(key(Seq(LongType, dataType)).checkInputDataTypes() != TypeCheckResult.TypeCheckSuccess)
    }
    assert(types.forall(OrderedBytes.isSupported))
    assert(key(types).checkInputDataTypes() == TypeCheckResult.TypeCheckSuccess)
  }
}
