package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.PartitionSpecChanges
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertDefaultSpecId, AssertLastAssignedPartitionId}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Changes the partition spec for new files. If a concurrent commit changed the columns or the partitioning, the commit
 * fails without a retry (spec: "Commit Conflict Resolution and Retry").
 *
 * @param edit applies the changes to a partition spec; called for each commit attempt, with the partition spec of the
 *   metadata that the attempt is based on
 */
final class UpdatePartitionSpec(edit: PartitionSpecChanges => PartitionSpecChanges, caseSensitive: Boolean = true)
    extends MetadataAction {
  private val baseRequirements = new BaseRequirements(base =>
    Vector(
      AssertCurrentSchemaId(base.currentSchemaId),
      AssertDefaultSpecId(base.defaultSpecId),
      AssertLastAssignedPartitionId(base.lastPartitionId)
    )
  )

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val requirements = baseRequirements.require(base, context)
    Change(edit(PartitionSpecChanges(base, caseSensitive)).updates, requirements)
  }
}
