package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.update.MetadataUpdate.AddPartitionSpec
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Adds an unpartitioned partition spec, for equality deletes that apply to all partitions (spec: "Scan Planning"). The
 * table's default partition spec does not change. If the table already has an unpartitioned spec, nothing is committed.
 */
final class AddUnpartitionedSpec extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change =
    if (base.specs.exists(!_.isPartitioned)) Change(Vector.empty, Vector.empty)
    else Change(Vector(AddPartitionSpec(PartitionSpec.Unpartitioned)), Vector.empty)
}
