package iceberglite.storage

import java.io.InputStream
import java.nio.ByteBuffer

import org.apache.parquet.io.{InputFile, OutputFile}

import iceberglite.encryption.{AesGcm, FileKey, GcmBlocks}
import iceberglite.storage.StorageErrors.wrapReadErrors

/**
 * A storage in which one file is encrypted in the AES GCM stream format. Reads of the file return its content, and
 * writes of the file encrypt the content. No other file can be read or written through this object.
 */
final class EncryptedFileIO private (io: FileIO, file: String, key: FileKey) extends ForwardingFileIO(io) {
  private def stored: FileIO = io.unguarded

  override def mayCache: Boolean = io.mayCache
  override def cacheBounds: CacheBounds = io.cacheBounds

  private def check(path: String): Unit = require(path == file, s"the key of $file is not that of $path")

  override def open(path: String): InputStream = wrapReadErrors(path)(input(path).newStream())

  override def read(path: String): Array[Byte] = read(path, ReadBounds.Any)

  override private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] = {
    check(path)
    val content = GcmDecryption.whole(path, key, stored.read(path, GcmDecryption.bounds(path, key)))
    bounds.checkContent(path, content)
    content
  }

  override def readRange(path: String, offset: Long, length: Int): Array[Byte] = wrapReadErrors(path) {
    check(path)
    ReadBounds.checkRange(path, length)
    GcmDecryption.range(stored, path, key, offset, length).getOrElse(readStream(path, offset, length))
  }

  private def readStream(path: String, offset: Long, length: Int): Array[Byte] = {
    val in = input(path).newStream()
    try {
      in.seek(offset)
      FileIO.requireComplete(path, offset, length, in.readNBytes(length))
    } finally in.close()
  }

  private[storage] def input(path: String): InputFile = {
    check(path)
    new GcmInput(DataInput.of(stored, path), path, key)
  }

  private[storage] def output(path: String): OutputFile = {
    check(path)
    new GcmOutput(DataOutput.of(io, path), key)
  }

  override def write(path: String, contents: Array[Byte]): Unit = {
    check(path)
    io.write(path, EncryptedFileIO.encrypt(contents, key))
  }

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    check(path)
    io.createExclusively(path, EncryptedFileIO.encrypt(contents, key))
  }

  override def replace(path: String, contents: Array[Byte]): Unit = {
    check(path)
    io.replace(path, EncryptedFileIO.encrypt(contents, key))
  }

  /** Returns information about a file. The length of the encrypted file is that of its content. */
  override def info(path: String): Option[FileInfo] =
    io.info(path).map(found => if (path == file) found.copy(length = input(path).getLength) else found)
}

object EncryptedFileIO {

  /** Returns the storage for one encrypted file. @param key the key of the file, as written or to be written */
  def apply(io: FileIO, file: String, key: FileKey): FileIO = new EncryptedFileIO(io, file, key)

  /**
   * Returns the storage for reading one file that may be encrypted.
   *
   * @param keyMetadata the key metadata of the file; absent if the file is not encrypted
   */
  def reading(io: FileIO, file: String, keyMetadata: Option[ByteBuffer]): FileIO =
    keyMetadata.fold(io)(bytes => apply(io, file, FileKey.decode(file, bytes)))

  /** Returns the stored length of a file with a content of this length. */
  def storedLength(contentLength: Long): Long = GcmBlocks.Standard.storedLength(contentLength)

  /** Returns the stored form of a whole file. */
  def encrypt(content: Array[Byte], key: FileKey): Array[Byte] = {
    val blocks = GcmBlocks.Standard
    val cipher = new AesGcm(key.key)
    val length = content.length.toLong
    val stored = java.util.Arrays.copyOf(blocks.header, blocks.storedLength(length).toInt)
    (0 to blocks.lastBlock(length)).foreach { block =>
      val plainLength = blocks.storedLengthOf(block, length) - AesGcm.Overhead
      val encrypted = cipher.encrypt(content, blocks.startOf(block).toInt, plainLength, GcmBlocks.aad(key, block))
      System.arraycopy(encrypted, 0, stored, blocks.storedStartOf(block).toInt, encrypted.length)
    }
    stored
  }
}
