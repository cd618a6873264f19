package iceberglite.catalog

import iceberglite.spec.property.{ForeignSetting, ForeignSettings}
import iceberglite.spec.property.ForeignSetting.{accepted, rejected, warned}

/** Catalog properties of Apache Iceberg that this release does not support. */
object ForeignCatalogProperties {
  private val Kind = "property"
  private val Identity =
    "Storage would be accessed with other credentials than configured. Set the credentials of the file system: "
  private val OnS3 = Identity + "s3.access-key-id and s3.secret-access-key, or hadoop.fs.s3a.aws.credentials.provider"
  private val HadoopGcs = Identity + "hadoop.fs.gs.auth.*"
  private val HadoopAzure = Identity + "hadoop.fs.azure.*"
  private val NoEncryption =
    "This encryption setting is not supported, and files would be written without it. Remove this setting, or use " +
      "an engine that supports it"
  private val Performance = "It does not change results; S3 is accessed through Hadoop's S3A"

  /** The properties that are unsupported only in some catalog types. The keys of the map are values of `type`. */
  private val byType: Map[String, ForeignSettings] = Map(
    "hadoop" -> new ForeignSettings(
      Kind,
      Seq(
        rejected(
          "lock-impl",
          "Commits take no lock, because they create the metadata file exclusively, but writers that rely on the " +
            "lock could overwrite them. Remove this setting if no other writer needs the lock, or use a jdbc, rest " +
            "or hive catalog",
          "org.apache.iceberg.util.LockManagers$InMemoryLockManager"
        ),
        rejected(
          "unique-table-location",
          "A hadoop catalog finds a table by its directory. Remove this setting, or use a jdbc or hive catalog",
          "false"
        )
      )
    ),
    "rest" -> new ForeignSettings(
      Kind,
      Seq(warned(
        "unique-table-location",
        "The REST server chooses the locations of tables. Configure the server instead",
        "false"
      ))
    )
  )

  private val general: Seq[ForeignSetting] = Seq(
    warned("lock-impl", "Catalogs of this type commit without a lock manager, also in Apache Iceberg"),
    warned("lock.*", "No lock manager is used, because commits are exclusive without a lock manager"),
    warned("cache.case-sensitive", "Names of cached tables are case-sensitive", "true"),
    accepted("client-pool-cache-keys", "A catalog shares its connections with no other catalog or session"),
    warned("auth.session-timeout-ms", "The session of a catalog with its REST server lasts as long as the catalog"),
    warned("suppress-permission-error", "If the user may not list a directory, the operation fails", "false"),
    rejected("encryption.*", NoEncryption),
    warned("fs.*", "Settings of Hadoop begin with hadoop., such as hadoop.fs.s3a.endpoint")
  )

  private val rest: Seq[ForeignSetting] = Seq(
    rejected("rest.auth.*", "This authentication is not supported. See rest.auth.type in the reference"),
    rejected(
      "rest.client.tls.*",
      "The JDK's trust store decides which servers are trusted. Set javax.net.ssl.trustStore"
    ),
    warned("rest.*", "REST catalogs have no such property"),
    warned("rest-*", "REST catalogs have no such property")
  )

  private val aws: Seq[ForeignSetting] = Seq(
    rejected("client.factory", OnS3, "org.apache.iceberg.aws.AwsClientFactories$DefaultAwsClientFactory"),
    rejected("client.assume-role.*", OnS3),
    rejected("client.credentials-provider*", OnS3),
    rejected("client.refresh-credentials*", OnS3, "false"),
    warned("client.*", "There is no such property; set the region with client.region and credentials with s3.*"),
    warned("http-client.*", "S3A has its own HTTP client: hadoop.fs.s3a.connection.*"),
    rejected(
      "s3.remote-signing-enabled",
      "Requests are signed with the catalog's own credentials, never by a REST server. Set it to false and set " +
        "credentials",
      "false"
    ),
    rejected("s3.signer-impl", OnS3),
    rejected("s3.signer.*", OnS3),
    rejected("s3.access-grants.*", OnS3, "false"),
    rejected(
      "s3.access-points.*",
      "Files would be accessed without the access point. Set hadoop.fs.s3a.bucket.<bucket>.accesspoint.arn"
    ),
    rejected(
      "s3.delete.tags.*",
      "Objects would be deleted without the tags. Remove this setting, or set s3.delete-enabled=false"
    ),
    warned("s3.delete.*", "One request deletes up to 1,000 files, and 16 requests run at the same time"),
    warned("s3.write.table-tag-enabled", "Set tags with s3.write.tags.*", "false"),
    warned("s3.write.namespace-tag-enabled", "Set tags with s3.write.tags.*", "false"),
    warned("s3.multipart.num-threads", "Set hadoop.fs.s3a.threads.max"),
    warned("s3.multipart.threshold", "S3A uploads objects that are larger than s3.multipart.part-size-bytes in parts"),
    warned("s3.checksum-enabled", "S3A sends the MD5 sum of each part", "false"),
    warned("s3.retry.*", "Set hadoop.fs.s3a.attempts.maximum and hadoop.fs.s3a.retry.*"),
    warned("s3.crt.enabled", Performance, "false"),
    warned("s3.analytics-accelerator.*", Performance, "false"),
    warned(
      "s3.cross-region-access-enabled",
      "S3A reports an error for a bucket in another region. Set client.region",
      "false"
    ),
    warned("s3.acceleration-enabled", Performance, "false"),
    warned("s3.dualstack-enabled", Performance, "false"),
    warned("s3.*", "There is no such S3 setting. Settings of S3A begin with hadoop.fs.s3a.")
  )

  private val otherStores: Seq[ForeignSetting] = Seq(
    rejected("gcs.oauth2.*", HadoopGcs, "false"),
    rejected("gcs.impersonate.*", HadoopGcs),
    rejected("gcs.no-auth", HadoopGcs, "false"),
    rejected("gcs.user-project", HadoopGcs),
    rejected("gcs.encryption-key", NoEncryption),
    rejected("gcs.decryption-key", NoEncryption),
    warned("gcs.*", "Google Cloud Storage is accessed through Hadoop: set hadoop.fs.gs.*"),
    rejected("adls.auth.*", HadoopAzure),
    rejected("adls.sas-token.*", HadoopAzure),
    rejected("adls.connection-string.*", HadoopAzure),
    rejected("adls.token*", HadoopAzure),
    rejected("adls.refresh-credentials*", HadoopAzure, "false"),
    warned("adls.*", "Azure storage is accessed through Hadoop: set hadoop.fs.azure.*")
  )

  private val forEveryType = new ForeignSettings(Kind, general ++ rest ++ aws ++ otherStores)

  /**
   * Returns all settings, for the documentation. Each setting is paired with the catalog type in which it is
   * unsupported. The type is absent if the setting is unsupported in all catalog types.
   */
  def all: Seq[(Option[String], ForeignSetting)] =
    byType.toSeq.sortBy(_._1).flatMap { case (kind, settings) => settings.all.map(Some(kind) -> _) } ++
      forEveryType.all.map(None -> _)

  private[catalog] def exactKeys: Seq[String] = forEveryType.all.map(_.key).filterNot(_.endsWith("*"))

  /** Whether the properties that are unsupported in all catalog types include the key, either itself or by a prefix. */
  private[catalog] def isListed(key: String): Boolean = forEveryType.find(key).isDefined

  /**
   * Returns the warning for a property; absent if the property needs no warning.
   *
   * @param kind the value of `type`
   * @throws iceberglite.spec.IcebergError.Unsupported if the property cannot be ignored safely
   */
  private[catalog] def warning(catalog: String, kind: String, key: String, value: String): Option[String] =
    if (isOfKind(kind, key)) warningOfKind(catalog, kind, key, value)
    else forEveryType.warning(key, value, where(catalog))

  /**
   * Returns the warning for a property that is unsupported only in this catalog type; absent if the property needs no
   * warning.
   */
  private[catalog] def warningOfKind(catalog: String, kind: String, key: String, value: String): Option[String] =
    byType.get(kind).flatMap(_.warning(key, value, where(catalog)))

  private def isOfKind(kind: String, key: String): Boolean = byType.get(kind).exists(_.find(key).isDefined)

  /** Returns the end of a message that names the catalog. */
  private def where(catalog: String): String = s" of catalog $catalog"
}
