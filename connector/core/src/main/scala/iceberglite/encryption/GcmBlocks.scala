package iceberglite.encryption

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.US_ASCII

/**
 * The layout of files in the AES GCM stream format. A file consists of a magic, the length of a plain block, and
 * encrypted blocks. All blocks except the last one contain a plain block of this length. A file has at least one block,
 * which is empty only if the whole content is empty. The number of a block is a part of its authenticated data.
 *
 * @param blockLength the length of a plain block, in bytes
 */
final private[iceberglite] class GcmBlocks private (val blockLength: Int) {
  private val storedBlockLength = blockLength.toLong + AesGcm.Overhead

  /** Returns the stored length of a file with a content of this length. */
  def storedLength(contentLength: Long): Long =
    GcmBlocks.HeaderLength + contentLength + math.max(1, count(contentLength)) * AesGcm.Overhead

  private def count(contentLength: Long): Long = (contentLength + blockLength - 1) / blockLength

  /**
   * Returns the length of the content of a file with this stored length; absent if no content has this stored length,
   * or if the file would have too many blocks.
   */
  def contentLength(storedLength: Long): Option[Long] = {
    val blocksLength = storedLength - GcmBlocks.HeaderLength
    val full = blocksLength / storedBlockLength
    val rest = blocksLength % storedBlockLength
    val hasValidRest = rest == 0 && full > 0 || rest > AesGcm.Overhead || rest == AesGcm.Overhead && full == 0
    if (blocksLength < AesGcm.Overhead || full >= Int.MaxValue || !hasValidRest) None
    else Some(full * blockLength + math.max(0, rest - AesGcm.Overhead))
  }

  /** Returns the number of the block that contains a byte of the content. */
  def blockOf(position: Long): Int = (position / blockLength).toInt

  /** Returns the position of the first content byte of a block. */
  def startOf(block: Int): Long = block.toLong * blockLength

  /** Returns the position of a block in the stored file. */
  def storedStartOf(block: Int): Long = GcmBlocks.HeaderLength + block * storedBlockLength

  /** Returns the stored length of a block. */
  def storedLengthOf(block: Int, contentLength: Long): Int =
    math.min(blockLength.toLong, contentLength - startOf(block)).toInt + AesGcm.Overhead

  /** Returns the number of the last block. */
  def lastBlock(contentLength: Long): Int = math.max(0, count(contentLength) - 1).toInt

  /** Returns the beginning of each file. */
  def header: Array[Byte] = ByteBuffer.allocate(GcmBlocks.HeaderLength).order(ByteOrder.LITTLE_ENDIAN)
    .put(GcmBlocks.Magic).putInt(blockLength).array
}

private[iceberglite] object GcmBlocks {
  private val Magic: Array[Byte] = "AGS1".getBytes(US_ASCII)

  /** The length of the magic and of the block length, in bytes. */
  val HeaderLength: Int = Magic.length + 4

  /** The only layout: Apache Iceberg, too, writes and reads only this block length. */
  val Standard: GcmBlocks = new GcmBlocks(1 << 20)

  /** Whether a file with these first bytes may be in this format. */
  def isStream(first: Array[Byte]): Boolean = first.startsWith(Magic)

  /** Returns the layout of a file; absent if these are not the first bytes of a file in this format. */
  def of(header: Array[Byte]): Option[GcmBlocks] =
    if (header.length < HeaderLength || !isStream(header)) None
    else {
      val length = ByteBuffer.wrap(header, Magic.length, 4).order(ByteOrder.LITTLE_ENDIAN).getInt
      Some(Standard).filter(_.blockLength == length)
    }

  /** Returns the additional authenticated data of a block. */
  def aad(key: FileKey, block: Int): Array[Byte] =
    ByteBuffer.allocate(key.aadPrefix.length + 4).order(ByteOrder.LITTLE_ENDIAN).put(key.aadPrefix).putInt(block).array
}
