package iceberglite.catalog

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/**
 * Interprets class names of Apache Iceberg in a catalog's configuration, so that users can keep a configuration that
 * they wrote for Apache Iceberg.
 */
private[catalog] object IcebergClassNames {
  private val Package = "org.apache.iceberg"

  /** The advice to users of catalogs that are supported only through their REST servers. */
  val RestRecipes: String =
    "Glue, S3 Tables, Nessie, Polaris, Unity Catalog and Lakekeeper have REST servers: use type=rest with the " +
      "settings in docs/catalogs/rest-servers.md"

  private val kinds: Map[String, String] = Map(
    s"$Package.hadoop.HadoopCatalog" -> "hadoop",
    s"$Package.jdbc.JdbcCatalog" -> "jdbc",
    s"$Package.rest.RESTCatalog" -> "rest",
    s"$Package.hive.HiveCatalog" -> "hive"
  )

  /**
   * The `FileIO` classes of Apache Iceberg that are accepted in `io-impl`. This connector uses Hadoop's file systems
   * instead of these classes. [[iceberglite.storage.S3Settings]] supports the settings of `S3FileIO`.
   */
  private val replacedFileIOs: Set[String] =
    Set(s"$Package.hadoop.HadoopFileIO", s"$Package.io.ResolvingFileIO", s"$Package.aws.s3.S3FileIO")

  /**
   * Returns the type of catalog that a configuration selects by `type` or `catalog-impl`.
   *
   * @param name the name of the catalog, for messages
   * @param supported the supported types, for messages
   */
  def kindOf(name: String, properties: Map[String, String], supported: String): String =
    CatalogProperty.CatalogImpl.in(properties) match {
      case None => CatalogProperty.Type.require(name, properties, "hadoop").toLowerCase
      case Some(impl) =>
        val kind = kinds.getOrElse(
          impl,
          throw Unsupported(
            s"${CatalogProperty.CatalogImpl.key}=$impl in catalog $name",
            s"Classes of other implementations are not loaded. Remove this setting, and set type to one of " +
              s"$supported. $RestRecipes"
          )
        )
        CatalogProperty.Type.in(properties).filterNot(_.equalsIgnoreCase(kind)).foreach { other =>
          throw InvalidArgument(
            s"type of catalog $name",
            other,
            s"It contradicts catalog-impl, which selects the type $kind; remove one of the two properties"
          )
        }
        kind
    }

  /**
   * Returns the catalog type in a configuration that has not been checked yet; an empty string if the configuration
   * selects no known type.
   */
  def kindIfKnown(properties: Map[String, String]): String =
    CatalogProperty.CatalogImpl.in(properties).flatMap(kinds.get)
      .orElse(CatalogProperty.Type.in(properties)).fold("")(_.toLowerCase)

  /** Checks the property `io-impl`. @throws Unsupported if Hadoop's file systems cannot replace the class */
  def checkFileIO(name: String, properties: Map[String, String]): Unit =
    CatalogProperty.FileIOImpl.in(properties).filterNot(replacedFileIOs).foreach { impl =>
      throw Unsupported(
        s"${CatalogProperty.FileIOImpl.key}=$impl in catalog $name",
        "Files are read and written by Hadoop's file systems. Remove this setting, and set the properties of the " +
          s"file system with the prefix ${CatalogProperty.Hadoop.prefix}, such as hadoop.fs.gs.project.id"
      )
    }
}
