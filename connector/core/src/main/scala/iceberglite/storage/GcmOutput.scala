package iceberglite.storage

import java.io.IOException

import org.apache.parquet.io.{OutputFile, PositionOutputStream}

import iceberglite.encryption.{AesGcm, FileKey, GcmBlocks}

/**
 * Writes an encrypted file in the AES GCM stream format. Positions are those of the content. The file is complete when
 * its stream is closed; then [[finishedKey]] returns the key with the length of the file.
 *
 * @param stored the new encrypted file
 */
final class GcmOutput(stored: OutputFile, key: FileKey) extends OutputFile {
  @volatile private var finished: Option[FileKey] = None

  /** Returns the key of the complete file. @throws IllegalStateException if the stream was not closed */
  def finishedKey: FileKey = finished.getOrElse(throw new IllegalStateException(s"$getPath is not complete"))

  override def create(blockSizeHint: Long): PositionOutputStream = new Encryption(stored.create(blockSizeHint))
  override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
    new Encryption(stored.createOrOverwrite(blockSizeHint))
  override def supportsBlockSize: Boolean = stored.supportsBlockSize
  override def defaultBlockSize: Long = stored.defaultBlockSize
  override def getPath: String = stored.getPath

  final private class Encryption(out: PositionOutputStream) extends PositionOutputStream {
    private val cipher = new AesGcm(key.key)
    private val plain = new Array[Byte](GcmBlocks.Standard.blockLength)
    private var position = 0L
    private var used = 0
    private var block = 0
    private var closed = false

    out.write(GcmBlocks.Standard.header)

    /** The length of the content, also after the file was closed. */
    override def getPos: Long = position

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      if (closed) throw new IOException(s"$getPath is closed")
      var next = offset
      while (next < offset + length) {
        // A full block is written when the next byte follows, because the last block must not be empty.
        if (used == plain.length) writeBlock()
        val count = math.min(plain.length - used, offset + length - next)
        System.arraycopy(bytes, next, plain, used, count)
        used += count
        position += count
        next += count
      }
    }

    private def writeBlock(): Unit = {
      if (block == Int.MaxValue) throw new IOException(s"$getPath is too long for an encrypted file")
      out.write(cipher.encrypt(plain, 0, used, GcmBlocks.aad(key, block)))
      block += 1
      used = 0
    }

    /** Does nothing, because a block can be encrypted only when it is complete. */
    override def flush(): Unit = ()

    override def close(): Unit = if (!closed) {
      closed = true
      val length = GcmBlocks.Standard.storedLength(getPos)
      try writeBlock()
      finally out.close()
      finished = Some(key.withLength(length))
    }
  }
}
