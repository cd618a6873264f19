package iceberglite.spark.sql

import iceberglite.spec.transform.Identity
import iceberglite.spec.{SpecUpdate, TableMetadata}
import iceberglite.table.action.{Action, UpdateSpec}

/** A statement that changes how new data of a table is partitioned. */
trait PartitionFieldCommand extends TableCommand {
  protected def change(update: SpecUpdate, metadata: TableMetadata): SpecUpdate

  override protected def actions(base: TableMetadata, caseSensitive: Boolean): Seq[Action] =
    Seq(new UpdateSpec(change(_, base), caseSensitive))

  override protected def refreshes: Boolean = false

  /** A word alone is the name of a partition field, unless a column is partitioned by under this name. */
  protected def remove(update: SpecUpdate, metadata: TableMetadata, written: WrittenTerm): SpecUpdate = {
    val term = written.term
    val isColumn = metadata.spec.fields.exists { field =>
      field.transform == Identity && metadata.schema.paths.get(field.sourceId).contains(term.source)
    }
    if (written.arguments.isEmpty && written.name.size == 1 && !isColumn) update.removeField(written.name.head)
    else update.removeField(term.source, term.transform)
  }
}
