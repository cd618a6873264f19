package iceberglite.puffin

import java.nio.{ByteBuffer, ByteOrder}
import java.util.zip.CRC32

import org.roaringbitmap.RoaringBitmap

import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}

/**
 * Reads and writes the blob of a deletion vector (spec version 3: "Deletion vectors"). The blob consists of a length,
 * the magic, the bitmaps and a checksum. The length and the checksum cover the magic and the bitmaps. For compatibility
 * with Delta Lake, the length and the checksum are big-endian, and all other numbers are little-endian.
 */
private[puffin] object DeletionVectorBytes {
  private val Magic = 0x6439d3d1
  private val LengthSize = 4
  private val MagicSize = 4
  private val CountSize = 8
  private val KeySize = 4
  private val ChecksumSize = 4
  private val MinSize = LengthSize + MagicSize + CountSize + ChecksumSize

  /** Minimum size of a serialized bitmap in bytes. */
  private val MinBitmapSize = 8

  /**
   * The limit for writing empty bitmaps. If all keys are below this limit, an empty bitmap is written for each missing
   * key below the highest key. Apache Iceberg does this without a limit. For data files of realistic size, both
   * implementations write the same bytes. Without the limit, a position of 2^60 would produce a blob of gigabytes.
   */
  private val MaxFilledKey = 1 << 10

  /** Returns the blob of a deletion vector. @throws InvalidArgument if the blob exceeds the maximum size of an array */
  def write(keys: Array[Int], bitmaps: Array[RoaringBitmap]): Array[Byte] = {
    val written = withEmptyBitmaps(keys, bitmaps.map(runOptimized))
    val length = MagicSize + CountSize + written.iterator.map(KeySize + _._2.serializedSizeInBytes.toLong).sum
    if (length > Int.MaxValue - MinSize) {
      val reason = s"A deletion vector can have at most ${Int.MaxValue - MinSize} bytes. Rewrite the data file"
      throw InvalidArgument("deletion vector", s"$length bytes", reason)
    }
    val blob = ByteBuffer.allocate(LengthSize + length.toInt + ChecksumSize)
    blob.putInt(length.toInt)
    blob.order(ByteOrder.LITTLE_ENDIAN).putInt(Magic).putLong(written.size.toLong)
    written.foreach { case (key, bitmap) =>
      blob.putInt(key)
      bitmap.serialize(blob)
    }
    blob.order(ByteOrder.BIG_ENDIAN).putInt(checksum(blob.array, length.toInt))
    blob.array
  }

  /**
   * Returns a copy of the bitmap in which each container is run-length encoded if this makes the container shorter. The
   * bitmap itself is not changed, because a deletion vector is immutable.
   */
  private def runOptimized(bitmap: RoaringBitmap): RoaringBitmap = {
    val copy = bitmap.clone()
    copy.runOptimize()
    copy
  }

  private def withEmptyBitmaps(keys: Array[Int], bitmaps: Array[RoaringBitmap]): Seq[(Int, RoaringBitmap)] = {
    val bitmapsByKey = keys.toVector.zip(bitmaps)
    if (keys.isEmpty || keys.last >= MaxFilledKey) bitmapsByKey
    else {
      val byKey = bitmapsByKey.toMap
      (0 to keys.last).map(key => key -> byKey.getOrElse(key, new RoaringBitmap))
    }
  }

  /** Number of bytes that [[checkHeader]] needs to check whether a blob can be a deletion vector. */
  val HeaderSize: Int = LengthSize + MagicSize

  /**
   * Checks the beginning of the blob of a deletion vector, before a large blob is read as a whole. Returns a
   * description of the problem, if there is one.
   */
  def checkHeader(header: Array[Byte], size: Long): Option[String] = {
    val in = ByteBuffer.wrap(header)
    val (length, magic) = (in.getInt().toLong, in.order(ByteOrder.LITTLE_ENDIAN).getInt())
    if (length == size - LengthSize - ChecksumSize && magic == Magic) None
    else Some(s"The manifest entry states $size bytes, but the data does not begin like a deletion vector of this size")
  }

  def read(file: String, dataFile: String, blob: Array[Byte]): DeletionVector =
    try DeletionVector.ofBitmaps(bitmaps(blob))
    catch {
      case DamagedBlob(reason) =>
        val advice = "Restore the file, or roll the table back to a snapshot without it"
        throw UnreadableFile(file, s"deletion vector of $dataFile in", s"$reason. $advice")
    }

  private def bitmaps(blob: Array[Byte]): Seq[(Int, RoaringBitmap)] = {
    if (blob.length < MinSize) throw DamagedBlob(s"The blob has ${blob.length} bytes, too few for a deletion vector")
    val in = ByteBuffer.wrap(blob)
    val length = in.getInt()
    if (length != blob.length - LengthSize - ChecksumSize) {
      val available = blob.length - LengthSize - ChecksumSize
      throw DamagedBlob(s"The blob states a length of $length bytes, but $available bytes are present")
    }
    val storedChecksum = in.getInt(LengthSize + length)
    in.limit(LengthSize + length)
    in.order(ByteOrder.LITTLE_ENDIAN)
    val magic = in.getInt()
    if (magic != Magic) throw DamagedBlob(f"The blob starts with the magic 0x$magic%08x, not 0x$Magic%08x")
    val computed = checksum(blob, length)
    if (computed != storedChecksum) {
      throw DamagedBlob(f"The data has the checksum 0x$computed%08x, but the stored checksum is 0x$storedChecksum%08x")
    }
    readBitmaps(in)
  }

  private def readBitmaps(in: ByteBuffer): Seq[(Int, RoaringBitmap)] = {
    val count = in.getLong()
    if (count < 0 || count > in.remaining / (KeySize + MinBitmapSize)) {
      throw DamagedBlob(s"The vector claims $count bitmaps, but only ${in.remaining} bytes are left")
    }
    var lastKey = -1
    val bitmapsByKey = (0 until count.toInt).map { _ =>
      if (in.remaining < KeySize) throw DamagedBlob("The vector ends before its last bitmap")
      val key = in.getInt()
      if (key < 0) throw DamagedBlob(f"The key 0x$key%08x represents negative positions")
      if (key <= lastKey) throw DamagedBlob(s"The keys are not sorted: $key comes after $lastKey")
      lastKey = key
      key -> PortableBitmap.read(in)
    }
    if (in.hasRemaining) throw DamagedBlob(s"${in.remaining} bytes follow the last bitmap of the vector")
    bitmapsByKey
  }

  /** Computes the checksum of the magic and the bitmaps. */
  private def checksum(blob: Array[Byte], length: Int): Int = {
    val crc = new CRC32
    crc.update(blob, LengthSize, length)
    crc.getValue.toInt
  }
}
