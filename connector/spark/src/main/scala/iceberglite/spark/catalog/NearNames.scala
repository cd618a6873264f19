package iceberglite.spark.catalog

import scala.util.Try

import iceberglite.catalog.{Catalog, Spelling}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.table.TableIdentifier

/** The table that the user may have meant. */
object NearNames {

  /** A name in the namespace that differs from this one by a slip of the pen. */
  def of(catalog: Catalog, id: TableIdentifier): Option[String] =
    Spelling.closest(id.name, Try(catalog.listTables(id.namespace)).getOrElse(Vector.empty).map(_.name))

  def addedTo(missing: NotFound, catalog: Catalog, id: TableIdentifier): NotFound =
    of(catalog, id).fold(missing)(near => missing.copy(instead = s"Did you mean $near?"))
}
