package iceberglite.spark.catalog

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.{Catalog, CatalogProperty, Catalogs, PathTables, SettingWarnings}
import iceberglite.spark.conf.{SessionSettings, TablePropertyCheck}
import iceberglite.spark.session.{BucketingSettings, TableCache}
import iceberglite.storage.{CacheBounds, FileIO, HadoopFileIO, SerializableConfiguration, StorageSettings}

/** A configured catalog, and its settings for the Spark catalog. */
final case class CatalogSetup(
    name: String,
    catalog: Catalog,
    tables: CatalogTables,
    defaultNamespace: Array[String],
    useNullableQuerySchema: Boolean
)

object CatalogSetup {

  /**
   * Sets up a catalog.
   *
   * @param options the properties below `spark.sql.catalog.<name>.`, with case-sensitive keys
   * @param mayAllowPaths whether the catalog may accept paths as table names; it accepts them only if its type supports
   *   paths
   */
  def of(
      name: String,
      options: CaseInsensitiveStringMap,
      session: SparkSession,
      mayAllowPaths: Boolean
  ): CatalogSetup = {
    val properties = options.asCaseSensitiveMap.asScala.toMap
    BucketingSettings.enable(session)
    val io = fileIO(name, properties, session)
    checkTableProperties(name, properties)
    val catalog = Catalogs.open(name, properties, io)
    val paths = new PathTables(catalog.io)
    CatalogSetup(
      name,
      catalog,
      new CatalogTables(
        name,
        catalog,
        Some(paths).filter(_ => mayAllowPaths && catalog.allowsPaths),
        new TableCache(expirationMs(name, properties))
      ),
      CatalogProperty.DefaultNamespace.in(properties).fold(Array.empty[String])(_.split('.')),
      CatalogProperty.UseNullableQuerySchema.flag(name, properties)
    )
  }

  private def fileIO(name: String, properties: Map[String, String], session: SparkSession): FileIO = {
    val conf = StorageSettings.configuration(session.sessionState.newHadoopConf(), properties)
    SessionSettings.checkEnvironment(session, conf)
    new HadoopFileIO(
      new SerializableConfiguration(conf),
      mayCache = CatalogProperty.ManifestCacheEnabled.flag(name, properties),
      cacheBounds = CacheBounds(
        CatalogProperty.ManifestCacheBytes.number(name, properties),
        CatalogProperty.ManifestCacheFileBytes.number(name, properties),
        CatalogProperty.ManifestCacheIdleMs.number(name, properties).filter(_ > 0)
      ),
      syncs = CatalogProperty.SyncEnabled.flag(name, properties)
    )
  }

  private def checkTableProperties(name: String, properties: Map[String, String]): Unit =
    for (prefix <- Seq(CatalogProperty.TableDefault, CatalogProperty.TableOverride)) TablePropertyCheck.check(
      s"catalog $name, ${prefix.prefix}*",
      prefix.in(properties),
      SettingWarnings.ofCatalog(name)
    )

  /**
   * Returns the time in ms after which a cached table expires. It is 0 if tables are not cached, and negative if cached
   * tables do not expire.
   */
  private def expirationMs(name: String, properties: Map[String, String]): Long =
    if (!CatalogProperty.CacheEnabled.flag(name, properties)) 0
    else CatalogProperty.CacheExpirationMs.number(name, properties).getOrElse(0)
}
