package iceberglite.spark

import java.util
import java.util.Optional

import scala.annotation.nowarn

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{
  CatalogPlugin,
  Identifier,
  SessionConfigSupport,
  SupportsCatalogOptions,
  Table,
  TableCatalog
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.catalog.{HadoopCatalog, PathTables}
import iceberglite.spark.catalog.{PathName, Providers}
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.storage.StorageSettings

/**
 * The data source `iceberg-lite`. If the argument of `load` or `save` has a slash, it is a path; otherwise, it is the
 * name of a table in a configured catalog or in the current catalog. The options `snapshot-id`, `as-of-timestamp`,
 * `branch`, `tag`, `versionAsOf` and `timestampAsOf` select the snapshot to read; at most one of them may be set.
 */
class IcebergSource extends DataSourceRegister with SupportsCatalogOptions with SessionConfigSupport {

  override def shortName(): String = Providers.IcebergLite

  /**
   * `spark.datasource.iceberg.<option>` sets an option for all reads and writes with this data source, as in Apache
   * Iceberg.
   */
  override def keyPrefix: String = "iceberg"

  override def extractCatalog(options: CaseInsensitiveStringMap): String = resolve(options)._1.name

  override def extractIdentifier(options: CaseInsensitiveStringMap): Identifier = {
    val (_, ident) = resolve(options)
    travelOf(options) match {
      case TimeTravel.Latest | _: TimeTravel.AtVersion => ident
      case travel => Identifier.of(ident.namespace :+ ident.name, travel.selector)
    }
  }

  override def extractTimeTravelVersion(options: CaseInsensitiveStringMap): Optional[String] =
    travelOf(options) match {
      case TimeTravel.AtVersion(version) => Optional.of(version)
      case _ => Optional.empty()
    }

  private def travelOf(options: CaseInsensitiveStringMap): TimeTravel =
    SparkErrors.in(pathOrName(options))(TimeTravel.ofOptions(options))

  @nowarn("cat=deprecation") // iceberg-lite tables implement `schema`; Spark derives `columns` from `schema`
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = load(options).schema

  override def inferPartitioning(options: CaseInsensitiveStringMap): Array[Transform] = load(options).partitioning

  override def getTable(schema: StructType, partitions: Array[Transform], options: util.Map[String, String]): Table =
    load(new CaseInsensitiveStringMap(options))

  override def supportsExternalMetadata: Boolean = true

  private def load(options: CaseInsensitiveStringMap): Table = {
    val (catalog, _) = resolve(options)
    val (ident, version) = (extractIdentifier(options), extractTimeTravelVersion(options))
    if (version.isPresent) catalog.loadTable(ident, version.get) else catalog.loadTable(ident)
  }

  private def resolve(options: CaseInsensitiveStringMap): (TableCatalog, Identifier) = {
    val (session, name) = (SparkSession.active, pathOrName(options))
    if (PathName.isPath(name)) (IcebergSource.catalogOfPaths(session), identifierOf(name))
    else CatalogNames.resolve(session, session.sessionState.sqlParser.parseMultipartIdentifier(name)) match {
      case (catalog: LiteCatalog, ident) => (catalog, ident)
      case (other, _) => throw IcebergSource.notIcebergTable(name, other)
    }
  }

  /** Returns an identifier with the absolute path, so that the identifier does not depend on the working directory. */
  private def identifierOf(path: String): Identifier = Identifier.of(Array.empty, PathTables.identifier(path).name)

  private def pathOrName(options: CaseInsensitiveStringMap): String = Option(options.get("path")).getOrElse {
    throw SparkErrors.of(
      Providers.IcebergLite,
      InvalidArgument(
        "path or table name",
        String.valueOf(options.get("paths")),
        s"Pass one path (with a slash) or the name of one table to format(${Providers.IcebergLite})"
      )
    )
  }
}

object IcebergSource {

  /**
   * The name of the catalog that loads tables by path if the session's current catalog does not support paths. If the
   * storage settings of the current catalog are used, the name of the current catalog is appended.
   */
  private val PathCatalogName = "iceberg_lite_paths"

  private def catalogOfPaths(session: SparkSession): TableCatalog =
    session.sessionState.catalogManager.currentCatalog match {
      case catalog: LiteCatalog if catalog.allowsPaths => catalog
      case catalog: LiteCatalog =>
        pathCatalog(session, storageOf(session, catalog.name), s"${PathCatalogName}_${catalog.name}")
      case _ => pathCatalog(session, Map.empty, PathCatalogName)
    }

  /**
   * Returns the storage settings of a configured catalog. Tables at paths are read with the storage settings, and
   * therefore the credentials, of the current catalog.
   */
  private def storageOf(session: SparkSession, catalog: String): Map[String, String] = {
    val prefix = s"spark.sql.catalog.$catalog."
    StorageSettings.of(session.conf.getAll.collect {
      case (key, value) if key.startsWith(prefix) => key.substring(prefix.length) -> value
    })
  }

  private def pathCatalog(session: SparkSession, storage: Map[String, String], storageName: String): TableCatalog = {
    val name = if (storage.isEmpty) PathCatalogName else storageName
    val prefix = s"spark.sql.catalog.$name"
    if (session.conf.getOption(prefix).isEmpty) {
      val warehouse = session.sessionState.conf.warehousePath
      val settings = storage ++ Map("type" -> HadoopCatalog.catalogType, "warehouse" -> warehouse)
      settings.foreach { case (key, value) => session.conf.set(s"$prefix.$key", value) }
      session.conf.set(prefix, classOf[SparkCatalog].getName)
    }
    session.sessionState.catalogManager.catalog(name) match {
      case catalog: LiteCatalog => catalog
      case other => throw SparkErrors.of(
          prefix,
          InvalidArgument(prefix, other.getClass.getName, s"It must be ${classOf[SparkCatalog].getName}")
        )
    }
  }

  private def notIcebergTable(name: String, catalog: CatalogPlugin): Exception = SparkErrors.of(
    name,
    InvalidArgument(
      s"table for format(${Providers.IcebergLite})",
      name,
      s"The catalog ${catalog.name} of this table is not an iceberg-lite catalog. Begin the name with a catalog " +
        s"whose class is ${classOf[SparkCatalog].getName}, USE that catalog, or pass a path (with a slash)"
    )
  )
}
