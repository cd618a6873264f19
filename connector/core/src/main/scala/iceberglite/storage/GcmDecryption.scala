package iceberglite.storage

import iceberglite.encryption.{AesGcm, FileKey, GcmBlocks}
import iceberglite.spec.IcebergError.UnreadableFile

/**
 * Decrypts the blocks of one file in the AES GCM stream format. Instances are not thread-safe.
 *
 * @param storedLength the length of the file according to the storage. It must be that in the key, if the key has one
 */
final private[storage] class GcmDecryption(path: String, key: FileKey, header: Array[Byte], storedLength: Long) {
  private val cipher = new AesGcm(key.key)

  val blocks: GcmBlocks = GcmBlocks.of(header).getOrElse(
    throw GcmDecryption.damaged(path, "It does not begin with the header of an encrypted file")
  )

  val contentLength: Long = {
    key.fileLength.filter(_ != storedLength).foreach { expected =>
      throw GcmDecryption.damaged(path, s"It has $storedLength bytes, but had $expected bytes when it was written")
    }
    blocks.contentLength(storedLength)
      .getOrElse(throw GcmDecryption.damaged(path, s"No encrypted file has its length, $storedLength bytes"))
  }

  /** Decrypts a block that begins at an offset. @throws UnreadableFile if the block is not authentic */
  def decrypt(block: Int, stored: Array[Byte], offset: Int, plain: Array[Byte], plainOffset: Int): Unit = {
    val length = blocks.storedLengthOf(block, contentLength)
    if (!cipher.decrypt(stored, offset, length, GcmBlocks.aad(key, block), plain, plainOffset))
      throw GcmDecryption.damaged(path, s"Block $block is not authentic")
  }

  def decrypt(block: Int, stored: Array[Byte]): Array[Byte] = {
    val plain = new Array[Byte](blocks.storedLengthOf(block, contentLength) - AesGcm.Overhead)
    decrypt(block, stored, 0, plain, 0)
    plain
  }
}

private[storage] object GcmDecryption {
  def damaged(path: String, reason: String): UnreadableFile = UnreadableFile(
    path,
    "encrypted file",
    s"$reason. The file was damaged, truncated or replaced, or the key does not belong to it. Restore the file"
  )

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
