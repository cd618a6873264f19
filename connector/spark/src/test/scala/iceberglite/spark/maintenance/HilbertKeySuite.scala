package iceberglite.spark.maintenance

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.cluster.HilbertCurve

/** Tests [[HilbertKey]], which orders rows along a Hilbert curve through the ranks of their values in a sample. */
class HilbertKeySuite extends AnyFunSuite {
  private val random = new Random(11)

  private def valuesOf(dataType: DataType): Vector[Any] = {
    def many(value: => Any): Vector[Any] = Vector.fill(500)(value)
    val values = dataType match {
      case BooleanType => Vector(true, false)
      case ByteType => many(random.nextInt.toByte)
      case ShortType => many(random.nextInt.toShort)
      case IntegerType | DateType => many(random.nextInt) ++ Vector(Int.MinValue, Int.MaxValue, 0)
      case LongType | TimestampType | TimestampNTZType => many(random.nextLong) ++ Vector(Long.MinValue, Long.MaxValue)
      case FloatType =>
        many(random.nextGaussian.toFloat) ++ Vector(
          Float.NaN,
          0f,
          -1e30f,
          Float.NegativeInfinity,
          Float.PositiveInfinity
        )
      case DoubleType =>
        many(random.nextGaussian) ++ Vector(Double.NaN, 0.0, Double.MinValue, Double.NegativeInfinity, Double.MaxValue)
      case d: DecimalType =>
        many(Decimal(BigDecimal(BigInt(d.precision * 3, random) - (BigInt(1) << d.precision), d.scale)))
      case StringType =>
        many(UTF8String.fromString("a common prefix of customers " + random.nextInt(300))) :+ UTF8String.fromString("")
      case BinaryType => many(Array.fill(random.nextInt(4))(random.nextInt.toByte))
    }
    values :+ null
  }

  private val types = Seq(
    BooleanType,
    ByteType,
    ShortType,
    IntegerType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(38, 10),
    DateType,
    TimestampType,
    TimestampNTZType,
    StringType,
    BinaryType
  )

  private def key(columns: Seq[(DataType, Vector[Any])]): HilbertKey = {
    val curve = HilbertCurve.ofColumns(columns.size)
    val ordinals = columns.map { case (dataType, sample) => ColumnOrdinals.of(dataType, sample.toArray, curve.bits) }
    val children = columns.zipWithIndex.map { case ((dataType, _), i) => BoundReference(i, dataType, nullable = true) }
    HilbertKey(children, ordinals.toVector, curve)
  }

  private def compiled(expression: Expression): InternalRow => Long = {
    val projection = UnsafeProjection.create(expression)
    row => projection(row).getLong(0)
  }

  test("for one column of any type, the key has the order of the values, with nulls first and NaN last") {
    types.foreach { dataType =>
      val values = valuesOf(dataType)
      val (expression, ordering) = (key(Seq(dataType -> values)), TypeUtils.getInterpretedOrdering(dataType))
      val code = compiled(expression)
      val sorted = null +: values.filter(_ != null).sorted(ordering)
      val keys = sorted.map(value => expression.eval(InternalRow(value)).asInstanceOf[Long])
      assert(keys == sorted.map(value => code(InternalRow(value))), dataType)
      assert(keys == keys.sorted && keys.forall(_ >= 0), dataType)
      if (values.distinct.size > 400) assert(keys.distinct.size > 200, dataType)
    }
  }

  test("values that the sample lacks keep their order") {
    val sample = Vector(10L, 20L, 30L, 40L)
    val code = compiled(key(Seq(LongType -> sample)))
    val keys = Vector(Long.MinValue, 9L, 10L, 19L, 20L, 39L, 40L, Long.MaxValue).map(v => code(InternalRow(v)))
    assert(keys == keys.sorted && keys.distinct == Vector(0L, 1024L, 2048L, 3072L))
    assert(compiled(key(Seq(LongType -> Vector.empty[Any])))(InternalRow(5L)) == 0)
  }

  test("generated code and interpreted evaluation agree for several columns with nulls") {
    for (columns <- 2 to 8; _ <- 1 to 5) {
      val chosen = Vector.fill(columns)(types(random.nextInt(types.size))).map(t => t -> valuesOf(t))
      val expression = key(chosen)
      val code = compiled(expression)
      for (_ <- 1 to 50) {
        val row = InternalRow(chosen.map { case (_, values) => values(random.nextInt(values.size)) }: _*)
        assert(code(row) == expression.eval(row))
      }
    }
  }

  /**
   * Sorts points by a key, divides them into files of 100 points, and returns the average number of files that a query
   * reads. A query selects a range in both columns; each range contains 5 % of the values of its column.
   */
  private def filesPerQuery(points: Vector[(Long, Long)])(key: (Long, Long) => Long): Double = {
    val files = points.sortBy(p => key(p._1, p._2)).grouped(100).toVector
    def bounds(column: ((Long, Long)) => Long) = files.map(f => (f.map(column).min, f.map(column).max))
    val (xs, ys) = (points.map(_._1).sorted, points.map(_._2).sorted)
    val (boundsOfX, boundsOfY) = (bounds(_._1), bounds(_._2))
    val width = points.size / 20
    val counts = for (i <- 0 until 19; j <- 0 until 19) yield {
      def overlaps(b: (Long, Long), sorted: Vector[Long], n: Int) =
        b._1 < sorted((n + 1) * width) && b._2 >= sorted(n * width)
      boundsOfX.zip(boundsOfY).count { case (x, y) => overlaps(x, xs, i) && overlaps(y, ys, j) }
    }
    counts.sum.toDouble / counts.size
  }

  test(
    "for skewed data, queries read fewer files with ordinals from a sample than with coordinates proportional to values"
  ) {
    def skewed() = math.exp(random.nextGaussian * 3 + 8).toLong
    val points = Vector.fill(20000)((skewed(), skewed()))
    val curve = HilbertCurve.ofColumns(2)
    val sample = random.shuffle(points).take(4000)
    val ordinals = Vector(sample.map(_._1), sample.map(_._2)).map { values =>
      ColumnOrdinals.of(LongType, values.toArray[Any], curve.bits).asInstanceOf[NumberOrdinals]
    }
    val (maxX, maxY) = (points.map(_._1).max, points.map(_._2).max)
    def scaled(value: Long, max: Long) = (value.toDouble / max * ((1 << curve.bits) - 1)).toLong
    val byOrdinals =
      filesPerQuery(points)((x, y) => curve.index(Array(ordinals(0).of(x).toLong, ordinals(1).of(y).toLong)))
    val byValues = filesPerQuery(points)((x, y) => curve.index(Array(scaled(x, maxX), scaled(y, maxY))))
    val unsorted = filesPerQuery(points)((_, _) => 0L)
    info(f"files per query: $byOrdinals%.1f by ordinals, $byValues%.1f by values, $unsorted%.1f unsorted")
    assert(byOrdinals < 6 && byOrdinals * 2 < byValues && byValues < unsorted)
  }
}
