package iceberglite.encryption

import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import iceberglite.spec.{IcebergError, Place}
import iceberglite.spec.IcebergError.StorageFailed

/**
 * The key management service of a catalog. Unwrapped keys are used for an hour. The first call of [[unwrap]] after this
 * hour removes them from the memory of the driver. [[close]] removes all keys; later calls connect to the service
 * again.
 *
 * @param name the name of the service, for messages
 * @param connect creates and initializes the service; called at the first use
 */
final class KeyService(name: String, connect: () => KeyManagement, nowMs: () => Long = () => System.currentTimeMillis)
    extends AutoCloseable {
  private var connected = Option.empty[KeyManagement]

  private def service: KeyManagement = synchronized {
    connected.getOrElse {
      val created = calling("connect to")(connect())
      connected = Some(created)
      created
    }
  }

  final private class Unwrapped(val key: Array[Byte], val atMs: Long)

  private val unwrapped = new ConcurrentHashMap[(String, ByteBuffer), Unwrapped]

  /** Decrypts a key. @throws StorageFailed if the service fails */
  def unwrap(wrapped: Array[Byte], masterKeyId: String): Array[Byte] = {
    val id = (masterKeyId, ByteBuffer.wrap(wrapped))
    unwrapped.values.removeIf(nowMs() - _.atMs > KeyService.KeepMs)
    Option(unwrapped.get(id)).map(_.key).getOrElse {
      val key = checked(calling("unwrap a key with")(service.unwrapKey(wrapped.clone, masterKeyId)))
      unwrapped.put(id, new Unwrapped(key, nowMs()))
      key
    }
  }

  /** Creates a key. @throws StorageFailed if the service fails */
  def generate(length: Int, masterKeyId: String): GeneratedKey = {
    val created = calling("create a key with")(Option(service.generateKey(length, masterKeyId)).getOrElse {
      val key = AesGcm.randomBytes(length)
      new GeneratedKey(key, service.wrapKey(key.clone, masterKeyId))
    })
    checked(created.key)
    unwrapped.put((masterKeyId, ByteBuffer.wrap(created.wrapped)), new Unwrapped(created.key, nowMs()))
    created
  }

  override def close(): Unit = {
    unwrapped.clear()
    synchronized {
      val closing = connected
      connected = None
      calling("close")(closing.foreach(_.close()))
    }
  }

  private def checked(key: Array[Byte]): Array[Byte] =
    if (key != null && AesGcm.KeyLengths(key.length)) key
    else throw failed("use a key of", "The service returned a key that does not have 16, 24 or 32 bytes", None)

  private def calling[A](operation: String)(call: => A): A =
    try call
    catch {
      case e: IcebergError => throw e
      case NonFatal(e) => throw failed(operation, s"${e.getMessage} (${e.getClass.getName})", Some(e))
    }

  private def failed(operation: String, reason: String, cause: Option[Throwable]): StorageFailed =
    StorageFailed(operation, Place.Server(s"the key management service $name"), reason, cause)

  override def toString: String = name
}

object KeyService {

  /** The time for which unwrapped keys are kept in memory. */
  private val KeepMs = 60L * 60 * 1000
  val TypeOption = "encryption.kms-type"
  val ClassOption = "encryption.kms-impl"

  /** The value of `encryption.kms-type` for [[KeyStoreManagement]]. */
  val KeyStoreType = "keystore"
}
