package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{CatalogNotFoundException, CatalogPlugin, Identifier}

/** What a name of several parts stands for in a session, as Spark's own resolution has it. */
object CatalogNames {

  /** The catalog and the name in it; the session's current catalog and namespace stand in where they are left out. */
  def resolve(session: SparkSession, name: Seq[String]): (CatalogPlugin, Identifier) =
    resolveIn(session, session.sessionState.catalogManager.currentCatalog, name)

  /** The same, where another catalog, and its default namespace, stand in for those that are left out. */
  def resolveIn(session: SparkSession, default: CatalogPlugin, name: Seq[String]): (CatalogPlugin, Identifier) = {
    val manager = session.sessionState.catalogManager
    name match {
      case Seq(table) =>
        val isCurrent = default.name == manager.currentCatalog.name
        (default, Identifier.of(if (isCurrent) manager.currentNamespace else default.defaultNamespace, table))
      case parts => registered(session, parts.head) match {
          case Some(catalog) => (catalog, identifier(parts.tail))
          case None => (default, identifier(parts))
        }
    }
  }

  /** The catalog of that name. Errors of one that is configured, but wrongly, come out. */
  private def registered(session: SparkSession, name: String): Option[CatalogPlugin] =
    try Some(session.sessionState.catalogManager.catalog(name))
    catch { case _: CatalogNotFoundException => None }

  private def identifier(parts: Seq[String]): Identifier = Identifier.of(parts.init.toArray, parts.last)
}
