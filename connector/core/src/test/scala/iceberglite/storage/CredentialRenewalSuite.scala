package iceberglite.storage

import java.util.concurrent.{ConcurrentHashMap, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{blocking, Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.tree.MetadataPool

/**
 * Counts the renewals of each request. A request begins with a time in milliseconds. The n-th renewal of the request
 * returns credentials that expire at n times this time. If a request begins with `refuse`, its renewals fail.
 */
class CountingSource extends CredentialSource {

  override def renew(request: String): VendedSettings = {
    val count = CountingSource.of(request).incrementAndGet()
    if (request.startsWith("refuse")) throw new IllegalStateException("no more credentials")
    VendedSettings(
      Map("s3.access-key-id" -> s"AK$count", "s3.secret-access-key" -> "x"),
      Some(request.takeWhile(_ != ' ').toLong * count)
    )
  }
}

object CountingSource {
  private val counts = new ConcurrentHashMap[String, AtomicInteger]

  def of(request: String): AtomicInteger = counts.computeIfAbsent(request, _ => new AtomicInteger)
}

/** Waits until the test allows the renewal, and then returns credentials that expire at the time in the request. */
class BlockedSource extends CredentialSource {

  override def renew(request: String): VendedSettings = {
    BlockedSource.started.countDown()
    BlockedSource.allowed.await()
    VendedSettings(Map("s3.access-key-id" -> "AK1", "s3.secret-access-key" -> "x"), Some(request.toLong))
  }
}

object BlockedSource {
  val started = new CountDownLatch(1)
  val allowed = new CountDownLatch(1)
}

/** Tests [[CredentialRenewal]], which renews vended credentials while a query runs. */
class CredentialRenewalSuite extends AnyFunSuite {
  private val hour = 3600000L

  /** Returns a configuration with credentials that expire at the time `hour`, after a first access at the time 0. */
  private def configuration(
      request: String,
      source: Class[_ <: CredentialSource] = classOf[CountingSource]
  ): Configuration = {
    val renewal = CredentialRenewal.settings("lite.db.t", source, request, hour)
    val keys = Map("s3.access-key-id" -> "AK0", "s3.secret-access-key" -> "x")
    val conf = StorageSettings.configuration(new Configuration(false), keys ++ renewal)
    assert(keyAt(conf, 0) == "AK0")
    conf
  }

  private def keyAt(conf: Configuration, nowMs: Long): String =
    CredentialRenewal.current(conf, nowMs).get("fs.s3a.access.key")

  test("credentials are renewed five minutes before they expire, and again before the new ones expire") {
    val conf = configuration(s"${2 * hour} a")
    val times = Seq(hour - 300001, hour - 300000, hour, 2 * hour - 300001, 2 * hour - 300000, 4 * hour - 300001)
    assert(times.map(keyAt(conf, _)) == Seq("AK0", "AK1", "AK1", "AK1", "AK2", "AK2"))
    assert(CredentialRenewal.current(conf, 4 * hour - 300001).get(StorageSettings.Fingerprint) !=
      conf.get(StorageSettings.Fingerprint))
  }

  test("threads that access files at the same time renew the credentials once") {
    val request = s"${2 * hour} b"
    val conf = configuration(request)
    val keys = MetadataPool.map((1 to 64).toVector)(_ => keyAt(conf, hour))
    assert(keys.toSet == Set("AK1") && CountingSource.of(request).get == 1)
  }

  test("a slow renewal delays other threads only if the old credentials have expired") {
    val conf = configuration((2 * hour).toString, classOf[BlockedSource])
    def access(nowMs: Long): Future[String] = Future(blocking(keyAt(conf, nowMs)))
    val renewing = access(hour - 1)
    assert(BlockedSource.started.await(60, TimeUnit.SECONDS))
    val (early, late) = (access(hour - 1), access(hour))
    try assert(Await.result(early, 60.seconds) == "AK0" && !late.isCompleted)
    finally BlockedSource.allowed.countDown()
    assert(Await.result(Future.sequence(Seq(renewing, late)), 60.seconds) == Seq("AK1", "AK1"))
  }

  test("credentials that cannot be renewed are used until they expire, and the error then names the table") {
    val request = "refuse c"
    val conf = configuration(request)
    assert(Seq(hour - 300000, hour - 299999, hour - 290000).map(keyAt(conf, _)) == Seq("AK0", "AK0", "AK0"))
    assert(CountingSource.of(request).get == 2)
    val error = intercept[StorageFailed](keyAt(conf, hour))
    assert(error.place.toString.contains("lite.db.t") && error.reason.contains("no more credentials"))
  }

  test("a configuration without an expiration time is used as it is") {
    val conf = new Configuration(false)
    assert(CredentialRenewal.current(conf, 0) eq conf)
  }
}
