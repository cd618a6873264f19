package iceberglite.spark.view

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.CatalogTableType
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}

import iceberglite.spark.catalog.Providers
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind

/** The Iceberg views in Spark's session catalog, which also contains Spark's own views. */
private[iceberglite] object SessionViews {

  /**
   * Returns the names of the Iceberg views in a namespace. There are none if the Iceberg catalog does not have the
   * namespace, or if it cannot store views.
   */
  def names(catalog: LiteCatalog, namespace: Seq[String]): Seq[String] =
    try catalog.viewCatalog.toSeq.flatMap(_.listViewsIfSupported(namespace.toVector)).map(_.name)
    catch { case NotFound(ObjectKind.Namespace, _, _) => Nil }

  /**
   * Whether `CREATE VIEW` is a statement about an Iceberg view. Spark handles the statement if the namespace does not
   * exist, because Spark manages the namespaces; if a view of Spark has the name, because `OR REPLACE` does not change
   * the kind of a view; and if the Iceberg catalog cannot store views. With the property `provider`, the user requests
   * an Iceberg view.
   */
  def createsIceberg(session: SparkSession, view: ViewName, properties: Map[String, String]): Boolean =
    SparkErrors.in(view.toString) {
      lazy val isRequested = properties.get(TableCatalog.PROP_PROVIDER).exists(_.equalsIgnoreCase(Providers.Iceberg))
      lazy val isTaken = view.find().isDefined || view.catalog.isIcebergTable(view.ident)
      view.catalog.namespaceExists(view.ident.namespace) &&
      (isRequested || view.views.canStoreViews && !isSparkView(session, view.ident) || isTaken)
    }

  /**
   * Whether `DROP VIEW` is a statement about an Iceberg view or about no view at all. Spark handles the statement if an
   * object of Spark has the name.
   */
  def dropsIceberg(session: SparkSession, view: ViewName): Boolean = SparkErrors.in(view.toString) {
    view.find().isDefined || view.views.canStoreViews && inSpark(view.ident).exists(!isInSpark(session, _))
  }

  /** Whether a view of Spark has the name. */
  def isSparkView(session: SparkSession, ident: Identifier): Boolean = inSpark(ident).exists { name =>
    isInSpark(session, name) && session.sessionState.catalog.getTableMetadata(name).tableType == CatalogTableType.VIEW
  }

  private def isInSpark(session: SparkSession, name: TableIdentifier): Boolean =
    session.sessionState.catalog.tableExists(name)

  /** Returns the name in Spark's catalog, whose namespaces have one level. */
  private def inSpark(ident: Identifier): Option[TableIdentifier] = ident.namespace match {
    case Array(database) => Some(TableIdentifier(ident.name, Some(database)))
    case _ => None
  }
}
