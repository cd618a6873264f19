package iceberglite.storage

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.tree.MetadataPool

/** Counts the renewals of each request. The request is the expiration time of the new credentials, or another text. */
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

class CredentialRenewalSuite extends AnyFunSuite {
  private val hour = 3600000L

  /** Returns a configuration with credentials that expire after an hour. The first access is at the time 0. */
  private def configuration(request: String): Configuration = {
    val renewal = CredentialRenewal.settings("lite.db.t", classOf[CountingSource], request, hour)
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
