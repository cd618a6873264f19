package iceberglite.catalog.rest

import scala.util.Try

import iceberglite.spec.property.TableProperty
import iceberglite.spec.rest.RestResponseJson.{Credential, LoadedTable}
import iceberglite.storage.{CredentialRenewal, FileIO, S3Settings, VendedSettings, VendedTokens}

/**
 * The access to one table's files.
 *
 * @param io the access with the table's credentials; if absent, the catalog's access is used
 * @param expiresMs the expiration time of the credentials, in milliseconds since 1970
 */
final private[catalog] case class TableAccess(io: Option[FileIO], expiresMs: Option[Long])

private[catalog] object TableAccess {

  /**
   * Returns the access to a table's files. The settings that the server sent for the table are used in addition to the
   * settings of the catalog.
   */
  def of(table: LoadedTable, io: FileIO): TableAccess = access(VendedCredentials.of(table).settings, io, Map.empty)

  /**
   * Returns the access to a table's files. The credentials are renewed before they expire, if the server has the
   * endpoint for this.
   *
   * @param name the name of the table, for messages
   * @param path the path of the table on the server
   * @param planId the id of the plan for whose files the credentials are; absent for credentials of the table
   */
  def renewed(
      name: String,
      path: String,
      server: RestServer,
      table: LoadedTable,
      io: FileIO,
      planId: Option[String] = None
  ): TableAccess = {
    val vended = VendedCredentials.of(table)
    val settings = vended.settings
    val renewal = settings.expiresMs.filter(_ => server.has(Endpoint.LoadCredentials)).fold(Map.empty[String, String]) {
      expiresMs =>
        val catalog = server.settings
        val token = table.config.get(RestTables.TokenKey)
        val request = CredentialRequest(catalog.catalog, catalog.properties, name, path, token, planId, vended)
        CredentialRenewal.settings(name, classOf[RestCredentials], request.json, expiresMs)
    }
    access(settings, io, renewal)
  }

  private def access(settings: VendedSettings, io: FileIO, renewal: Map[String, String]): TableAccess =
    if (settings.properties.isEmpty) TableAccess(None, None)
    else TableAccess(Some(io.configured(settings.properties ++ renewal)), settings.expiresMs)

  /**
   * Selects the credential with the longest prefix of the location (REST OpenAPI description: `StorageCredential`). The
   * schemes `s3`, `s3a` and `s3n` are the same. A prefix may end with the slash that follows the directory.
   */
  private[rest] def credentialFor(credentials: Vector[Credential], location: String): Option[Credential] = {
    val directory = S3Settings.withoutScheme(location).stripSuffix("/") + "/"
    val matching = credentials.filter(c => directory.startsWith(S3Settings.withoutScheme(c.prefix)))
    if (matching.isEmpty) None else Some(matching.maxBy(_.prefix.length))
  }
}

/**
 * The settings and credentials that a server sent for a table.
 *
 * @param location the location of the table
 * @param directories other directories that the table's properties name
 * @param config the settings for all files of the table
 */
final private[rest] case class VendedCredentials(
    location: String,
    directories: Vector[String],
    config: Map[String, String],
    credentials: Vector[Credential] = Vector.empty
) {
  import VendedCredentials._

  /**
   * Returns the storage settings. If the server sent several credentials, the bucket of the table's location is
   * accessed with the credential for this location, and each other bucket with its own credential. If no credential
   * belongs to the location and the settings have no keys, the credential with the shortest prefix in the bucket is
   * used.
   */
  def settings: VendedSettings = {
    val others = ofOtherBuckets
    val own = ofOwnBucket.fold(config)(merged)
    VendedSettings(
      sasTokens ++ accepted(own) ++ others.flatMap { case (bucket, c) =>
        S3Settings.ofBucket(bucket, accepted(merged(c)))
      },
      (own +: sasTokens +: others.values.map(_.config).toVector).flatMap(expiry).reduceOption(_ min _)
    )
  }

  /** The tokens for Azure accounts other than that of the table's location. Hadoop has a token for each account. */
  private lazy val sasTokens: Map[String, String] =
    credentials.flatMap(_.config).filter { case (key, _) => VendedTokens.isSas(key) }.toMap

  /** Selects the credential for the bucket of the table's location. */
  private def ofOwnBucket: Option[Credential] = {
    val own = S3Settings.bucketOf(location)
    val inBucket = credentials.filter(c => own.isDefined && S3Settings.bucketOf(c.prefix) == own)
    TableAccess.credentialFor(credentials, location).orElse(
      if (inBucket.isEmpty || config.contains(S3Settings.AccessKey)) None else Some(inBucket.minBy(_.prefix.length))
    )
  }

  /** Adds the settings of a credential to those of the table. Keys of two identities are not mixed. */
  private def merged(credential: Credential): Map[String, String] = {
    val replaced =
      if (credential.config.contains(S3Settings.AccessKey)) ReplacedKeys else Set.empty[String]
    config -- replaced -- VendedTokens.replacedBy(credential.config, config.keys) ++ credential.config
  }

  /**
   * Selects the credentials for buckets other than the bucket of the table's location, such as the bucket of
   * `write.data.path`. S3A has one set of credentials for each bucket. Therefore, if several credentials belong to a
   * bucket and the table's properties name no directory in it, the credential with the shortest prefix is used.
   *
   * @return the credentials by bucket
   */
  private def ofOtherBuckets: Map[String, Credential] = {
    val own = S3Settings.bucketOf(location)
    val byBucket = credentials.flatMap(c => S3Settings.bucketOf(c.prefix).map(_ -> c)).filterNot {
      case (bucket, _) => own.contains(bucket)
    }.groupBy(_._1)
    byBucket.map { case (bucket, pairs) =>
      val candidates = pairs.map(_._2)
      bucket -> directories.flatMap(TableAccess.credentialFor(candidates, _)).headOption.getOrElse(
        candidates.minBy(_.prefix.length)
      )
    }
  }

  override def toString: String = s"VendedCredentials($location)"
}

private[rest] object VendedCredentials {
  private val ExpiresAtMs = "s3.session-token-expires-at-ms"

  private def isExpiry(key: String): Boolean = key == ExpiresAtMs || VendedTokens.isExpiry(key)

  /** The settings that the keys of another identity replace. */
  val ReplacedKeys: Set[String] = S3Settings.IdentityKeys + ExpiresAtMs

  /** Returns the settings that a server sent with a table, as far as they concern its storage. */
  def of(table: LoadedTable): VendedCredentials = VendedCredentials(
    table.metadata.location,
    Vector(TableProperty.DataPath, TableProperty.MetadataPath)
      .flatMap(TableProperty.of(_, table.metadata.properties)),
    table.config.filter { case (key, _) => isAccepted(key) || isExpiry(key) },
    table.credentials
  )

  /**
   * Whether a setting from the server is passed to the file systems. Only known S3 settings and tokens are passed,
   * because other Hadoop settings could name classes to load.
   */
  private def isAccepted(key: String): Boolean = S3Settings.isVended(key) || VendedTokens.isVended(key)

  private def accepted(config: Map[String, String]): Map[String, String] =
    config.filter { case (key, value) => (isAccepted(key) || VendedTokens.isExpiry(key)) && value.nonEmpty }

  /** Returns the time at which the first of the credentials expires. */
  private def expiry(config: Map[String, String]): Option[Long] =
    config.collect { case (key, text) if isExpiry(key) => Try(text.trim.toLong).toOption }.flatten.reduceOption(_ min _)
}
