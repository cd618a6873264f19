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
   * @param planId the id of the server's scan plan if the credentials are only for the files of the plan; absent if
   *   they are for the table
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
   * belongs to the location, the credential with the shortest prefix in the bucket is used, unless the settings of the
   * table have keys for S3 or, for a location on Google Cloud Storage, a token.
   */
  def settings: VendedSettings = {
    val (selected, others) = (ofOwnBucket, ofOtherBuckets)
    val own = selected.fold(common)(merged).filterNot { case (key, _) => VendedTokens.isSas(key) } ++
      sasTokens(selected)
    VendedSettings(
      accepted(own) ++ others.flatMap { case (bucket, c) => S3Settings.ofBucket(bucket, accepted(merged(c))) },
      (VendedTokens.expirations(own) ++ keyExpiry(own) ++ others.values.flatMap(c => keyExpiry(merged(c))))
        .flatMap(text => Try(text.trim.toLong).toOption).reduceOption(_ min _)
    )
  }

  /** Returns the settings after the server has sent new credentials. */
  def replacedBy(newer: Vector[Credential]): VendedCredentials =
    copy(config = withoutReplaced(config, newer, location), credentials = newer)

  /** The settings for all files of the table. In their keys, Azure accounts have the names of their hosts. */
  private lazy val common: Map[String, String] = VendedTokens.normalized(config)

  /**
   * Returns the tokens of all Azure accounts, because Hadoop has a token for each account. If there are several tokens
   * for an account, the order of precedence is: the token of the selected credential, the token in the settings of the
   * table, and the tokens of the other credentials. Among the other credentials, the one with the shortest prefix takes
   * precedence.
   */
  private def sasTokens(selected: Option[Credential]): Map[String, String] = {
    val others = credentials.sortBy(-_.prefix.length).map(c => VendedTokens.normalized(c.config))
    val all = (others :+ common) ++ selected.map(c => VendedTokens.normalized(c.config))
    all.map(_.filter { case (key, _) => VendedTokens.isSas(key) })
      .foldLeft(Map.empty[String, String])((old, newer) => old -- VendedTokens.replacedBy(newer, old.keys) ++ newer)
  }

  /**
   * Selects the credential for the bucket of the table's location. Keys for S3 and tokens for Google Cloud Storage in
   * the settings of the table take precedence over a credential whose prefix does not contain the location.
   */
  private def ofOwnBucket: Option[Credential] = {
    val own = bucketOf(location)
    val inBucket = credentials.filter(c => own.isDefined && bucketOf(c.prefix) == own)
    val keepsKeys =
      if (S3Settings.bucketOf(location).isDefined) common.contains(S3Settings.AccessKey)
      else common.contains(VendedTokens.GcsToken)
    TableAccess.credentialFor(credentials, location).orElse(
      if (inBucket.isEmpty || keepsKeys) None else Some(inBucket.minBy(_.prefix.length))
    )
  }

  /** Adds the settings of a credential to those of the table. Keys of two identities are not mixed. */
  private def merged(credential: Credential): Map[String, String] = {
    val replaced =
      if (credential.config.contains(S3Settings.AccessKey)) ReplacedKeys else Set.empty[String]
    val newer = VendedTokens.normalized(credential.config)
    common -- replaced -- VendedTokens.replacedBy(newer, common.keys) ++ newer
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
  private val Gcs = "gs://"

  /** Whether the value of a key is the time at which a credential expires. */
  def isExpiry(key: String): Boolean = key == ExpiresAtMs || VendedTokens.isExpiry(key)

  /** The keys of the table's settings that are removed if a credential has S3 access keys of its own. */
  val ReplacedKeys: Set[String] = S3Settings.IdentityKeys + ExpiresAtMs

  /**
   * Returns the settings of a table without the keys and tokens that newer credentials replace. Otherwise, they would
   * take precedence over credentials for directories below the location of the table.
   */
  def withoutReplaced(
      config: Map[String, String],
      credentials: Vector[Credential],
      location: String
  ): Map[String, String] = {
    val own = bucketOf(location)
    config -- credentials.flatMap { c =>
      val isInBucket = own.isDefined && bucketOf(c.prefix) == own
      val newer = VendedTokens.normalized(c.config)
      val keys = if (isInBucket && newer.contains(S3Settings.AccessKey)) ReplacedKeys else Set.empty[String]
      keys ++ VendedTokens.replacedBy(if (isInBucket) newer else newer - VendedTokens.GcsToken, config.keys)
    }
  }

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

  /** Returns the bucket of a location on S3 or on Google Cloud Storage, with its scheme. */
  private def bucketOf(location: String): Option[(String, String)] =
    S3Settings.bucketOf(location).map("s3" -> _).orElse {
      if (!location.startsWith(Gcs)) None
      else Some(location.stripPrefix(Gcs).takeWhile(_ != '/')).filter(_.nonEmpty).map("gs" -> _)
    }

  /** Returns the time at which the keys for S3 expire. */
  private def keyExpiry(config: Map[String, String]): Option[String] =
    config.get(ExpiresAtMs).filter(_ => config.contains(S3Settings.AccessKey))
}
