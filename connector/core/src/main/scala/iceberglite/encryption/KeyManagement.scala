package iceberglite.encryption

import scala.annotation.nowarn

/**
 * A key management service. It keeps the master keys of tables, and encrypts (wraps) other keys with them. A master key
 * is referred to by its id, the table property `encryption.key-id`, and never leaves the service.
 *
 * A class that implements this trait, and has a constructor without parameters, is selected by the catalog option
 * `encryption.kms-impl`. Only the driver calls it, possibly from several threads. Any exception means that the service
 * failed; its message must not contain keys.
 */
trait KeyManagement extends AutoCloseable {

  /** Called once before the first use. @param properties all options of the catalog */
  def initialize(properties: java.util.Map[String, String]): Unit

  /** Encrypts a key. @param wrappingKeyId the id of the master key */
  def wrapKey(key: Array[Byte], wrappingKeyId: String): Array[Byte]

  /** Decrypts a key that [[wrapKey]] or [[generateKey]] has returned. */
  def unwrapKey(wrappedKey: Array[Byte], wrappingKeyId: String): Array[Byte]

  /**
   * Creates a key and encrypts it.
   *
   * @param length the length of the key in bytes
   * @return null if the service does not create keys; a random key is then created and passed to [[wrapKey]]
   */
  @nowarn("cat=unused-params") // not used by services that do not create keys
  def generateKey(length: Int, wrappingKeyId: String): GeneratedKey = null

  override def close(): Unit = ()
}

/** A new key. @param wrapped the key as [[KeyManagement.wrapKey]] would return it */
final class GeneratedKey(val key: Array[Byte], val wrapped: Array[Byte])
