package iceberglite.encryption

import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, StorageFailed}

/** Tests the connection to a key management service, and the time for which it keeps keys. */
class KeyServiceSuite extends AnyFunSuite with EncryptedTables {

  /** A service that counts the calls, and whose wrapped keys are the keys. */
  private class Counting extends KeyManagement {
    val unwrapped = new AtomicInteger
    val closed = new AtomicInteger
    override def initialize(properties: java.util.Map[String, String]): Unit = ()
    override def wrapKey(key: Array[Byte], id: String): Array[Byte] = key
    override def unwrapKey(wrapped: Array[Byte], id: String): Array[Byte] = {
      unwrapped.incrementAndGet()
      wrapped
    }
    override def close(): Unit = {
      closed.incrementAndGet()
      ()
    }
  }

  private val key = AesGcm.randomBytes(16)

  test("an unwrapped key is used for an hour") {
    val counting = new Counting
    var now = 0L
    val service = new KeyService("test", () => counting, () => now)
    (1 to 3).foreach(_ => assert(service.unwrap(key, "k").sameElements(key)))
    assert(counting.unwrapped.get == 1)
    now = TimeUnit.HOURS.toMillis(1)
    service.unwrap(key, "k")
    assert(counting.unwrapped.get == 1)
    now += 1
    service.unwrap(key, "k")
    assert(counting.unwrapped.get == 2)
  }

  test("a closed service removes its keys, and is connected again when it is used again") {
    val counting = new Counting
    val connected = new AtomicInteger
    val service = new KeyService(
      "test",
      () => {
        connected.incrementAndGet()
        counting
      }
    )
    service.close()
    assert(connected.get == 0 && counting.closed.get == 0)
    service.unwrap(key, "k")
    service.close()
    service.close()
    assert(counting.closed.get == 1 && connected.get == 1)
    service.unwrap(key, "k")
    assert(counting.unwrapped.get == 2 && connected.get == 2)
  }

  test("a service that cannot be connected is connected at the next use") {
    var fails = true
    val service = new KeyService("test", () => if (fails) throw new RuntimeException("down") else new Counting)
    intercept[StorageFailed](service.unwrap(key, "k"))
    fails = false
    assert(service.unwrap(key, "k").sameElements(key))
  }

  test("a service may create keys itself") {
    val created = new GeneratedKey(AesGcm.randomBytes(16), AesGcm.randomBytes(40))
    val creating = new Counting {
      override def generateKey(length: Int, id: String): GeneratedKey =
        if (id == "k" && length == 16) created else super.generateKey(length, id)
    }
    val service = new KeyService("test", () => creating)
    assert(service.generate(16, "k") == created && service.generate(32, "k").key.length == 32)
    assert(service.unwrap(created.wrapped, "k").sameElements(created.key))
  }

  test("the password of a key store may be in an environment variable") {
    val byFile = keyStore(masterKeys, System.getenv("PATH"))
    val byVariable = byFile - KeyStoreManagement.PasswordFileOption + (KeyStoreManagement.PasswordEnvOption -> "PATH")
    append(create(open(byVariable)), "1")
    assertEncrypted()
    assert(names(open(byFile).table(id)) == Set("1"))
    val other = open(byVariable + (KeyStoreManagement.PasswordEnvOption -> "HOME"))
    val error = intercept[InvalidArgument](names(other.table(id)))
    assert(error.name == KeyStoreManagement.PathOption)
  }

  test("a catalog closes its service") {
    ClosableKeys.closed.set(0)
    val catalog = open(Map("encryption.kms-impl" -> classOf[ClosableKeys].getName))
    create(catalog)
    assert(ClosableKeys.closed.get == 0)
    catalog.close()
    assert(ClosableKeys.closed.get == 1)
  }
}

object ClosableKeys {
  val closed = new AtomicInteger
}

/** A key management service that counts how often it is closed. */
final class ClosableKeys extends KeyManagement {
  override def initialize(properties: java.util.Map[String, String]): Unit = ()
  override def wrapKey(key: Array[Byte], id: String): Array[Byte] = key
  override def unwrapKey(wrapped: Array[Byte], id: String): Array[Byte] = wrapped
  override def close(): Unit = {
    ClosableKeys.closed.incrementAndGet()
    ()
  }
}
