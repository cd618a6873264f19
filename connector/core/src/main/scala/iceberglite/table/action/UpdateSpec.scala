package iceberglite.table.action

import iceberglite.spec.Requirement.{AssertCurrentSchemaId, AssertDefaultSpecId, AssertLastAssignedPartitionId}
import iceberglite.spec.{SpecUpdate, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Changes how new files are partitioned. It is not applied again to a table whose columns or partitioning somebody else
 * has changed (spec: "Commit Conflict Resolution and Retry").
 *
 * @param edit what is to be done; it may be asked for several bases
 */
final class UpdateSpec(edit: SpecUpdate => SpecUpdate, caseSensitive: Boolean = true) extends MetadataAction {
  private val unmoved = new Unmoved(base =>
    Vector(
      AssertCurrentSchemaId(base.currentSchemaId),
      AssertDefaultSpecId(base.defaultSpecId),
      AssertLastAssignedPartitionId(base.lastPartitionId)
    )
  )

  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val requirements = unmoved.require(base, context)
    Change(edit(SpecUpdate(base, caseSensitive)).updates, requirements)
  }
}
