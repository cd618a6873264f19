package iceberglite.catalog

import iceberglite.io.FileIO
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.table.Environment

/** Makes the catalogs of one kind. */
trait CatalogFamily {

  /** The value of the property `type`. */
  def catalogType: String

  /** @throws iceberglite.spec.IcebergError where a property is missing or wrong */
  def open(name: String, properties: Map[String, String], io: FileIO, environment: Environment): Catalog
}

object Catalogs {

  /** All kinds there are. */
  val all: Seq[CatalogFamily] = Seq(HadoopCatalog, JdbcCatalog, RestCatalog, HiveCatalog)

  /** Kinds that Apache Iceberg has besides. */
  private val notYet: Set[String] = Set("glue", "nessie", "bigquery")

  /**
   * Opens the catalog that the property `type` asks for.
   *
   * @param name as the session calls it
   */
  def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment = Environment.system
  ): Catalog = {
    val warnings = SettingWarnings.ofCatalog(name)
    CatalogProperty.check(name, properties).foreach { case (key, message) => warnings.once(key, message) }
    MovedConfiguration.checkFileIO(name, properties)
    val kind = MovedConfiguration.kindOf(name, properties, kinds)
    all.find(_.catalogType == kind).map(_.open(name, properties, io, environment)).getOrElse {
      if (notYet(kind)) throw Unsupported(s"a catalog of type $kind ($name)", s"This release supports $kinds")
      else throw InvalidArgument(s"type of catalog $name", kind, s"It must be one of $kinds")
    }
  }

  private def kinds: String = all.map(_.catalogType).mkString(", ")
}
