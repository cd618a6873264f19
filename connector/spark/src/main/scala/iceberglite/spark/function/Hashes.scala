package iceberglite.spark.function

import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.types.Murmur3

/**
 * Computes the hash of the bucket transform (spec: "Bucket Transform Details") for values in Spark's internal format,
 * without copying the values.
 */
private[iceberglite] object Hashes {

  def string(value: UTF8String): Int = value.getBaseObject match {
    case bytes: Array[Byte] =>
      Murmur3.hashBytes(bytes, (value.getBaseOffset - Platform.BYTE_ARRAY_OFFSET).toInt, value.numBytes)
    case _ =>
      val bytes = value.getBytes
      Murmur3.hashBytes(bytes, 0, bytes.length)
  }

  def decimal(value: Decimal): Int =
    if (value.precision <= Decimal.MAX_LONG_DIGITS) Murmur3.hashDecimal(value.toUnscaledLong)
    else Murmur3.hashDecimal(value.toJavaBigDecimal.unscaledValue)
}
