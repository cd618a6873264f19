package iceberglite.catalog

import iceberglite.catalog.hive.HiveCatalog
import iceberglite.catalog.jdbc.JdbcCatalog
import iceberglite.catalog.rest.RestCatalog
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.storage.FileIO
import iceberglite.table.Environment

/** Creates the catalogs of one type. */
trait CatalogFamily {

  /** The value of the property `type`. */
  def catalogType: String

  /** Opens a catalog. @throws iceberglite.spec.IcebergError if a property is missing or invalid */
  def open(name: String, properties: Map[String, String], io: FileIO, environment: Environment): Catalog
}

object Catalogs {

  /** All supported catalog types. */
  val all: Seq[CatalogFamily] = Seq(HadoopCatalog, JdbcCatalog, RestCatalog, HiveCatalog)

  /** The catalog types of Apache Iceberg that are not supported. */
  private val unsupportedTypes: Set[String] = Set("glue", "nessie", "bigquery")

  /**
   * Opens the catalog that the properties `type` or `catalog-impl` select.
   *
   * @param name the name of the catalog in the Spark session
   */
  def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment = Environment.system
  ): Catalog = {
    val warnings = SettingWarnings.ofCatalog(name)
    CatalogProperties.check(name, properties).foreach { case (key, message) => warnings.once(key, message) }
    IcebergClassNames.checkFileIO(name, properties)
    val kind = IcebergClassNames.kindOf(name, properties, kinds)
    all.find(_.catalogType == kind).map(open(_, name, properties, io, environment)).getOrElse {
      if (unsupportedTypes(kind))
        throw Unsupported(
          s"a catalog of type $kind ($name)",
          s"This release supports $kinds. ${IcebergClassNames.RestRecipes}"
        )
      else throw InvalidArgument(s"type of catalog $name", kind, s"It must be one of $kinds")
    }
  }

  /** Opens a catalog, and checks the class of its metrics reporter. */
  private def open(
      family: CatalogFamily,
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    val keys = KeyServices.of(name, properties)
    val catalog = family.open(name, properties, keys.fold(io)(io.withKeyService), environment)
    catalog.reports
    catalog
  }

  private def kinds: String = all.map(_.catalogType).mkString(", ")
}
