package iceberglite.spark.view

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
}
