package iceberglite.catalog.rest

import scala.util.Try

import iceberglite.spec.property.TableProperty
import iceberglite.spec.rest.RestResponseJson.{Credential, LoadedTable}
import iceberglite.storage.{FileIO, S3Settings}

/**
 * The access to one table's files.
 *
 * @param io the access with the table's credentials; if absent, the catalog's access is used
 * @param expiresMs the expiration time of the credentials, in milliseconds since 1970
 */
final private[catalog] case class TableAccess(io: Option[FileIO], expiresMs: Option[Long])

private[catalog] object TableAccess {
  private val ExpiresAtMs = "s3.session-token-expires-at-ms"

  /**
   * Whether a setting from the server is passed to the file systems. Only known S3 settings are passed, because other
   * Hadoop settings could name classes to load.
   */
  private def isAccepted(key: String): Boolean = S3Settings.isVended(key)

  /**
   * Returns the access to a table's files. The settings that the server sent for the table are used in addition to the
   * settings of the catalog. If the server sent several credentials, the bucket of the table's location is accessed
   * with the credential for this location, and each other bucket with its own credential. If no credential belongs to
   * the location and the settings have no keys, the credential with the shortest prefix in the bucket is used.
   */
  def of(table: LoadedTable, io: FileIO): TableAccess = {
    val others = ofOtherBuckets(table)
    val config = ofOwnBucket(table).fold(table.config)(merged(table.config, _))
    val settings = accepted(config) ++ others.flatMap { case (bucket, c) =>
      S3Settings.ofBucket(bucket, accepted(merged(table.config, c)))
    }
    if (settings.isEmpty) TableAccess(None, None)
    else TableAccess(
      Some(io.configured(settings)),
      (config +: others.values.map(_.config).toVector).flatMap(expiry)
        .reduceOption(_ min _)
    )
  }

  /** Selects the credential for the bucket of the table's location. */
  private def ofOwnBucket(table: LoadedTable): Option[Credential] = {
    val own = S3Settings.bucketOf(table.metadata.location)
    val inBucket = table.credentials.filter(c => own.isDefined && S3Settings.bucketOf(c.prefix) == own)
    credentialFor(table.credentials, table.metadata.location).orElse(
      if (inBucket.isEmpty || table.config.contains(S3Settings.AccessKey)) None
      else Some(inBucket.minBy(_.prefix.length))
    )
  }

  /** Adds the settings of a credential to those of the table. Keys of two identities are not mixed. */
  private def merged(config: Map[String, String], credential: Credential): Map[String, String] = {
    val replaced =
      if (credential.config.contains(S3Settings.AccessKey)) S3Settings.IdentityKeys + ExpiresAtMs else Set.empty[String]
    config -- replaced ++ credential.config
  }

  private def accepted(config: Map[String, String]): Map[String, String] =
    config.filter { case (key, value) => isAccepted(key) && value.nonEmpty }

  private def expiry(config: Map[String, String]): Option[Long] =
    config.get(ExpiresAtMs).flatMap(text => Try(text.trim.toLong).toOption)

  /**
   * Selects the credentials for buckets other than the bucket of the table's location, such as the bucket of
   * `write.data.path`. S3A has one set of credentials for each bucket. Therefore, if several credentials belong to a
   * bucket and the table's properties name no directory in it, the credential with the shortest prefix is used.
   *
   * @return the credentials by bucket
   */
  private def ofOtherBuckets(table: LoadedTable): Map[String, Credential] = {
    val directories = Seq(TableProperty.DataPath, TableProperty.MetadataPath)
      .flatMap(TableProperty.of(_, table.metadata.properties))
    val own = S3Settings.bucketOf(table.metadata.location)
    val byBucket = table.credentials.flatMap(c => S3Settings.bucketOf(c.prefix).map(_ -> c)).filterNot {
      case (bucket, _) => own.contains(bucket)
    }.groupBy(_._1)
    byBucket.map { case (bucket, pairs) =>
      val candidates = pairs.map(_._2)
      bucket -> directories.flatMap(credentialFor(candidates, _)).headOption.getOrElse(
        candidates.minBy(_.prefix.length)
      )
    }
  }

  /**
   * Selects the credential with the longest prefix (REST OpenAPI description: `StorageCredential`). The schemes `s3`,
   * `s3a` and `s3n` are the same. A prefix may end with the slash that follows the directory.
   */
  private[rest] def credentialFor(credentials: Vector[Credential], location: String): Option[Credential] = {
    val directory = S3Settings.withoutScheme(location).stripSuffix("/") + "/"
    val matching = credentials.filter(c => directory.startsWith(S3Settings.withoutScheme(c.prefix)))
    if (matching.isEmpty) None else Some(matching.maxBy(_.prefix.length))
  }
}
