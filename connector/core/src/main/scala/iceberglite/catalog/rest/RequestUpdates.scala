package iceberglite.catalog.rest

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate._

/**
 * Converts updates to the form that servers accept. Servers accept [[MetadataUpdate.LastAdded]] only as a reference to
 * an object that the same commit adds. Therefore a schema, partition spec or sort order that the table already has is
 * not sent, and later updates refer to it by its id.
 */
private[catalog] object RequestUpdates {

  def apply(base: TableMetadata, updates: Vector[MetadataUpdate]): Vector[MetadataUpdate] =
    if (!updates.exists(refersToLastAdded)) updates
    else {
      val states = updates.indices.map(i => MetadataUpdate.applyAll(base, updates.take(i + 1), base.lastUpdatedMs))
      updates.indices.foldLeft((Vector.empty[MetadataUpdate], Set.empty[Kind])) { case ((result, known), i) =>
        val before = if (i == 0) base else states(i - 1)
        convert(updates(i), before, states(i), known) match {
          case (update, nowKnown) => (result ++ update, nowKnown)
        }
      }._1
    }

  sealed private trait Kind
  private case object SchemaKind extends Kind
  private case object SpecKind extends Kind
  private case object SortOrderKind extends Kind

  /**
   * Converts one update.
   *
   * @param known the kinds of objects (schema, partition spec, sort order) whose last added object was already in the
   *   table
   * @return the update to send, if any, and the new value of `known`
   */
  private def convert(
      update: MetadataUpdate,
      before: TableMetadata,
      after: TableMetadata,
      known: Set[Kind]
  ): (Option[MetadataUpdate], Set[Kind]) = {
    def added(kind: Kind, isNew: Boolean) = if (isNew) (Some(update), known - kind) else (None, known + kind)
    update match {
      case _: AddSchema =>
        added(SchemaKind, before.schemas != after.schemas || before.lastColumnId != after.lastColumnId)
      case _: AddPartitionSpec => added(SpecKind, before.specs != after.specs)
      case _: AddSortOrder => added(SortOrderKind, before.sortOrders != after.sortOrders)
      case SetCurrentSchema(MetadataUpdate.LastAdded) if known(SchemaKind) =>
        (Some(SetCurrentSchema(after.currentSchemaId)), known)
      case SetDefaultSpec(MetadataUpdate.LastAdded) if known(SpecKind) =>
        (Some(SetDefaultSpec(after.defaultSpecId)), known)
      case SetDefaultSortOrder(MetadataUpdate.LastAdded) if known(SortOrderKind) =>
        (Some(SetDefaultSortOrder(after.defaultSortOrderId)), known)
      case other => (Some(other), known)
    }
  }

  private def refersToLastAdded(update: MetadataUpdate): Boolean = update match {
    case SetCurrentSchema(MetadataUpdate.LastAdded) | SetDefaultSpec(MetadataUpdate.LastAdded) |
        SetDefaultSortOrder(MetadataUpdate.LastAdded) => true
    case _ => false
  }
}
