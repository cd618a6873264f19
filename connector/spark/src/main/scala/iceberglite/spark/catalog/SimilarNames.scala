package iceberglite.spark.catalog

import scala.util.Try

import iceberglite.catalog.Catalog
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.Spelling
import iceberglite.table.TableIdentifier

/** Suggestions for missing tables. */
object SimilarNames {

  /**
   * Returns a name in the namespace that is so similar to the missing name that the difference may be a typing error.
   */
  def of(catalog: Catalog, id: TableIdentifier): Option[String] =
    Spelling.closest(id.name, Try(catalog.listTables(id.namespace)).getOrElse(Vector.empty).map(_.name))

  def withSuggestion(missing: NotFound, catalog: Catalog, id: TableIdentifier): NotFound =
    of(catalog, id).fold(missing)(similar => missing.copy(advice = s"Did you mean $similar?"))
}
