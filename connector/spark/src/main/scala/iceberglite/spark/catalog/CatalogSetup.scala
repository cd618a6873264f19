package iceberglite.spark.catalog

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.{Catalog, CatalogProperty, Catalogs, PathTables}
import iceberglite.io.{CacheBounds, FileIO, HadoopFileIO, SerializableConfiguration, StorageSettings}
import iceberglite.spec.IcebergError.InvalidArgument

/** A catalog as its properties set it up. */
final case class CatalogSetup(
    name: String,
    catalog: Catalog,
    tables: CatalogTables,
    defaultNamespace: Array[String],
    useNullableQuerySchema: Boolean
)

object CatalogSetup {

  /** @param options those under `spark.sql.catalog.<name>.`; the case of their keys counts */
  def of(name: String, options: CaseInsensitiveStringMap, session: SparkSession): CatalogSetup = {
    val properties = options.asCaseSensitiveMap.asScala.toMap
    val io = fileIO(name, properties, session)
    val catalog = Catalogs.open(CatalogProperty.StoredName.in(properties).getOrElse(name), properties, io)
    CatalogSetup(
      name,
      catalog,
      new CatalogTables(catalog, new PathTables(io), new TableCache(expirationMs(name, properties))),
      CatalogProperty.DefaultNamespace.in(properties).fold(Array.empty[String])(_.split('.')),
      flag(name, properties, CatalogProperty.UseNullableQuerySchema.key, default = true)
    )
  }

  private def fileIO(name: String, properties: Map[String, String], session: SparkSession): FileIO = {
    val conf = StorageSettings.configuration(session.sessionState.newHadoopConf(), properties)
    new HadoopFileIO(
      new SerializableConfiguration(conf),
      mayCache = flag(name, properties, CatalogProperty.ManifestCacheEnabled.key, default = true),
      cacheBounds = CacheBounds(
        number(name, properties, CatalogProperty.ManifestCacheBytes),
        number(name, properties, CatalogProperty.ManifestCacheFileBytes),
        number(name, properties, CatalogProperty.ManifestCacheIdleMs).filter(_ > 0)
      ),
      syncs = flag(name, properties, CatalogProperty.SyncEnabled.key, default = false)
    )
  }

  /** 0 where tables are not to be kept. */
  private def expirationMs(name: String, properties: Map[String, String]): Long =
    if (!flag(name, properties, CatalogProperty.CacheEnabled.key, default = true)) 0
    else number(name, properties, CatalogProperty.CacheExpirationMs).getOrElse(0)

  private def number(name: String, properties: Map[String, String], property: CatalogProperty): Option[Long] =
    property.in(properties).orElse(property.default).map(text =>
      Try(text.toLong).getOrElse(
        throw InvalidArgument(s"${property.key} of catalog $name", text, "It must be a whole number")
      )
    )

  private def flag(name: String, properties: Map[String, String], key: String, default: Boolean): Boolean =
    properties.get(key).fold(default)(text =>
      Try(text.trim.toBoolean).getOrElse(
        throw InvalidArgument(s"$key of catalog $name", text, "It must be true or false")
      )
    )
}
