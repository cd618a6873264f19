package iceberglite.table.action

import iceberglite.spec.MetadataUpdate.AddPartitionSpec
import iceberglite.spec.{PartitionSpec, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Adds a partition spec without partitions, for equality deletes that are to reach all partitions (spec: "Scan
 * Planning"); the table goes on to write by the spec it has. Nothing where one is there.
 */
final class AddUnpartitionedSpec extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change =
    if (base.specs.exists(!_.isPartitioned)) Change(Vector.empty, Vector.empty)
    else Change(Vector(AddPartitionSpec(PartitionSpec.Unpartitioned)), Vector.empty)
}
