package iceberglite.spark.sql

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.Identity
import iceberglite.spec.update.PartitionSpecChanges
import iceberglite.table.MetadataAction
import iceberglite.table.action.UpdatePartitionSpec

/** A statement that changes the partitioning of new data of a table. */
trait PartitionFieldCommand extends MetadataCommand {
  protected def change(update: PartitionSpecChanges, metadata: TableMetadata): PartitionSpecChanges

  override private[iceberglite] def metadataActions(base: TableMetadata, caseSensitive: Boolean): Seq[MetadataAction] =
    Seq(new UpdatePartitionSpec(change(_, base), caseSensitive))

  override protected def loadsNewestVersion: Boolean = false

  /**
   * Removes a partition field. A single word is the name of a partition field, unless there is an identity partition
   * field on a column with this name.
   *
   * @param parsed the field or its name, as parsed from the statement
   */
  protected def remove(
      update: PartitionSpecChanges,
      metadata: TableMetadata,
      parsed: ParsedTerm
  ): PartitionSpecChanges = {
    val term = parsed.term
    val isColumn = metadata.spec.fields.exists { field =>
      field.transform == Identity && metadata.schema.paths.get(field.sourceId).contains(term.source)
    }
    if (parsed.arguments.isEmpty && parsed.name.size == 1 && !isColumn) update.removeField(parsed.name.head)
    else update.removeField(term.source, term.transform)
  }
}
