package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.BoundFunction
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.Bucket
import iceberglite.spec.types.Murmur3

/** `bucket(16, id)`: the number of the bucket of a value. */
object BucketFunction extends ParametrizedFunction("bucket") {
  override protected def signature: String = "bucket(number, value)"

  override protected def bound: PartialFunction[DataType, BoundFunction] = {
    case ByteType | ShortType | IntegerType => OfInt(IntegerType)
    case DateType => OfInt(DateType)
    case t @ (LongType | TimestampType | TimestampNTZType) => OfLong(t)
    case t: DecimalType => OfDecimal(t)
    case StringType => OfString
    case BinaryType => OfBinary
  }

  /**
   * The transform of the latest call. It is cached, because the number of buckets is usually the same for all rows of a
   * query.
   */
  @volatile private var latest: Bucket = Bucket(1)

  private def bucket(buckets: Int): Bucket = {
    val cached = latest
    if (cached.buckets == buckets) cached
    else {
      if (buckets <= 0) throw SparkErrors.of(
        name,
        InvalidArgument("number of buckets", buckets.toString, s"It must be 1 to ${Int.MaxValue}")
      )
      // Another task may change `latest` at any time, so it is not read again.
      val created = Bucket(buckets)
      latest = created
      created
    }
  }

  private def bucketOf(buckets: Int, hash: Int): Int = bucket(buckets).ofHash(hash)

  abstract class Bound(source: DataType)
      extends BoundTransform[java.lang.Integer]("bucket", BoundTransform.Number, source, IntegerType)

  final case class OfInt(source: DataType) extends Bound(source) {
    def invoke(buckets: Int, value: Int): Int = bucketOf(buckets, Murmur3.hashInt(value))
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0), input.getInt(1))

    /**
     * Returns the canonical name of the function for long, because an int and a long with the same value are in the
     * same bucket. Therefore, Spark can join a table that is bucketed by an int with a table that is bucketed by a
     * long, without a shuffle.
     */
    override def canonicalName: String =
      if (source == IntegerType) OfLong(LongType).canonicalName else super.canonicalName
  }

  final case class OfLong(source: DataType) extends Bound(source) {
    def invoke(buckets: Int, value: Long): Int = bucketOf(buckets, Murmur3.hashLong(value))
    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0), input.getLong(1))
  }

  final case class OfDecimal(source: DecimalType) extends Bound(source) {
    def invoke(buckets: Int, value: Decimal): Integer =
      if (value == null) null else Int.box(bucketOf(buckets, Hashes.decimal(value)))

    override protected def valueOf(input: InternalRow): Integer =
      invoke(input.getInt(0), input.getDecimal(1, source.precision, source.scale))
  }

  case object OfString extends Bound(StringType) {
    def invoke(buckets: Int, value: UTF8String): Integer =
      if (value == null) null else Int.box(bucketOf(buckets, Hashes.string(value)))

    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0), input.getUTF8String(1))
  }

  case object OfBinary extends Bound(BinaryType) {
    def invoke(buckets: Int, value: Array[Byte]): Integer =
      if (value == null) null else Int.box(bucketOf(buckets, Murmur3.hashBytes(value, 0, value.length)))

    override protected def valueOf(input: InternalRow): Integer = invoke(input.getInt(0), input.getBinary(1))
  }
}
