package iceberglite.spec.update

import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.SortOrder

/** Updates of the sort orders of a table. */
private[update] object SortOrders {

  /**
   * Adds a sort order, unless the table already has an equal sort order. Returns the new metadata and the id of the
   * order.
   */
  def add(m: TableMetadata, order: SortOrder): (TableMetadata, Int) = {
    order.fields.flatMap(_.sourceIds).filterNot(id => m.schemas.exists(_.byId.contains(id))).foreach { id =>
      throw ValidationFailed(s"The sort order uses field $id, which no schema of the table has")
    }
    m.sortOrders.find(_.fields == order.fields) match {
      case Some(same) => (m, same.orderId)
      case None =>
        // Spec, "Sorting": the id 0 is reserved for the unsorted order, even if the table does not list it.
        val unsorted = SortOrder.Unsorted.orderId
        val id = if (order.isSorted) m.sortOrders.map(_.orderId).foldLeft(unsorted)(_ max _) + 1 else unsorted
        (m.copy(sortOrders = m.sortOrders :+ order.copy(orderId = id)), id)
    }
  }

  def setDefault(m: TableMetadata, id: Int): TableMetadata = {
    if (!m.sortOrders.exists(_.orderId == id)) {
      throw NotFound(ObjectKind.SortOrder, id.toString, "Add the sort order before it becomes the default")
    }
    m.copy(defaultSortOrderId = id)
  }
}
