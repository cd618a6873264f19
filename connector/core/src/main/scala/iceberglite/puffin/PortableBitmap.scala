package iceberglite.puffin

import java.nio.ByteBuffer

import org.roaringbitmap.RoaringBitmap

/**
 * A 32-bit bitmap in Roaring's portable format. All parts are checked before the library reads them, because the
 * library does not validate its input. An unsorted part would lead to wrong lookups, and a truncated part to a later
 * failure.
 */
private[puffin] object PortableBitmap {
  private val CookieWithRuns = 12347
  private val CookieWithoutRuns = 12346

  /** Bitmaps with runs and fewer containers than this have no offsets. */
  private val OffsetsFrom = 4
  private val MaxContainers = 1 << 16
  private val MaxInArray = 4096
  private val BitmapBytes = 8192
  private val HeaderBytes = 4
  private val OffsetBytes = 4

  /**
   * Reads one bitmap and positions the buffer after it.
   *
   * @param in little-endian
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

  /** Checks all parts of a bitmap. */
  private def check(in: ByteBuffer): Unit = {
    requireRemaining(in, Integer.BYTES)
    val cookie = in.getInt()
    if ((cookie & 0xffff) == CookieWithRuns) {
      val size = (cookie >>> 16) + 1
      val runs = new Array[Byte]((size + 7) / 8)
      requireRemaining(in, runs.length)
      in.get(runs)
      checkContainers(in, size, i => (runs(i / 8) >> (i % 8) & 1) == 1, size >= OffsetsFrom)
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
      val found =
        if (isRun(i)) runs(in) else if (cardinalities(i) > MaxInArray) bits(in) else values(in, cardinalities(i))
      if (found != cardinalities(i)) {
        throw DamagedBlob(s"A container of a bitmap has $found values, but claims ${cardinalities(i)}")
      }
      i += 1
    }
  }

  private def runs(in: ByteBuffer): Int = {
    requireRemaining(in, 2)
    val count = unsigned(in)
    requireRemaining(in, count * 4)
    var last = -1
    var cardinality = 0
    var i = 0
    while (i < count) {
      val start = ascending(last, unsigned(in))
      val more = unsigned(in)
      last = start + more
      if (last > 0xffff) throw DamagedBlob(s"A run of a bitmap ends at $last, past its container")
      cardinality += more + 1
      i += 1
    }
    cardinality
  }

  private def bits(in: ByteBuffer): Int = {
    requireRemaining(in, BitmapBytes)
    var cardinality = 0
    var i = 0
    while (i < BitmapBytes / 8) {
      cardinality += java.lang.Long.bitCount(in.getLong())
      i += 1
    }
    cardinality
  }

  private def values(in: ByteBuffer, count: Int): Int = {
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
    if (in.remaining < count) throw DamagedBlob("It ends in the middle of a bitmap")
}
