package iceberglite.spec.types

import java.math.BigInteger
import java.nio.ByteBuffer

/**
 * The 32-bit Murmur3 hash, x86 variant, seed 0 (spec: "Appendix B: 32-bit Hash Requirements"). Most methods allocate no
 * objects, because writers hash every row.
 */
object Murmur3 {
  private val C1 = 0xcc9e2d51
  private val C2 = 0x1b873593
  private val BytesOfLong = 8

  /**
   * Converts the value to a long, and returns the hash of the long. Therefore a row stays in the same bucket if its
   * column is promoted from int to long.
   */
  def hashInt(v: Int): Int = hashLong(v.toLong)

  def hashLong(v: Long): Int = {
    val low = mixHash(0, v.toInt)
    finish(mixHash(low, (v >>> 32).toInt), BytesOfLong)
  }

  def hashBytes(b: Array[Byte], off: Int, len: Int): Int = {
    var hash = 0
    val blocks = len & ~3
    var i = 0
    while (i < blocks) {
      val start = off + i
      hash = mixHash(hash, littleEndianWord(b(start), b(start + 1), b(start + 2), b(start + 3)))
      i += 4
    }
    var tail = 0
    var shift = 0
    while (i < len) {
      tail |= (b(off + i) & 0xff) << shift
      shift += 8
      i += 1
    }
    finish(hash ^ mixWord(tail), len)
  }

  /** Hashes the bytes of a buffer from position to limit. The position of the buffer does not change. */
  def hashBytes(b: ByteBuffer): Int =
    if (b.hasArray) hashBytes(b.array, b.arrayOffset + b.position(), b.remaining)
    else {
      val copy = new Array[Byte](b.remaining)
      b.duplicate().get(copy)
      hashBytes(copy, 0, copy.length)
    }

  /**
   * Hashes the unscaled value of a decimal. The hashed bytes are the shortest big-endian two's complement of this
   * value.
   */
  def hashDecimal(unscaled: BigInteger): Int =
    if (unscaled.bitLength < java.lang.Long.SIZE) hashDecimal(unscaled.longValue)
    else {
      val bytes = unscaled.toByteArray
      hashBytes(bytes, 0, bytes.length)
    }

  /** Hashes the unscaled value of a decimal that fits into a long. */
  def hashDecimal(unscaled: Long): Int = {
    val magnitude = if (unscaled < 0) ~unscaled else unscaled
    val len = (java.lang.Long.SIZE - java.lang.Long.numberOfLeadingZeros(magnitude)) / 8 + 1
    // The hash algorithm reads bytes in little-endian order. Therefore the first of the big-endian bytes becomes the
    // lowest byte.
    val bytes = java.lang.Long.reverseBytes(unscaled << (8 * (BytesOfLong - len)))
    if (len < 4) finish(mixWord(bytes.toInt), len)
    else {
      val first = mixHash(0, bytes.toInt)
      if (len == BytesOfLong) finish(mixHash(first, (bytes >>> 32).toInt), len)
      else finish(first ^ mixWord((bytes >>> 32).toInt), len)
    }
  }

  private def littleEndianWord(a: Byte, b: Byte, c: Byte, d: Byte): Int =
    (a & 0xff) | (b & 0xff) << 8 | (c & 0xff) << 16 | (d & 0xff) << 24

  private def mixWord(word: Int): Int = Integer.rotateLeft(word * C1, 15) * C2

  private def mixHash(hash: Int, word: Int): Int = Integer.rotateLeft(hash ^ mixWord(word), 13) * 5 + 0xe6546b64

  private def finish(hash: Int, length: Int): Int = {
    val a = hash ^ length
    val b = (a ^ (a >>> 16)) * 0x85ebca6b
    val c = (b ^ (b >>> 13)) * 0xc2b2ae35
    c ^ (c >>> 16)
  }
}
