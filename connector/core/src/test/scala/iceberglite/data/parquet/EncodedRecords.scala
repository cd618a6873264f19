package iceberglite.data.parquet

import java.nio.ByteBuffer
import java.util.UUID

import scala.util.Random

import iceberglite.data.Record
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/**
 * Random rows with columns of type string and of every fixed-width type in Parquet, flat and nested, with nulls at each
 * level.
 */
object EncodedRecords {
  val schema: Schema = Schema(
    0,
    Vector(
      required(1, "i", IntType),
      optional(2, "l", LongType),
      optional(3, "f", FloatType),
      optional(4, "d", DoubleType),
      optional(5, "day", DateType),
      optional(6, "at", TimestampType),
      optional(7, "d9", DecimalType(9, 2)),
      optional(8, "d18", DecimalType(18, 3)),
      optional(9, "d30", DecimalType(30, 4)),
      optional(10, "u", UuidType),
      optional(11, "x", FixedType(3)),
      optional(12, "t", StringType),
      optional(13, "b", BooleanType),
      optional(14, "s", StructType(Vector(optional(15, "f", FloatType), optional(16, "l", LongType)))),
      optional(17, "ds", ListType(18, DoubleType, elementRequired = false)),
      optional(19, "m", MapType(20, StringType, 21, IntType, valueRequired = false))
    )
  )

  /** Returns random rows. The same seed gives the same rows. */
  def some(count: Int, seed: Int): Vector[Record] = {
    val rng = new Random(seed)
    def maybe(value: => Any): Any = if (rng.nextInt(5) == 0) null else value
    def decimal(bits: Int, scale: Int): Any =
      new java.math.BigDecimal(BigInt(bits, rng).bigInteger.subtract(BigInt(2).pow(bits - 1).bigInteger), scale)
    def bytes(length: Int): ByteBuffer = {
      val array = new Array[Byte](length)
      rng.nextBytes(array)
      ByteBuffer.wrap(array)
    }
    Vector.tabulate(count)(i =>
      Record.of(
        i,
        maybe(rng.nextLong()),
        maybe(if (rng.nextInt(9) == 0) Float.NaN else rng.nextFloat()),
        maybe(if (rng.nextInt(9) == 0) -0.0 else rng.nextGaussian()),
        maybe(rng.nextInt(40000) - 20000),
        maybe(rng.nextInt().toLong * 1000003L),
        maybe(decimal(29, 2)),
        maybe(decimal(59, 3)),
        maybe(decimal(99, 4)),
        maybe(new UUID(rng.nextLong(), rng.nextLong())),
        maybe(bytes(3)),
        maybe(s"text ${rng.nextInt(50)}"),
        maybe(rng.nextBoolean()),
        maybe(Record.of(maybe(rng.nextFloat()), maybe(rng.nextLong()))),
        maybe(Vector.fill(rng.nextInt(4))(maybe(rng.nextDouble()))),
        maybe(Vector.tabulate(rng.nextInt(3))(k => (s"k$k", maybe(rng.nextInt()))))
      )
    )
  }
}
