package iceberglite.tree.root

import iceberglite.spec.TestMetadata
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestEntry}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{PartitionSpec, TableExpression}
import iceberglite.spec.schema.Schema
import iceberglite.tree.PartitionSpecs

/** Sample expressions, statistics columns and manifest entries for tests of version 4 manifests. */
object RootSamples {
  def expressions(metadata: TableMetadata): Vector[TableExpression] =
    TableExpression.complete(metadata.specs, Vector.empty, metadata.lastColumnId)

  private[root] def columnsOf(metadata: TableMetadata): StatsColumns =
    StatsColumns.of(metadata, PartitionSpecs.of(metadata, metadata.schema), expressions(metadata))

  private[root] def columnsOf(schema: Schema, specs: PartitionSpec*): StatsColumns =
    columnsOf(TestMetadata(schema, if (specs.isEmpty) Vector(PartitionSpec.Unpartitioned) else specs.toVector))

  def existing(file: ContentFile): ManifestEntry =
    ManifestEntry(EntryStatus.Existing, Some(7L), Some(5L), Some(6L), file)

  def added(file: ContentFile): ManifestEntry = ManifestEntry(EntryStatus.Added, None, None, None, file)
}
