package iceberglite.spark.view

import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.{NotFound, Unsupported}
import iceberglite.spec.ObjectKind

/** The Iceberg views in Spark's session catalog, beside Spark's own views. */
private[iceberglite] object SessionViews {

  /**
   * Returns the names of the Iceberg views in a namespace. There are none if the Iceberg catalog does not have the
   * namespace, or if it cannot store views: a JDBC catalog of schema version V0, or a REST server without views.
   */
  def names(catalog: LiteCatalog, namespace: Seq[String]): Seq[String] =
    try catalog.viewCatalog.toSeq.flatMap(_.listViews(namespace.toVector)).map(_.name)
    catch {
      case NotFound(ObjectKind.Namespace, _, _) | _: Unsupported => Nil
    }
}
