package iceberglite.storage

import iceberglite.encryption.{AesGcm, FileKey, GcmBlocks}
import iceberglite.spec.IcebergError.UnreadableFile

/**
 * Decrypts the blocks of one file in the AES GCM stream format. Instances are not thread-safe.
 *
 * @param storedLength the length of the file according to the storage. It must be that in the key
 */
final private[storage] class GcmDecryption(path: String, key: FileKey, header: Array[Byte], storedLength: Long) {
  private val cipher = new AesGcm(key.key)

  val blocks: GcmBlocks = GcmBlocks.of(header).getOrElse(
    throw GcmDecryption.damaged(path, "It does not begin with the header of an encrypted file")
  )

  val contentLength: Long = {
    val expected = GcmDecryption.lengthOf(path, key)
    if (expected != storedLength)
      throw GcmDecryption.damaged(path, s"It has $storedLength bytes, but had $expected bytes when it was written")
    blocks.contentLength(storedLength)
      .getOrElse(throw GcmDecryption.damaged(path, s"No encrypted file has its length, $storedLength bytes"))
  }

  /** Decrypts a block that begins at an offset. @throws UnreadableFile if the block is not authentic */
  def decrypt(block: Int, stored: Array[Byte], offset: Int, plain: Array[Byte], plainOffset: Int): Unit =
    if (!isDecrypted(block, stored, offset, plain, plainOffset))
      throw GcmDecryption.damaged(path, s"Block $block is not authentic")

  /** Decrypts a block that begins at an offset. @return false if the block is not authentic */
  private def isDecrypted(
      block: Int,
      stored: Array[Byte],
      offset: Int,
      plain: Array[Byte],
      plainOffset: Int
  ): Boolean = {
    val length = blocks.storedLengthOf(block, contentLength)
    cipher.decrypt(stored, offset, length, GcmBlocks.aad(key, block), plain, plainOffset)
  }

  def decrypt(block: Int, stored: Array[Byte]): Array[Byte] = {
    val plain = new Array[Byte](blocks.storedLengthOf(block, contentLength) - AesGcm.Overhead)
    decrypt(block, stored, 0, plain, 0)
    plain
  }
}

private[storage] object GcmDecryption {

  /**
   * Returns the length of a file according to its key. The length in the storage cannot replace it, because whole
   * blocks at the end of the file may be missing.
   */
  private def lengthOf(path: String, key: FileKey): Long = key.fileLength.getOrElse(throw UnreadableFile(
    path,
    "encrypted file",
    "Its key metadata does not contain its length, so it cannot be checked whether the file is complete. The " +
      "metadata that refers to the file is damaged, or another engine encrypted the file in its own way"
  ))

  /** The limits for a file that is read as a whole. */
  def bounds(path: String, key: FileKey): ReadBounds =
    ReadBounds("an AES GCM stream", math.min(ReadBounds.MaxBytes, lengthOf(path, key)), GcmBlocks.isStream)

  def damaged(path: String, reason: String): UnreadableFile = UnreadableFile(
    path,
    "encrypted file",
    s"$reason. The file was damaged, truncated or replaced, or the key does not belong to it. Restore the file"
  )

  /**
   * Reads a range of the content by one request, without the header of the file.
   *
   * @return absent if the range is not in the content, or if blocks are not authentic, possibly because they have
   *   another length than those of known writers
   */
  def range(io: FileIO, path: String, key: FileKey, offset: Long, length: Int): Option[Array[Byte]] = {
    val file = new GcmDecryption(path, key, GcmBlocks.Standard.header, lengthOf(path, key))
    val (first, last) = (file.blocks.blockOf(offset), file.blocks.blockOf(offset + length - 1))
    val start = file.blocks.storedStartOf(first)
    def storedEnd = file.blocks.storedStartOf(last) + file.blocks.storedLengthOf(last, file.contentLength)
    if (length == 0 || offset > file.contentLength - length || storedEnd - start > Int.MaxValue) None
    else {
      val stored = io.readRange(path, start, (storedEnd - start).toInt)
      val plain = new Array[Byte]((math.min(file.contentLength, file.blocks.startOf(last + 1)) -
        file.blocks.startOf(first)).toInt)
      val isAuthentic = (first to last).forall { block =>
        val from = (file.blocks.storedStartOf(block) - start).toInt
        file.isDecrypted(block, stored, from, plain, (file.blocks.startOf(block) - file.blocks.startOf(first)).toInt)
      }
      val from = (offset - file.blocks.startOf(first)).toInt
      if (isAuthentic) Some(java.util.Arrays.copyOfRange(plain, from, from + length)) else None
    }
  }

  /** Decrypts a whole file. @throws UnreadableFile if any block is not authentic, or if blocks are missing */
  def whole(path: String, key: FileKey, stored: Array[Byte]): Array[Byte] = {
    val file = new GcmDecryption(path, key, stored.take(GcmBlocks.HeaderLength), stored.length.toLong)
    val content = new Array[Byte](file.contentLength.toInt)
    (0 to file.blocks.lastBlock(file.contentLength)).foreach { block =>
      file.decrypt(block, stored, file.blocks.storedStartOf(block).toInt, content, file.blocks.startOf(block).toInt)
    }
    content
  }
}
