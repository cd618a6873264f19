package iceberglite.catalog

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * A key of a catalog's configuration that this release acts on (`spark.sql.catalog.<name>.<key>`).
 *
 * @param default for documentation; absent where nothing is the default
 */
final case class CatalogProperty(key: String, default: Option[String], doc: String) {

  def in(properties: Map[String, String]): Option[String] = properties.get(key).map(_.trim).filter(_.nonEmpty)

  /** @param catalog the catalog's name, for the message */
  def require(catalog: String, properties: Map[String, String], example: String): String = in(properties).getOrElse(
    throw InvalidArgument(s"$key of catalog $catalog", "none", s"$doc. Set it, for example to $example")
  )
}

/** Keys that begin alike and go to somebody else without the beginning. */
final case class PropertyPrefix(prefix: String, doc: String) {
  def in(properties: Map[String, String]): Map[String, String] =
    properties.collect { case (key, value) if key.startsWith(prefix) => key.substring(prefix.length) -> value }
}

object CatalogProperty {
  val Type: CatalogProperty = CatalogProperty("type", None, "Which kind of catalog it is")
  val Warehouse: CatalogProperty =
    CatalogProperty("warehouse", None, "The directory that tables are made in")
  val Uri: CatalogProperty = CatalogProperty("uri", None, "Where the catalog's database or server is")
  val JdbcSchemaVersion: CatalogProperty = CatalogProperty(
    "jdbc.schema-version",
    None,
    "V1 adds the column iceberg_type to catalog tables that were made without it"
  )
  val JdbcStrictMode: CatalogProperty =
    CatalogProperty("jdbc.strict-mode", Some("false"), "Whether a table can only be made in a namespace that exists")
  val JdbcInitTables: CatalogProperty =
    CatalogProperty("jdbc.init-catalog-tables", Some("true"), "Whether the catalog's own tables are made when missing")
  val CacheEnabled: CatalogProperty =
    CatalogProperty("cache-enabled", Some("true"), "Whether tables that were loaded lately are kept")
  val CacheExpirationMs: CatalogProperty =
    CatalogProperty("cache.expiration-interval-ms", Some("30000"), "How long a table is kept after it was loaded")
  val ManifestCacheEnabled: CatalogProperty =
    CatalogProperty(
      "io.manifest.cache-enabled",
      Some("true"),
      "Whether decoded manifests, which never change, are kept"
    )
  val UseNullableQuerySchema: CatalogProperty =
    CatalogProperty(
      "use-nullable-query-schema",
      Some("true"),
      "Whether all columns of a CREATE TABLE AS SELECT may be null"
    )
  val StoredName: CatalogProperty = CatalogProperty(
    "catalog-name",
    None,
    "What a JDBC catalog is called in its database, where that is not what the session calls it"
  )
  val DefaultNamespace: CatalogProperty =
    CatalogProperty("default-namespace", None, "The namespace of a session that has switched to this catalog")

  val TableDefault: PropertyPrefix =
    PropertyPrefix("table-default.", "A property that new tables get unless they are made with another value")
  val TableOverride: PropertyPrefix =
    PropertyPrefix("table-override.", "A property that new tables get whatever they are made with")
  val Jdbc: PropertyPrefix = PropertyPrefix("jdbc.", "Goes to the database's driver: jdbc.user, jdbc.password, ...")
  val Hadoop: PropertyPrefix = PropertyPrefix("hadoop.", "Goes to Hadoop's configuration of this catalog")

  /** Those that this release acts on, in the order of the documentation. */
  val all: Seq[CatalogProperty] = Seq(
    Type,
    Warehouse,
    Uri,
    JdbcSchemaVersion,
    JdbcStrictMode,
    JdbcInitTables,
    CacheEnabled,
    CacheExpirationMs,
    ManifestCacheEnabled,
    UseNullableQuerySchema,
    StoredName,
    DefaultNamespace
  )

  val prefixes: Seq[PropertyPrefix] = Seq(TableDefault, TableOverride, Jdbc, Hadoop)

  /** Keys of Apache Iceberg's catalogs that have no meaning here (yet): a configuration may hold them. */
  private val others: Seq[String] = Seq(
    "catalog-impl",
    "io-impl",
    "clients",
    "metrics-reporter-impl",
    "cache.case-sensitive",
    "io.manifest.cache.expiration-interval-ms",
    "io.manifest.cache.max-total-bytes",
    "io.manifest.cache.max-content-length",
    "client.pool.cache.eviction-interval-ms",
    "client-pool-cache-keys",
    "lock-impl",
    "lock.table",
    "lock.heartbeat-interval-ms",
    "lock.heartbeat-timeout-ms",
    "lock.heartbeat-threads",
    "lock.acquire-interval-ms",
    "lock.acquire-timeout-ms",
    "unique-table-location",
    "auth.session-timeout-ms",
    "encryption.kms-type",
    "encryption.kms-impl",
    "rest-catalog-purge",
    "snapshot-loading-mode",
    "rest-metrics-reporting-enabled",
    "view-endpoints-supported",
    "rest-page-size",
    "namespace-separator",
    "scan-planning-mode",
    "token",
    "credential",
    "oauth2-server-uri",
    "token-expires-in-ms",
    "token-refresh-enabled",
    "token-exchange-enabled",
    "scope",
    "audience",
    "resource",
    "suppress-permission-error",
    "list-all-tables",
    "retryable_status_codes"
  )

  private val otherPrefixes: Seq[String] =
    Seq("view-default.", "view-override.", "s3.", "client.", "adls.", "gcs.", "header.", "rest.", "rest-", "fs.")

  /**
   * Refuses keys that look like misspelt ones; keys like no other are left alone, for they may be somebody else's.
   *
   * @param catalog the catalog's name, for the message
   */
  def check(catalog: String, properties: Map[String, String]): Unit = {
    val known = all.map(_.key) ++ others
    for {
      key <- properties.keys.toVector.sorted
      if !(prefixes.map(_.prefix) ++ otherPrefixes).exists(key.startsWith)
      meant <- Spelling.closest(key, known)
    } throw InvalidArgument(s"property of catalog $catalog", key, s"There is no such property. Did you mean $meant?")
  }
}
