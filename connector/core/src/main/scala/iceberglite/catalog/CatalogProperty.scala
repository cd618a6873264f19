package iceberglite.catalog

import scala.util.Try

import iceberglite.encryption.{KeyService, KeyStoreManagement}
import iceberglite.table
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.Declarations
import iceberglite.storage.{S3Settings, StorageSettings}

/**
 * A supported catalog property (`spark.sql.catalog.<name>.<key>`).
 *
 * @param default the default value; absent if the property has no default, or if its default is not constant
 */
final case class CatalogProperty(key: String, default: Option[String], doc: String) {

  /** Returns the configured value without surrounding whitespace; `None` if it is absent or empty. */
  def in(properties: Map[String, String]): Option[String] = properties.get(key).map(_.trim).filter(_.nonEmpty)

  /** Returns the configured value, or the default. */
  def value(properties: Map[String, String]): Option[String] = in(properties).orElse(default)

  /** Returns the value of a required property. @param catalog the catalog's name, for the message */
  def require(catalog: String, properties: Map[String, String], example: String): String = in(properties).getOrElse(
    throw InvalidArgument(
      s"$key of catalog $catalog",
      "(not set)",
      s"The property is required ($doc). Set it, for example to $example"
    )
  )

  /**
   * Parses the value.
   *
   * @param catalog the catalog's name, for the message
   * @param expected description of valid values, as a sentence
   * @param parser returns `None` for an invalid value
   */
  def parse[A](catalog: String, properties: Map[String, String], expected: String)(
      parser: String => Option[A]
  ): Option[A] = value(properties).map { text =>
    parser(text).getOrElse(throw InvalidArgument(s"$key of catalog $catalog", text, expected))
  }

  /** Parses the value as true or false. Returns false if the property has neither a value nor a default. */
  def flag(catalog: String, properties: Map[String, String]): Boolean =
    parse(catalog, properties, "It must be true or false")(text => Try(text.toBoolean).toOption).contains(true)

  /** Parses the value as a whole number. */
  def number(catalog: String, properties: Map[String, String], minimum: Long = Long.MinValue): Option[Long] = {
    val expected = "It must be a whole number" + (if (minimum == Long.MinValue) "" else s" of at least $minimum")
    parse(catalog, properties, expected)(text => Try(text.toLong).toOption.filter(_ >= minimum))
  }
}

/** A group of catalog properties whose keys have a common prefix. */
final case class PropertyPrefix(prefix: String, doc: String) {

  /** Returns the properties whose keys have the prefix. The keys in the result do not contain the prefix. */
  def in(properties: Map[String, String]): Map[String, String] =
    properties.collect { case (key, value) if key.startsWith(prefix) => key.substring(prefix.length) -> value }
}

object CatalogProperty {
  private val declared = new Declarations[CatalogProperty]
  private val declaredPrefixes = new Declarations[PropertyPrefix]

  val Type: CatalogProperty = declared(CatalogProperty("type", None, "Type of the catalog: hadoop, jdbc, rest or hive"))
  val CatalogImpl: CatalogProperty = declared(CatalogProperty(
    "catalog-impl",
    None,
    "Catalog class of Apache Iceberg in place of the type, such as org.apache.iceberg.hadoop.HadoopCatalog"
  ))
  val FileIOImpl: CatalogProperty = declared(CatalogProperty(
    "io-impl",
    None,
    "FileIO class of Apache Iceberg; HadoopFileIO, ResolvingFileIO and S3FileIO are accepted and have no effect"
  ))
  val Region: CatalogProperty = declared(CatalogProperty("client.region", None, "Region of the S3 store"))
  val Warehouse: CatalogProperty = declared(CatalogProperty("warehouse", None, "Directory in which tables are created"))
  val Uri: CatalogProperty = declared(CatalogProperty(
    "uri",
    None,
    "URI of the catalog's database, REST server or Hive Metastore"
  ))
  val CacheEnabled: CatalogProperty =
    declared(CatalogProperty("cache-enabled", Some("true"), "Whether loaded tables are cached"))
  val CacheExpirationMs: CatalogProperty = declared(CatalogProperty(
    "cache.expiration-interval-ms",
    Some("30000"),
    "Time for which a loaded table is used without asking the catalog for a newer version; 0 asks each time, -1 " +
      "never asks"
  ))
  val ManifestCacheEnabled: CatalogProperty = declared(CatalogProperty(
    "io.manifest.cache-enabled",
    Some("true"),
    "Whether decoded manifests, which never change, are cached"
  ))
  val ManifestCacheBytes: CatalogProperty = declared(CatalogProperty(
    "io.manifest.cache.max-total-bytes",
    None,
    "Maximum estimated memory of cached manifests; by default the smaller of 512 MB and 15 % of the heap"
  ))
  val ManifestCacheFileBytes: CatalogProperty = declared(CatalogProperty(
    "io.manifest.cache.max-content-length",
    None,
    "Maximum size of a manifest that is cached, in bytes"
  ))
  val ManifestCacheIdleMs: CatalogProperty = declared(CatalogProperty(
    "io.manifest.cache.expiration-interval-ms",
    None,
    "Time after which an unused manifest is removed from the cache"
  ))
  val SyncEnabled: CatalogProperty = declared(CatalogProperty(
    "io.sync-enabled",
    Some("false"),
    "Whether written files and commits on a local file system are synced to the device before the operation continues"
  ))
  val UseNullableQuerySchema: CatalogProperty = declared(CatalogProperty(
    "use-nullable-query-schema",
    Some("true"),
    "Whether all columns of a CREATE TABLE AS SELECT are nullable"
  ))
  val StoredName: CatalogProperty = declared(CatalogProperty(
    "catalog-name",
    None,
    "Name under which a JDBC catalog stores its tables in the database; by default the name of the catalog in the " +
      "session"
  ))
  val DefaultNamespace: CatalogProperty = declared(CatalogProperty(
    "default-namespace",
    None,
    "Namespace that becomes current when a session switches to this catalog"
  ))
  val UniqueTableLocation: CatalogProperty = declared(CatalogProperty(
    "unique-table-location",
    Some("false"),
    "Whether the default location of a new table ends with a unique suffix, so that a table that is dropped and " +
      "created again gets another location; only for catalogs of type jdbc and hive"
  ))
  val OwnedLocations: CatalogProperty = declared(CatalogProperty(
    "owned-locations",
    None,
    "Comma-separated list of additional directories in which a table owns <directory>/<namespace>/<table>; the files " +
      "in this subdirectory are deleted with the table's other files"
  ))
  val Clients: CatalogProperty = declared(CatalogProperty(
    "clients",
    Some("2"),
    "Maximum number of connections of a JDBC or Hive catalog; always one for SQLite"
  ))
  val MetricsReporterImpl: CatalogProperty = declared(CatalogProperty(
    "metrics-reporter-impl",
    None,
    "Class that implements iceberglite.table.MetricsReporter and receives the metrics of scans and commits; " +
      "org.apache.iceberg.metrics.LoggingMetricsReporter writes them to the log"
  ))

  val KmsType: CatalogProperty = declared(CatalogProperty(
    KeyService.TypeOption,
    None,
    s"Key management service for encrypted tables; the only type is ${KeyService.KeyStoreType}, a key store file of " +
      "Java"
  ))
  val KmsImpl: CatalogProperty = declared(CatalogProperty(
    KeyService.ClassOption,
    None,
    "Class that implements iceberglite.encryption.KeyManagement, for other key management services"
  ))
  val KeyStorePath: CatalogProperty = declared(CatalogProperty(
    KeyStoreManagement.PathOption,
    None,
    "Local path of the key store file (PKCS12), which contains the master keys of tables"
  ))
  val KeyStorePasswordEnv: CatalogProperty = declared(CatalogProperty(
    KeyStoreManagement.PasswordEnvOption,
    None,
    "Name of the environment variable of the driver that contains the password of the key store"
  ))
  val KeyStorePasswordFile: CatalogProperty = declared(CatalogProperty(
    KeyStoreManagement.PasswordFileOption,
    None,
    "Local path of a file that contains the password of the key store"
  ))

  val Kms: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "encryption.kms.",
    "Setting of the class that encryption.kms-impl selects"
  ))
  val TableDefault: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "table-default.",
    "Default of a table property, for new tables that do not set this property"
  ))
  val TableOverride: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "table-override.",
    "Table property of all new tables, which overrides the value in CREATE TABLE"
  ))
  val ViewDefault: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "view-default.",
    "Default of a view property, for new views that do not set this property"
  ))
  val ViewOverride: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "view-override.",
    "View property of all new views, which overrides the value in CREATE VIEW"
  ))
  val OwnedLocationsOf: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    "owned-locations.",
    "Comma-separated list of directories that belong to one table: owned-locations.<namespace>.<table>"
  ))
  val Jdbc: PropertyPrefix =
    declaredPrefixes(PropertyPrefix("jdbc.", "Setting of the JDBC driver: jdbc.user, jdbc.password, ..."))
  val Hadoop: PropertyPrefix =
    declaredPrefixes(PropertyPrefix(StorageSettings.HadoopPrefix, "Setting of this catalog's Hadoop configuration"))
  val S3: PropertyPrefix = declaredPrefixes(PropertyPrefix(
    S3Settings.Prefix,
    s"S3 settings under the names of Apache Iceberg; supported are ${S3Settings.keys.mkString(", ")} and " +
      s"${S3Settings.TagPrefix}*, which sets tags"
  ))

  /** The properties that this object declares, in the order of the documentation. */
  private[catalog] val all: Seq[CatalogProperty] = declared.all

  /** The prefixes of properties that this object declares, in the order of the documentation. */
  private[catalog] val prefixes: Seq[PropertyPrefix] = declaredPrefixes.all

  /**
   * Returns the locations that tables own in addition to the locations that the catalog assigns to them. Users
   * configure these locations with `owned-locations` and `owned-locations.*`.
   */
  def ownedLocations(properties: Map[String, String]): table.OwnedLocations = {
    def parseLocations(text: String) =
      text.split(',').map(_.trim).filter(_.nonEmpty).map(iceberglite.catalog.Warehouse.of).toVector
    table.OwnedLocations(
      OwnedLocations.in(properties).fold(Vector.empty[String])(parseLocations),
      OwnedLocationsOf.in(properties).map {
        case (table, text) => table -> parseLocations(text)
      }
    )
  }

  private[catalog] def clients(catalog: String, properties: Map[String, String]): Int =
    Clients.number(catalog, properties, minimum = 1).fold(1)(n => math.min(n, Int.MaxValue.toLong).toInt)

}
