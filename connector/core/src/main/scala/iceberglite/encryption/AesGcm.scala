package iceberglite.encryption

import java.security.SecureRandom
import javax.crypto.{AEADBadTagException, Cipher}
import javax.crypto.spec.{GCMParameterSpec, SecretKeySpec}

/**
 * Encrypts and authenticates byte arrays with AES in Galois/Counter Mode. An encrypted array consists of a random nonce
 * of 12 bytes, the ciphertext, and a tag of 16 bytes. Instances are not thread-safe.
 *
 * @param key an AES key of 16, 24 or 32 bytes
 */
final private[iceberglite] class AesGcm(key: Array[Byte]) {
  import AesGcm._

  private val aes = new SecretKeySpec(key, "AES")
  private val cipher = Cipher.getInstance("AES/GCM/NoPadding")

  /** Encrypts a part of an array. @param aad additional data, which is authenticated and not stored */
  def encrypt(plain: Array[Byte], offset: Int, length: Int, aad: Array[Byte]): Array[Byte] = {
    val nonce = randomBytes(NonceLength)
    cipher.init(Cipher.ENCRYPT_MODE, aes, new GCMParameterSpec(TagLength * 8, nonce))
    cipher.updateAAD(aad)
    val encrypted = java.util.Arrays.copyOf(nonce, length + Overhead)
    cipher.doFinal(plain, offset, length, encrypted, NonceLength)
    encrypted
  }

  def encrypt(plain: Array[Byte], aad: Array[Byte]): Array[Byte] = encrypt(plain, 0, plain.length, aad)

  /**
   * Decrypts a part of an array into another array.
   *
   * @return false if the bytes were not encrypted with this key and this additional data. The cipher does not
   *   distinguish a wrong key from damaged bytes
   */
  def decrypt(
      encrypted: Array[Byte],
      offset: Int,
      length: Int,
      aad: Array[Byte],
      plain: Array[Byte],
      plainOffset: Int
  ): Boolean = length >= Overhead && {
    cipher.init(Cipher.DECRYPT_MODE, aes, new GCMParameterSpec(TagLength * 8, encrypted, offset, NonceLength))
    cipher.updateAAD(aad)
    try {
      cipher.doFinal(encrypted, offset + NonceLength, length - NonceLength, plain, plainOffset)
      true
    } catch { case _: AEADBadTagException => false }
  }

  /** Decrypts a part of an array. @return absent if it was not encrypted with this key and this additional data */
  def decrypt(encrypted: Array[Byte], offset: Int, length: Int, aad: Array[Byte]): Option[Array[Byte]] = {
    val plain = new Array[Byte](math.max(0, length - Overhead))
    if (decrypt(encrypted, offset, length, aad, plain, 0)) Some(plain) else None
  }

  def decrypt(encrypted: Array[Byte], aad: Array[Byte]): Option[Array[Byte]] =
    decrypt(encrypted, 0, encrypted.length, aad)
}

private[iceberglite] object AesGcm {
  val NonceLength: Int = 12
  val TagLength: Int = 16

  /** The number of bytes by which an encrypted array is longer than its content. */
  val Overhead: Int = NonceLength + TagLength

  /** The lengths of AES keys, in bytes. */
  val KeyLengths: Set[Int] = Set(16, 24, 32)

  private lazy val random = new SecureRandom

  def randomBytes(count: Int): Array[Byte] = {
    val bytes = new Array[Byte](count)
    random.nextBytes(bytes)
    bytes
  }
}
