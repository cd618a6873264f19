package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{UnboundField, UnboundSortField}
import iceberglite.spec.update.MetadataUpdate.{AddSortOrder, LastAdded, SetDefaultSortOrder}
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertDefaultSortOrderId}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Changes the sort order of rows in new files. If a concurrent commit changed the columns or the sort order, the commit
 * fails without a retry.
 *
 * @param fields the fields of the sort order; empty for an unsorted table
 */
final class UpdateSortOrder(fields: Vector[UnboundSortField], caseSensitive: Boolean = true) extends MetadataAction {
  private val baseRequirements = new BaseRequirements(base =>
    Vector(AssertCurrentSchemaId(base.currentSchemaId), AssertDefaultSortOrderId(base.defaultSortOrderId))
  )

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val requirements = baseRequirements.require(base, context)
    val order = UnboundField.sortOrder(base.schema, fields, caseSensitive)
    Change(Vector(AddSortOrder(order), SetDefaultSortOrder(LastAdded)), requirements)
  }
}
