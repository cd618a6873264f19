package iceberglite.catalog

import iceberglite.catalog.hive.HiveProperty
import iceberglite.catalog.jdbc.JdbcProperty
import iceberglite.catalog.rest.RestProperty
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.storage.S3Settings

/** The supported properties of all catalog types. */
object CatalogProperties {

  /** The supported properties, in the order of the documentation. */
  def all: Seq[CatalogProperty] = CatalogProperty.all ++ JdbcProperty.all ++ RestProperty.all ++ HiveProperty.all

  /** The prefixes of supported properties, in the order of the documentation. */
  val prefixes: Seq[PropertyPrefix] = CatalogProperty.prefixes :+ RestProperty.Header

  /** Whether this release supports the key. */
  def isKnown(key: String): Boolean = all.exists(_.key == key) || key == RestProperty.OldSigV4 ||
    S3Settings.isKnown(key) || prefixes.filterNot(_ == CatalogProperty.S3).exists(p => key.startsWith(p.prefix))

  /**
   * Rejects keys that are probably misspelled, and properties of Apache Iceberg that this connector does not support
   * and must not ignore.
   *
   * @param catalog the catalog's name, for the message
   * @return the properties that have no effect: the key of each, and the warning to log
   */
  def check(catalog: String, properties: Map[String, String]): Vector[(String, String)] = {
    val kind = IcebergClassNames.kindIfKnown(properties)
    properties.toVector.sorted.flatMap { case (key, value) =>
      if (isKnown(key)) ForeignCatalogProperties.warningOfKind(catalog, kind, key, value).map(key -> _)
      else if (ForeignCatalogProperties.isListed(key))
        ForeignCatalogProperties.warning(catalog, kind, key, value).map(key -> _)
      else Some(key -> unknown(catalog, key))
    }
  }

  /** Returns the warning for an unknown key. @throws InvalidArgument if the key is similar to a known key */
  private def unknown(catalog: String, key: String): String = {
    Spelling.closest(key, all.map(_.key) ++ ForeignCatalogProperties.exactKeys).foreach { similar =>
      throw InvalidArgument(s"property key of catalog $catalog", key, s"There is no such key. Did you mean $similar?")
    }
    s"The property $key of catalog $catalog has no effect. There is no such property"
  }
}
