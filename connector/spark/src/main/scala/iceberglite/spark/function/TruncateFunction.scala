package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.BoundFunction
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.Truncate

/** `truncate(10, name)`: rounds numbers down to a multiple of the width, and cuts strings and bytes to the width. */
object TruncateFunction extends ParametrizedFunction("truncate") {
  override protected def signature: String = "truncate(width, value)"

  override protected def bound: PartialFunction[DataType, BoundFunction] = {
    case ByteType | ShortType | IntegerType => OfInt
    case LongType => OfLong
    case t: DecimalType => OfDecimal(t)
    case StringType => OfString
    case BinaryType => OfBinary
  }

  /** The transform of the latest call. It is cached, because the width is usually the same for all rows of a query. */
  @volatile private var latest: Truncate = Truncate(1)

  private def truncate(width: Int): Truncate = {
    val cached = latest
    if (cached.width == width) cached
    else {
      if (width <= 0) throw SparkErrors.of(
        name,
        InvalidArgument("width of truncate", width.toString, s"It must be 1 to ${Int.MaxValue}")
      )
      // Another task may change `latest` at any time, so it is not read again.
      val created = Truncate(width)
      latest = created
      created
    }
  }

  abstract class Bound[R](source: DataType)
      extends BoundTransform[R]("truncate", BoundTransform.Number, source, source)

  case object OfInt extends Bound[java.lang.Integer](IntegerType) {
    def invoke(width: Int, value: Int): Int = truncate(width).ofInt(value)
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0), input.getInt(1))
  }

  case object OfLong extends Bound[java.lang.Long](LongType) {
    def invoke(width: Int, value: Long): Long = truncate(width).ofLong(value)
    override protected def valueOf(input: InternalRow): java.lang.Long = invoke(input.getInt(0), input.getLong(1))
  }

  /**
   * Truncates decimals. If a value is close to the minimum of its type, the truncated value can have too many digits;
   * the result is then null.
   */
  final case class OfDecimal(source: DecimalType) extends Bound[Decimal](source) {
    def invoke(width: Int, value: Decimal): Decimal =
      if (value == null) null
      else {
        val unscaled = truncate(width).ofUnscaled(value.toJavaBigDecimal.unscaledValue)
        val result = Decimal(new java.math.BigDecimal(unscaled, value.scale))
        if (result.changePrecision(source.precision, source.scale)) result else null
      }

    override protected def valueOf(input: InternalRow): Decimal =
      invoke(input.getInt(0), input.getDecimal(1, source.precision, source.scale))
  }

  case object OfString extends Bound[UTF8String](StringType) {
    def invoke(width: Int, value: UTF8String): UTF8String =
      if (value == null) null else value.substring(0, truncate(width).width)

    override protected def valueOf(input: InternalRow): UTF8String = invoke(input.getInt(0), input.getUTF8String(1))
  }

  case object OfBinary extends Bound[Array[Byte]](BinaryType) {
    def invoke(width: Int, value: Array[Byte]): Array[Byte] = {
      val length = truncate(width).width
      if (value == null || value.length <= length) value else value.take(length)
    }

    override protected def valueOf(input: InternalRow): Array[Byte] = invoke(input.getInt(0), input.getBinary(1))
  }
}
