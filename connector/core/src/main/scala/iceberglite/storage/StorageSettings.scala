package iceberglite.storage

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest

import scala.util.Try

import org.apache.hadoop.conf.Configuration

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Creates the Hadoop configuration for one catalog. It consists of the configuration of the session, overridden by the
 * catalog's own settings.
 *
 * Hadoop caches one file system for each scheme, host and user, and ignores the configuration of later requests.
 * Catalogs with their own settings therefore get separate file systems (see [[CatalogFileSystem]]).
 */
object StorageSettings {

  /** Prefix of Hadoop settings in a catalog's configuration. Hadoop's key follows the prefix. */
  val HadoopPrefix = "hadoop."

  /** Key in Hadoop's configuration for a hash of the catalog's own settings. The hash does not reveal the settings. */
  private[iceberglite] val Fingerprint = "iceberglite.fs.settings"

  private val S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"

  /** Schemes of S3 locations, for all of which S3A is used. */
  private[iceberglite] val S3 = Set("s3", "s3a", "s3n")
  private val Azure = Set("abfs", "abfss", "wasb", "wasbs")

  private val prefixes = Seq(HadoopPrefix, S3Settings.Prefix, "client.", "io.")

  /** Returns the properties of a catalog that configure its storage. */
  def of(properties: Map[String, String]): Map[String, String] =
    properties.filter { case (key, _) => prefixes.exists(key.startsWith) }

  /**
   * Returns the configuration for a catalog.
   *
   * @param properties properties of the catalog: Hadoop settings (`hadoop.fs.s3a.endpoint`) and S3 settings with the
   *   names in [[S3Settings]], or vended tokens ([[VendedTokens]]); Hadoop settings take precedence
   */
  def configuration(base: Configuration, properties: Map[String, String]): Configuration = {
    val conf = new Configuration(base)
    // Metadata of other Iceberg implementations contains paths with the scheme `s3`, whereas the Hadoop scheme for S3
    // is `s3a`.
    S3.foreach(scheme => if (Option(conf.get(implKey(scheme))).isEmpty) conf.set(implKey(scheme), S3A))
    val overrides = S3Settings.hadoop(properties) ++ VendedTokens.hadoop(properties) ++ properties.collect {
      case (key, value) if key.startsWith(HadoopPrefix) => key.substring(HadoopPrefix.length) -> value
    }
    checkClientFactory(base, properties)
    overrides.foreach { case (key, value) => conf.set(key, value) }
    if (overrides.nonEmpty) isolate(conf, overrides)
    conf
  }

  /**
   * Checks that the client factory for storage class and tags does not replace a client factory that the user
   * configured.
   *
   * @throws InvalidArgument if both client factories are needed
   */
  private def checkClientFactory(base: Configuration, properties: Map[String, String]): Unit = {
    val key = S3Settings.ClientFactory
    val configured = properties.get(HadoopPrefix + key).orElse(Option(base.get(key)))
    for (required <- S3Settings.hadoop(properties).get(key); other <- configured if other != required)
      throw InvalidArgument(
        key,
        other,
        s"s3.write.storage-class and s3.write.tags.* require the client factory of iceberg-lite. Remove $key, or " +
          "remove the storage class and the tags"
      )
  }

  private[iceberglite] def implKey(scheme: String): String = s"fs.$scheme.impl"

  /** Returns the key for the original file system class of a scheme, if [[CatalogFileSystem]] replaces this class. */
  private[iceberglite] def wrappedClassKey(scheme: String): String = s"iceberglite.fs.$scheme.impl"

  private def isolate(conf: Configuration, overrides: Map[String, String]): Unit = {
    val wrapper = classOf[CatalogFileSystem].getName
    overrides.keySet.flatMap(schemes).foreach { scheme =>
      Option(conf.get(implKey(scheme))).filterNot(_ == wrapper).foreach(conf.set(wrappedClassKey(scheme), _))
      conf.set(implKey(scheme), wrapper)
      conf.setBoolean(s"fs.$scheme.impl.disable.cache", true)
    }
    conf.set(Fingerprint, fingerprint(Option(conf.get(Fingerprint)).toSeq ++ overrides.toSeq.map(_.toString).sorted))
    if (Try(conf.getClassByName(wrapper)).isFailure) conf.setClassLoader(getClass.getClassLoader)
  }

  /**
   * Returns the schemes whose file systems a setting may affect. The local file system has no settings except its
   * class.
   */
  private def schemes(key: String): Set[String] = key.split('.').toList match {
    case "fs" :: "file" :: _ => if (key == implKey("file")) Set("file") else Set.empty
    case "fs" :: scheme :: _ :: _ if S3(scheme) => S3
    case "fs" :: ("azure" | "adl") :: _ => Azure
    case "fs" :: scheme :: _ :: _ => Set(scheme)
    case "dfs" :: _ => Set("hdfs", "webhdfs")
    case _ => Set.empty
  }

  private def fingerprint(parts: Seq[String]): String = {
    val digest = MessageDigest.getInstance("SHA-256")
    parts.foreach(part => digest.update(s"${part.length}:$part".getBytes(UTF_8)))
    digest.digest().map(b => f"$b%02x").mkString
  }
}
