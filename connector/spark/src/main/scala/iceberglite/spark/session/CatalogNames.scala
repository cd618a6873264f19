package iceberglite.spark.session

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{CatalogNotFoundException, CatalogPlugin, Identifier}

/** Resolves multipart names in a session, with the same rules as Spark. */
object CatalogNames {

  /** The name of Spark's session catalog. */
  val SessionCatalog = "spark_catalog"

  /** Whether a catalog with the given name is configured. */
  def isRegistered(session: SparkSession, name: String): Boolean = registered(session, name).isDefined

  /**
   * Returns the catalog, and the name within the catalog. The session's current catalog and namespace are the defaults.
   */
  def resolve(session: SparkSession, name: Seq[String]): (CatalogPlugin, Identifier) =
    resolveIn(session, session.sessionState.catalogManager.currentCatalog, name)

  /**
   * Resolves a name like [[resolve]], but uses `default` instead of the current catalog. If `default` is not the
   * current catalog, a name of one part is looked up in the default namespace of `default`.
   */
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

  /**
   * Returns the catalog and the levels of a namespace. Without parts, these are the session's current catalog and
   * namespace.
   */
  def resolveNamespace(session: SparkSession, parts: Seq[String]): (CatalogPlugin, Seq[String]) = {
    val manager = session.sessionState.catalogManager
    if (parts.isEmpty) (manager.currentCatalog, manager.currentNamespace.toSeq)
    else registered(session, parts.head).fold((manager.currentCatalog, parts))((_, parts.tail))
  }

  /**
   * Returns the catalog with the given name, if it is configured. If its configuration is invalid, the error is thrown.
   */
  private def registered(session: SparkSession, name: String): Option[CatalogPlugin] =
    try Some(session.sessionState.catalogManager.catalog(name))
    catch { case _: CatalogNotFoundException => None }

  private def identifier(parts: Seq[String]): Identifier = Identifier.of(parts.init.toArray, parts.last)
}
