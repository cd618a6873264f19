package iceberglite.scan.deletes

import java.io.{BufferedInputStream, BufferedOutputStream, ByteArrayInputStream, ByteArrayOutputStream}
import java.io.{DataInputStream, DataOutputStream, EOFException, File, FileInputStream, FileOutputStream}
import java.io.{IOException, InputStream}
import java.nio.ByteBuffer

import iceberglite.encryption.AesGcm

/**
 * Encrypts the groups of keys in one temporary file. The key of the file is only in memory. The number of a group is
 * authenticated, so that groups cannot be exchanged.
 */
final private[deletes] class SpillCipher {
  private val key = AesGcm.randomBytes(SpillCipher.KeyLength)

  /** Returns a cipher for one thread. */
  def newCipher(): AesGcm = new AesGcm(key)
}

private[deletes] object SpillCipher {
  private val KeyLength = 16

  def encrypt(cipher: AesGcm, group: Int, keys: Array[Byte]): Array[Byte] = cipher.encrypt(keys, aad(group))

  /** @throws IOException if the group was changed */
  def decrypt(cipher: AesGcm, group: Int, stored: Array[Byte]): Array[Byte] =
    cipher.decrypt(stored, aad(group)).getOrElse(throw new IOException("The file with deleted keys was changed"))

  private def aad(group: Int): Array[Byte] = ByteBuffer.allocate(Integer.BYTES).putInt(group).array
}

/**
 * A temporary file of keys that is being written. If it is encrypted, each group of keys is encrypted as a unit, and is
 * preceded by its length.
 *
 * @param cipher absent for a file that is not encrypted
 */
final private[deletes] class SpillOutput(file: File, cipher: Option[SpillCipher], bufferBytes: Int)
    extends AutoCloseable {
  private val stored = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(file), bufferBytes))
  private val group = new ByteArrayOutputStream
  private val keys = if (cipher.isDefined) new DataOutputStream(group) else stored
  private val encryption = cipher.map(_.newCipher())
  private var groups = 0
  private var written = 0L

  /** The number of bytes of the file that were written before the current group. */
  def position: Long = written

  def add(hash: Long, key: Array[Byte], from: Int, length: Int): Unit = {
    keys.writeLong(hash)
    keys.writeInt(length)
    keys.write(key, from, length)
    if (cipher.isEmpty) written += java.lang.Long.BYTES + Integer.BYTES + length
  }

  /** Ends the current group of keys. */
  def endGroup(): Unit = encryption.filter(_ => group.size > 0).foreach { aes =>
    val encrypted = SpillCipher.encrypt(aes, groups, group.toByteArray)
    stored.writeInt(encrypted.length)
    stored.write(encrypted)
    written += Integer.BYTES + encrypted.length
    groups += 1
    group.reset()
  }

  override def close(): Unit =
    try endGroup()
    finally stored.close()
}

private[deletes] object SpillInput {

  /** Opens a temporary file of keys. @throws IOException if it was changed; reads may also throw this error */
  def open(file: File, cipher: Option[SpillCipher], bufferBytes: Int): DataInputStream = {
    val stored = new DataInputStream(new BufferedInputStream(new FileInputStream(file), bufferBytes))
    cipher.fold(stored)(used => new DataInputStream(new Groups(stored, used)))
  }

  /** The keys of an encrypted file. */
  final private class Groups(stored: DataInputStream, cipher: SpillCipher) extends InputStream {
    private val aes = cipher.newCipher()
    private var group = new ByteArrayInputStream(Array.emptyByteArray)
    private var next = 0

    override def read(): Int = if (loaded()) group.read() else -1

    override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
      if (loaded()) group.read(bytes, offset, length) else -1

    /** Loads the next group if the current one is read. @return false at the end of the file */
    private def loaded(): Boolean = group.available > 0 || {
      val length = stored.readNBytes(Integer.BYTES)
      length.length == Integer.BYTES && {
        group = new ByteArrayInputStream(SpillCipher.decrypt(aes, next, groupOf(ByteBuffer.wrap(length).getInt)))
        next += 1
        true
      }
    }

    private def groupOf(length: Int): Array[Byte] = {
      val bytes = stored.readNBytes(math.max(0, length))
      if (bytes.length < length) throw new EOFException()
      bytes
    }

    override def close(): Unit = stored.close()
  }
}
