package iceberglite.encryption

import java.nio.ByteBuffer
import java.util.Arrays

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.ContentFile

/**
 * The key of one encrypted file. Every file has its own random key. The key is stored as the `key_metadata` of the file
 * in an encrypted metadata file.
 *
 * @param key an AES key of 16, 24 or 32 bytes
 * @param aadPrefix the identity of the file. It is a part of the additional authenticated data of each encrypted block,
 *   so that a block of another file is not accepted
 * @param fileLength the stored length of the encrypted file in bytes, by which readers detect that the end of the file
 *   is missing. It is absent in the keys of Parquet files, because these files authenticate their length themselves
 */
final class FileKey(val key: Array[Byte], val aadPrefix: Array[Byte], val fileLength: Option[Long] = None)
    extends Serializable {

  def withLength(storedLength: Long): FileKey = new FileKey(key, aadPrefix, Some(storedLength))

  /** Returns the key metadata of the file, as it is stored in metadata files. */
  def encode: ByteBuffer = KeyMetadataCodec.encode(this)

  override def equals(other: Any): Boolean = other match {
    case that: FileKey => Arrays.equals(key, that.key) && Arrays.equals(aadPrefix, that.aadPrefix) &&
      fileLength == that.fileLength
    case _ => false
  }

  override def hashCode: Int = Arrays.hashCode(aadPrefix)

  /** Does not contain the key, because logs and messages may contain the text. */
  override def toString: String = "FileKey(***)"
}

object FileKey {

  /** The length of the AAD prefix of a new file, in bytes. */
  private val AadPrefixLength = 16

  /** Returns the key of a new file. @param keyLength 16, 24 or 32 bytes */
  def random(keyLength: Int): FileKey = {
    require(AesGcm.KeyLengths(keyLength), s"key length $keyLength")
    new FileKey(AesGcm.randomBytes(keyLength), AesGcm.randomBytes(AadPrefixLength))
  }

  /** Returns the key of a data or delete file; absent if the file is not encrypted. */
  private[iceberglite] def of(file: ContentFile): Option[FileKey] = file.keyMetadata.map(decode(file.path, _))

  /**
   * Decodes the key metadata of a file.
   *
   * @param file the encrypted file, for messages
   * @throws UnreadableFile if the key metadata is damaged or has an unknown form
   */
  def decode(file: String, keyMetadata: ByteBuffer): FileKey = KeyMetadataCodec.decode(keyMetadata) match {
    case Right(key) => key
    case Left(reason) => throw UnreadableFile(
        file,
        "encrypted file",
        s"Its key metadata, with ${keyMetadata.remaining} bytes, $reason. The metadata that refers to the file is " +
          "damaged, or another engine encrypted the file in its own way; read the table with that engine"
      )
  }
}
