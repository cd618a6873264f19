package iceberglite.puffin

import java.nio.ByteBuffer

import org.roaringbitmap.RoaringBitmap

/**
 * Reads 32-bit bitmaps in Roaring's portable format. All parts of a bitmap that the RoaringBitmap library uses are
 * checked before the library reads them, because the library does not validate its input. An unsorted part would cause
 * wrong results of lookups, and a truncated part would cause a failure later.
 */
private[puffin] object PortableBitmap {
  private val CookieWithRuns = 12347
  private val CookieWithoutRuns = 12346

  /** Minimum number of containers for which a bitmap with run containers stores the offsets of its containers. */
  private val MinContainersForOffsets = 4
  private val MaxContainers = 1 << 16

  /** Maximum number of values in an array container. */
  private val MaxArrayValues = 4096

  /** Size of a bitmap container in bytes. */
  private val BitmapBytes = 8192
  private val HeaderBytes = 4
  private val OffsetBytes = 4

  /**
   * Reads one bitmap and moves the position of the buffer behind the bitmap.
   *
   * @param in a buffer with little-endian byte order
   * @throws DamagedBlob if the bytes are not a bitmap
   */
  def read(in: ByteBuffer): RoaringBitmap = {
    val start = in.position()
    check(in)
    val end = in.position()
    val bitmap = new RoaringBitmap
    bitmap.deserialize(in.duplicate().order(in.order).position(start).limit(end))
    bitmap
  }

  /** Checks a bitmap, and moves the position of the buffer behind it. The offsets of the containers are not checked. */
  private def check(in: ByteBuffer): Unit = {
    requireRemaining(in, Integer.BYTES)
    val cookie = in.getInt()
    if ((cookie & 0xffff) == CookieWithRuns) {
      val size = (cookie >>> 16) + 1
      val runs = new Array[Byte]((size + 7) / 8)
      requireRemaining(in, runs.length)
      in.get(runs)
      checkContainers(in, size, i => (runs(i / 8) >> (i % 8) & 1) == 1, size >= MinContainersForOffsets)
    } else if (cookie == CookieWithoutRuns) {
      requireRemaining(in, Integer.BYTES)
      val size = in.getInt()
      if (size < 0 || size > MaxContainers) throw DamagedBlob(s"A bitmap claims $size containers")
      checkContainers(in, size, _ => false, hasOffsets = true)
    } else throw DamagedBlob(f"A bitmap starts with the unknown cookie 0x$cookie%08x")
  }

  private def checkContainers(in: ByteBuffer, size: Int, isRun: Int => Boolean, hasOffsets: Boolean): Unit = {
    requireRemaining(in, size * HeaderBytes)
    val cardinalities = new Array[Int](size)
    var lastKey = -1
    var i = 0
    while (i < size) {
      lastKey = ascending(lastKey, unsigned(in))
      cardinalities(i) = unsigned(in) + 1
      i += 1
    }
    if (hasOffsets) skip(in, size * OffsetBytes)
    i = 0
    while (i < size) {
      val actual =
        if (isRun(i)) countRuns(in)
        else if (cardinalities(i) > MaxArrayValues) countBits(in)
        else countValues(in, cardinalities(i))
      if (actual != cardinalities(i)) {
        throw DamagedBlob(s"A container of a bitmap has $actual values, but claims ${cardinalities(i)}")
      }
      i += 1
    }
  }

  /** Checks a run container and returns the number of its values. */
  private def countRuns(in: ByteBuffer): Int = {
    requireRemaining(in, 2)
    val count = unsigned(in)
    requireRemaining(in, count * 4)
    var last = -1
    var cardinality = 0
    var i = 0
    while (i < count) {
      val start = ascending(last, unsigned(in))
      val following = unsigned(in)
      last = start + following
      if (last > 0xffff) throw DamagedBlob(s"A run of a bitmap ends at $last, past its container")
      cardinality += following + 1
      i += 1
    }
    cardinality
  }

  /** Returns the number of values in a bitmap container. */
  private def countBits(in: ByteBuffer): Int = {
    requireRemaining(in, BitmapBytes)
    var cardinality = 0
    var i = 0
    while (i < BitmapBytes / 8) {
      cardinality += java.lang.Long.bitCount(in.getLong())
      i += 1
    }
    cardinality
  }

  /** Checks that an array container has `count` sorted values, and returns `count`. */
  private def countValues(in: ByteBuffer, count: Int): Int = {
    requireRemaining(in, count * 2)
    var last = -1
    var i = 0
    while (i < count) {
      last = ascending(last, unsigned(in))
      i += 1
    }
    count
  }

  private def unsigned(in: ByteBuffer): Int = in.getShort() & 0xffff

  private def ascending(last: Int, next: Int): Int =
    if (next > last) next else throw DamagedBlob(s"A bitmap is not sorted: $next comes after $last")

  private def skip(in: ByteBuffer, count: Int): Unit = {
    requireRemaining(in, count)
    in.position(in.position() + count)
    ()
  }

  private def requireRemaining(in: ByteBuffer, count: Int): Unit =
    if (in.remaining < count) throw DamagedBlob("The data ends in the middle of a bitmap")
}
