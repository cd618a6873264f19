package iceberglite.catalog

import iceberglite.spec.schema.Schema
import iceberglite.spec.view.{ViewMetadata, ViewRepresentation, ViewVersion}

/**
 * The definition of a new view or of a new version of a view.
 *
 * @param schema the columns of the view with their names and comments
 * @param query the query in one SQL dialect
 * @param summary the entries of the version's summary, such as the engine
 * @param defaultCatalog the default catalog for names in the query; if absent, the view's own catalog
 */
final case class ViewDefinition(
    schema: Schema,
    query: ViewRepresentation.Sql,
    summary: Map[String, String],
    defaultCatalog: Option[String],
    defaultNamespace: Vector[String]
) {

  /**
   * Returns the new version. Its id is assigned when the change is committed.
   *
   * @param schemaId the id of the schema; `-1` refers to the schema that the change added last
   * @param base the metadata of the view that is replaced. Its queries in other SQL dialects are kept, unless the
   *   property `replace.drop-dialect.allowed` is true
   */
  private[catalog] def version(base: Option[ViewMetadata], schemaId: Int, nowMs: Long): ViewVersion = {
    val kept = base.filterNot(allowsLostDialects).toVector.flatMap(_.currentVersion.representations).filter {
      case ViewRepresentation.Sql(_, dialect) => !dialect.equalsIgnoreCase(query.dialect)
      case _: ViewRepresentation.Unknown => true
    }
    ViewVersion(1, schemaId, nowMs, summary, query +: kept, defaultCatalog, defaultNamespace)
  }

  private def allowsLostDialects(view: ViewMetadata): Boolean =
    view.properties.get(ViewMetadata.DropDialectProperty).exists(_.equalsIgnoreCase("true"))
}
