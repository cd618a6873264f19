package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, IOException, ObjectInputStream, ObjectOutputStream}
import java.net.URI
import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import com.google.cloud.hadoop.util.AccessTokenProvider
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.azurebfs.AbfsConfiguration
import org.apache.hadoop.fs.azurebfs.extensions.SASTokenProvider
import org.apache.hadoop.fs.azurebfs.services.AuthType
import org.scalatest.funsuite.AnyFunSuite

/**
 * Returns tokens that contain the number of renewals that the same request has had. The request is the time in
 * milliseconds at which the tokens expire.
 */
class TokenSource extends CredentialSource {
  override def renew(request: String): VendedSettings = {
    val count = CountingSource.of(s"token $request").incrementAndGet()
    VendedSettings(
      Map(
        "gcs.oauth2.token" -> s"gcs$count",
        "gcs.oauth2.token-expires-at" -> request,
        "adls.sas-token.account" -> s"sas$count"
      ),
      Some(request.toLong)
    )
  }
}

/** Local files with the scheme of Google Cloud Storage. Each open file needs a token from the configured class. */
class TokenFileSystem extends RawLocalFileSystem {
  override def getScheme: String = "gs"
  override def getUri: URI = URI.create("gs://bucket")

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    val found = getConf.getClass("fs.gs.auth.access.token.provider.impl", classOf[Object])
    found.getDeclaredConstructor().newInstance() match {
      case provider: AccessTokenProvider =>
        provider.setConf(getConf)
        TokenFileSystem.used.add(provider.getAccessToken.getToken)
    }
    super.open(path, bufferSize)
  }
}

object TokenFileSystem {
  val used = new ConcurrentLinkedQueue[String]
}

class VendedTokensSuite extends AnyFunSuite {
  private val host = "account.dfs.core.windows.net"
  private val tokens = Map(
    "gcs.oauth2.token" -> "gcs0",
    "gcs.oauth2.token-expires-at" -> "1000",
    s"adls.sas-token.$host" -> "?sas0",
    s"adls.sas-token-expires-at-ms.$host" -> "1000",
    "adls.sas-token.other" -> "sas-of-other"
  )

  private def configured(properties: Map[String, String]): Configuration =
    StorageSettings.configuration(new Configuration(false), properties)

  /** Serializes and deserializes an object, as Spark does for tasks. */
  private def copied(io: HadoopFileIO): HadoopFileIO = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(io)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject() match {
      case copy: HadoopFileIO => copy
    }
  }

  /** Creates the object as the file system of Google does. */
  private def gcs(conf: Configuration): GcsTokenProvider = {
    val classes = Seq("", ".impl").map(end => conf.get(s"fs.gs.auth.access.token.provider$end"))
    assert(classes.distinct == Seq(classOf[GcsTokenProvider].getName))
    assert(conf.get("fs.gs.auth.type") == "ACCESS_TOKEN_PROVIDER")
    val provider = new GcsTokenProvider
    provider.setConf(conf)
    provider
  }

  /** Lets the library of the file system of Azure create the object. */
  private def adls(conf: Configuration, account: String): SASTokenProvider = {
    val library = new AbfsConfiguration(conf, account)
    assert(library.getAuthType(account) == AuthType.SAS)
    library.getSASTokenProvider
  }

  private def sas(provider: SASTokenProvider, account: String): String =
    provider.getSASToken(account, "container", "/db/t/f", SASTokenProvider.READ_OPERATION)

  test("the file system of Google Cloud Storage gets the vended token and its expiration") {
    val token = gcs(configured(tokens)).getAccessToken
    assert(token.getToken == "gcs0" && token.getExpirationTimeMilliSeconds == 1000L)
    val unlimited = gcs(configured(Map("gcs.oauth2.token" -> "t"))).getAccessToken
    assert(unlimited.getToken == "t" && Option(unlimited.getExpirationTimeMilliSeconds).isEmpty)
    val renewed = gcs(StorageSettings.configuration(configured(tokens), Map("gcs.oauth2.token" -> "t"))).getAccessToken
    assert(renewed.getToken == "t" && Option(renewed.getExpirationTimeMilliSeconds).isEmpty)
  }

  test("the file system of Azure gets the signature of each account, whether the server states the host or the name") {
    val conf = configured(tokens)
    assert(sas(adls(conf, host), "account") == "sas0")
    assert(sas(adls(conf, "other.dfs.core.windows.net"), "other") == "sas-of-other")
    val provider = new AdlsSasTokenProvider
    provider.initialize(conf, "third.dfs.core.windows.net")
    val error = intercept[IOException](sas(provider, "third"))
    assert(error.getMessage.contains("third.dfs.core.windows.net"))
  }

  test("without tokens, the file systems keep their configuration; Hadoop hides the values of tokens") {
    val conf = configured(Map("gcs.project-id" -> "p", "gcs.oauth2.token" -> "", "adls.sas-token.account" -> ""))
    assert(!conf.iterator.hasNext || Option(conf.get("fs.gs.auth.type")).isEmpty)
    val keys = Seq(VendedTokens.HadoopGcsToken, VendedTokens.hadoopSasToken(host))
    assert(keys.forall(_.endsWith("secret")))
  }

  test("catalogs with different tokens use different file systems") {
    def settings(token: String): Configuration = configured(tokens + ("gcs.oauth2.token" -> token))
    val (a, b) = (settings("a"), settings("b"))
    for (scheme <- Seq("gs", "abfss")) assert(a.get(s"fs.$scheme.impl") == classOf[CatalogFileSystem].getName, scheme)
    assert(a.get(StorageSettings.Fingerprint) != b.get(StorageSettings.Fingerprint))
  }

  test("open files get renewed tokens, and file systems with renewed tokens do not renew them again") {
    val expiresMs = System.currentTimeMillis + 10L * 3600 * 1000
    val renewal = CredentialRenewal.settings("lite.db.t", classOf[TokenSource], expiresMs.toString, expiresMs = 1)
    val conf = configured(tokens ++ renewal)
    val (google, azure) = (gcs(conf), adls(conf, host))
    assert(google.getAccessToken.getToken == "gcs1" && sas(azure, "account") == "sas1")
    assert(google.getAccessToken.getExpirationTimeMilliSeconds == expiresMs)
    val renewed = CredentialRenewal.current(conf)
    assert(sas(adls(renewed, host), "account") == "sas1" && gcs(renewed).getAccessToken.getToken == "gcs1")
    assert(CountingSource.of(s"token $expiresMs").get == 1)
  }

  test(
    "a deserialized FileIO opens files with the token of its table, or with a renewed one if the token has expired"
  ) {
    val local = Files.createTempFile("token", ".bin")
    Files.write(local, Array[Byte](7))
    val base = new Configuration(false)
    base.set("fs.gs.impl", classOf[TokenFileSystem].getName)
    val catalog = new HadoopFileIO(base)
    def reading(properties: Map[String, String]): Seq[String] = {
      TokenFileSystem.used.clear()
      val io = copied(catalog.configured(properties))
      assert(io.read(s"gs://bucket$local").toSeq == Seq[Byte](7))
      TokenFileSystem.used.asScala.toSeq
    }
    val later = System.currentTimeMillis + 20L * 3600 * 1000
    def renewal(expiresMs: Long) =
      CredentialRenewal.settings("lite.db.t", classOf[TokenSource], later.toString, expiresMs)
    assert(reading(tokens ++ renewal(later)).distinct == Seq("gcs0"))
    assert(reading(tokens ++ renewal(1)).distinct == Seq("gcs1"))
    Files.delete(local)
  }
}
