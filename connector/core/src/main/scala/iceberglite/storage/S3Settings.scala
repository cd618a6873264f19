package iceberglite.storage

import java.security.MessageDigest
import java.util.Base64

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Translates S3 settings with Apache Iceberg's names (`s3.endpoint`, `s3.access-key-id`, …) to the settings of Hadoop's
 * S3A. The S3 settings come from the configuration of a catalog, or are vended by a REST catalog.
 */
object S3Settings {

  /** Prefix of the keys of all settings except the region. */
  val Prefix = "s3."

  private[iceberglite] val AccessKey = "s3.access-key-id"
  private val SecretKey = "s3.secret-access-key"
  private val SessionToken = "s3.session-token"
  private val Region = "client.region"
  private val Encryption = "s3.sse.type"
  private val EncryptionKey = "s3.sse.key"
  private val EncryptionMd5 = "s3.sse.md5"
  private val StagingDirectory = "s3.staging-dir"
  private val Acl = "s3.acl"
  private val StorageClass = "s3.write.storage-class"
  private val DeleteEnabled = "s3.delete-enabled"

  /** The keys of the settings that together identify a user. */
  private[iceberglite] val IdentityKeys = Set(AccessKey, SecretKey, SessionToken)

  /** Prefix of a key that sets a tag. The name of the tag follows the prefix. All written objects get the tag. */
  val TagPrefix = "s3.write.tags."

  /**
   * Keys that this connector adds to Hadoop's configuration, for features for which S3A has no setting. They begin with
   * S3A's prefix.
   */
  private[iceberglite] val HadoopStorageClass = "fs.s3a.iceberglite.storage-class"
  private[iceberglite] val HadoopTagPrefix = "fs.s3a.iceberglite.tags."
  private[iceberglite] val HadoopDeleteEnabled = "fs.s3a.iceberglite.delete-enabled"

  /** S3A's setting for the client factory class. */
  private[iceberglite] val ClientFactory = "fs.s3a.s3.client.factory.impl"

  private[iceberglite] def tags(conf: Configuration): Map[String, String] = conf.iterator.asScala.collect {
    case entry if entry.getKey.startsWith(HadoopTagPrefix) =>
      entry.getKey.substring(HadoopTagPrefix.length) -> entry.getValue
  }.toMap

  /** Returns the bucket of a location; absent if it is not a location on S3. */
  private[iceberglite] def bucketOf(location: String): Option[String] = location match {
    case Location(path) => Some(path.takeWhile(_ != '/')).filter(_.nonEmpty)
    case _ => None
  }

  /** Returns the bucket and the key of a location on S3. Other locations are returned unchanged. */
  private[iceberglite] def withoutScheme(location: String): String = location match {
    case Location(path) => path
    case other => other
  }

  /** Returns settings of a catalog that apply the given S3 settings to a single bucket. */
  private[iceberglite] def ofBucket(bucket: String, properties: Map[String, String]): Map[String, String] =
    hadoop(properties).collect {
      case (key, value) if key.startsWith(S3A) =>
        s"${StorageSettings.HadoopPrefix}${S3A}bucket.$bucket.${key.stripPrefix(S3A)}" -> value
    }

  private val S3A = "fs.s3a."
  private val Location = s"(?:${StorageSettings.S3.mkString("|")})://(.*)".r
  private val Package = "org.apache.hadoop.fs.s3a"

  /** Keys whose values are passed to S3A unchanged, with the corresponding keys of S3A. */
  private val renamed: Map[String, String] = Map(
    "s3.endpoint" -> "fs.s3a.endpoint",
    "s3.path-style-access" -> "fs.s3a.path.style.access",
    AccessKey -> "fs.s3a.access.key",
    SecretKey -> "fs.s3a.secret.key",
    SessionToken -> "fs.s3a.session.token",
    Region -> "fs.s3a.endpoint.region",
    EncryptionKey -> "fs.s3a.server-side-encryption.key",
    StagingDirectory -> "fs.s3a.buffer.dir",
    "s3.multipart.part-size-bytes" -> "fs.s3a.multipart.size"
  )

  private val encryptions: Map[String, Option[String]] =
    Map("none" -> None, "s3" -> Some("AES256"), "kms" -> Some("SSE-KMS"), "custom" -> Some("SSE-C"))

  /** The supported keys that begin with [[Prefix]], except the keys of tags. */
  val keys: Seq[String] =
    (renamed.keySet - Region ++ Seq(Encryption, EncryptionMd5, Acl, StorageClass, DeleteEnabled)).toVector.sorted

  def isKnown(key: String): Boolean = keys.contains(key) || key.startsWith(TagPrefix)

  /**
   * Returns whether a REST server may set a key for its tables. A server may not set the staging directory, which is a
   * directory on the local machine.
   */
  def isVended(key: String): Boolean = isKnown(key) && key != StagingDirectory || key == Region

  /**
   * Returns the Hadoop settings that correspond to the S3 settings. Other keys are ignored.
   *
   * @throws InvalidArgument if a value is invalid, or if only one of access key and secret key is set
   */
  def hadoop(properties: Map[String, String]): Map[String, String] = {
    val configured = properties.map { case (key, value) => key -> value.trim }.filter(_._2.nonEmpty)
    val translated =
      renamed.collect { case (key, hadoopKey) if configured.contains(key) => hadoopKey -> configured(key) }
    checkEncryptionMd5(configured)
    translated ++ provider(configured) ++ encryption(configured) ++ acl(configured) ++ deletion(configured) ++
      writeSettings(configured)
  }

  private def writeSettings(configured: Map[String, String]): Map[String, String] = {
    val settings = configured.get(StorageClass).map(name => HadoopStorageClass -> name.toUpperCase).toMap ++
      configured.collect {
        case (key, value) if key.startsWith(TagPrefix) =>
          (HadoopTagPrefix + key.substring(TagPrefix.length)) -> value
      }
    if (settings.isEmpty) settings else settings + (ClientFactory -> "iceberglite.storage.S3ClientFactory")
  }

  /** Converts the name of a predefined access control list to S3A's name, which has no dashes. */
  private def acl(configured: Map[String, String]): Map[String, String] = configured.get(Acl).map { text =>
    val name = acls.getOrElse(
      text.toLowerCase,
      throw InvalidArgument(Acl, text, s"It must be one of ${acls.keys.toVector.sorted.mkString(", ")}")
    )
    "fs.s3a.acl.default" -> name
  }.toMap

  private val acls: Map[String, String] = Seq(
    "private",
    "public-read",
    "public-read-write",
    "authenticated-read",
    "aws-exec-read",
    "bucket-owner-read",
    "bucket-owner-full-control"
  ).map(name => name -> name.split('-').map(_.capitalize).mkString).toMap

  /**
   * Converts the delete setting. If deletes are disabled, S3A is also configured to keep directory markers, because by
   * default S3A deletes these markers.
   */
  private def deletion(configured: Map[String, String]): Map[String, String] = configured.get(DeleteEnabled).fold(
    Map.empty[String, String]
  ) { text =>
    val enabled =
      Try(text.toBoolean).getOrElse(throw InvalidArgument(DeleteEnabled, text, "It must be true or false"))
    val markerSettings = if (enabled) Map.empty else Map("fs.s3a.directory.marker.retention" -> "keep")
    Map(HadoopDeleteEnabled -> enabled.toString) ++ markerSettings
  }

  /**
   * Checks the MD5 sum of the encryption key. S3A computes the MD5 sum from the key. Therefore, if the configured MD5
   * sum is different, it belongs to another key.
   */
  private def checkEncryptionMd5(configured: Map[String, String]): Unit =
    for (md5 <- configured.get(EncryptionMd5); key <- configured.get(EncryptionKey)) {
      val matches = Try {
        val sum = MessageDigest.getInstance("MD5").digest(Base64.getDecoder.decode(key))
        Base64.getEncoder.encodeToString(sum) == md5
      }
      if (!matches.getOrElse(false))
        throw InvalidArgument(EncryptionMd5, "(not shown)", s"The value is not the MD5 sum of $EncryptionKey")
    }

  /**
   * Sets the credentials provider. A configured access key takes precedence over credentials from the environment and
   * from the role of the machine.
   */
  private def provider(configured: Map[String, String]): Map[String, String] = {
    val pair = Seq(AccessKey, SecretKey)
    pair.find(configured.contains).foreach { present =>
      pair.find(!configured.contains(_)).foreach { missing =>
        throw InvalidArgument(missing, "(not set)", s"$present is set without $missing. Set both or neither")
      }
    }
    if (!configured.contains(AccessKey)) Map.empty
    else {
      val name =
        if (configured.contains(SessionToken)) "TemporaryAWSCredentialsProvider" else "SimpleAWSCredentialsProvider"
      Map("fs.s3a.aws.credentials.provider" -> s"$Package.$name")
    }
  }

  private def encryption(configured: Map[String, String]): Map[String, String] = configured.get(Encryption).fold(
    Map.empty[String, String]
  ) { kind =>
    val algorithm = encryptions.getOrElse(
      kind.toLowerCase,
      throw InvalidArgument(Encryption, kind, s"It must be one of ${encryptions.keys.toVector.sorted.mkString(", ")}")
    )
    algorithm.map("fs.s3a.server-side-encryption-algorithm" -> _).toMap
  }
}
