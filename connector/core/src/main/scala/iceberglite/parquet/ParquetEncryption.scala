package iceberglite.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.crypto.{AesCipher, DecryptionKeyRetriever, FileDecryptionProperties, FileEncryptionProperties}
import org.apache.parquet.format.{EncryptionAlgorithm, Util}

import iceberglite.encryption.{AesGcm, FileKey}

/**
 * The encryption of Parquet files (Parquet specification: "Parquet Modular Encryption"). The footer and all columns are
 * encrypted with the key of the file, with the algorithm AES_GCM_V1. The AAD prefix is the one in the key of the file,
 * and is not stored in the file.
 */
private[iceberglite] object ParquetEncryption {

  /** The magic at the beginning and at the end of a file with an encrypted footer. */
  val Magic = "PARE"

  /** The number of bytes of the length of an encrypted module, which precedes the module. */
  private val LengthSize = 4

  /** Returns the properties with which Parquet's library encrypts one file. */
  def encrypting(key: FileKey): FileEncryptionProperties =
    FileEncryptionProperties.builder(key.key).withAADPrefix(key.aadPrefix).withoutAADPrefixStorage().build()

  /**
   * Returns the properties with which Parquet's library decrypts a file that was opened with [[footer]]. Files without
   * encryption are rejected. The properties do not contain the key itself, because Parquet's library writes the
   * properties to its log at the level DEBUG.
   */
  def decrypting(key: FileKey): FileDecryptionProperties = {
    val properties = FileDecryptionProperties.builder().withKeyRetriever(new HiddenKey(key.key))
    if (key.aadPrefix.isEmpty) properties.build() else properties.withAADPrefix(key.aadPrefix).build()
  }

  /** Adds the key of an encrypted file to the options for reading the file. */
  def withKey(options: ParquetReadOptions.Builder, key: Option[FileKey]): ParquetReadOptions.Builder =
    key.fold(options)(k => options.withDecryption(decrypting(k)))

  /**
   * Returns an encrypted footer that Parquet's library can read with the properties of [[decrypting]]. The library
   * requires key metadata in the footer's description of the encryption. Therefore this method sets key metadata, which
   * [[HiddenKey]] ignores.
   *
   * @param stored the encrypted footer with the description of its encryption, as in the file
   * @param readable converts the decrypted footer; returns the same array if the library can read the footer
   * @throws DamagedFooter if the footer is damaged, or was not encrypted with this key
   */
  def footer(stored: Array[Byte], key: FileKey)(readable: Array[Byte] => Array[Byte]): Array[Byte] = {
    // The lengths are checked before Parquet's library allocates memory for them.
    new ParquetFooterCheck(ByteBuffer.wrap(stored)).hasNewerTypes()
    val in = new ByteArrayInputStream(stored)
    val description = Util.readFileCryptoMetaData(in)
    val aad = AesCipher.createFooterAAD(fileAad(description.getEncryption_algorithm, key))
    val moduleStart = stored.length - in.available
    val start = moduleStart + LengthSize
    if (start > stored.length || lengthAt(stored, moduleStart) != stored.length - start) notAuthentic()
    val cipher = new AesGcm(key.key)
    val plain = cipher.decrypt(stored, start, stored.length - start, aad).getOrElse(notAuthentic())
    val converted = readable(plain)
    val out = new ByteArrayOutputStream
    Util.writeFileCryptoMetaData(description.setKey_metadata(HiddenKey.Metadata), out)
    if (converted eq plain) out.write(stored, moduleStart, stored.length - moduleStart)
    else {
      val encrypted = cipher.encrypt(converted, aad)
      out.write(ByteBuffer.allocate(LengthSize).order(ByteOrder.LITTLE_ENDIAN).putInt(encrypted.length).array)
      out.write(encrypted)
    }
    out.toByteArray
  }

  private def lengthAt(bytes: Array[Byte], position: Int): Int =
    ByteBuffer.wrap(bytes, position, LengthSize).order(ByteOrder.LITTLE_ENDIAN).getInt

  /**
   * Returns the additional authenticated data of the file: the AAD prefix, which is not stored in the file, and a
   * random value in the file.
   */
  private def fileAad(algorithm: EncryptionAlgorithm, key: FileKey): Array[Byte] = {
    if (algorithm == null || !algorithm.isSetAES_GCM_V1) throw new DamagedFooter(
      "The file is not encrypted with AES_GCM_V1. Other algorithms are rejected, because they do not reveal changed " +
        "pages"
    )
    val gcm = algorithm.getAES_GCM_V1
    if (!gcm.isSetAad_file_unique) notAuthentic()
    val unique = gcm.getAad_file_unique
    val aad = Arrays.copyOf(key.aadPrefix, key.aadPrefix.length + unique.length)
    System.arraycopy(unique, 0, aad, key.aadPrefix.length, unique.length)
    aad
  }

  private def notAuthentic(): Nothing = throw new DamagedFooter(
    "The footer is not authentic: the file was damaged, truncated or replaced, or the key does not belong to it. " +
      "Restore the file"
  )

}

/** Gives a key to Parquet's library. No method without parameters returns the key, so that logs do not contain it. */
final private class HiddenKey(key: Array[Byte]) extends DecryptionKeyRetriever {
  override def getKey(keyMetadata: Array[Byte]): Array[Byte] = key
}

private object HiddenKey {

  /** The key metadata that [[ParquetEncryption.footer]] sets. The bytes have no meaning. */
  val Metadata: Array[Byte] = Array(0)
}
