package iceberglite.storage

import java.time.Instant

import scala.util.Try

import com.google.cloud.hadoop.util.AccessTokenProvider
import com.google.cloud.hadoop.util.AccessTokenProvider.AccessToken
import org.apache.hadoop.conf.Configuration

/**
 * Provides Hadoop's file system for Google Cloud Storage with the token that a REST server vended for a table. The file
 * system asks again when the token expires. Therefore, files that are open get the renewed token too. The file system
 * creates the object by the name of the class.
 */
final class GcsTokenProvider extends AccessTokenProvider {
  private var conf = new Configuration(false)

  override def setConf(newConf: Configuration): Unit = conf = newConf

  override def getConf: Configuration = conf

  override def getAccessToken: AccessToken = {
    val current = CredentialRenewal.current(conf)
    val expiresMs = Option(current.get(VendedTokens.HadoopGcsExpiresAt)).flatMap(text => Try(text.toLong).toOption)
    GcsTokenProvider.token(current.getRaw(VendedTokens.HadoopGcsToken), expiresMs)
  }

  /** Does nothing, because [[getAccessToken]] renews the token. */
  override def refresh(): Unit = ()
}

private object GcsTokenProvider {

  /** The constructor has a time in milliseconds in version 2 of the file system, and an `Instant` in version 3. */
  private lazy val constructor = classOf[AccessToken].getConstructors.find(_.getParameterCount == 2).get

  private def token(text: String, expiresMs: Option[Long]): AccessToken = {
    val expires: AnyRef =
      if (constructor.getParameterTypes.apply(1) == classOf[Instant]) expiresMs.map(Instant.ofEpochMilli(_)).orNull
      else expiresMs.map(java.lang.Long.valueOf(_)).orNull
    constructor.newInstance(text, expires) match { case created: AccessToken => created }
  }
}
