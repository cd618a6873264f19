package iceberglite.table.action

import iceberglite.spec.{ContentFile, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * One kind of change to a table, as data about itself: asked for a base, it describes what the commit would do. It is
 * asked again, of a newer base, when another commit came first; what it wrote and can use again it keeps. An instance
 * belongs to one transaction.
 */
trait Action {

  /**
   * The updates that take `base` to the new state, and what they require. Updates may be empty: nothing to commit.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict the table moved under the action; this is final
   * @throws iceberglite.spec.IcebergError.ValidationFailed the change would make the table wrong; this is final
   */
  def describe(base: TableMetadata, context: CommitContext): Change

  /** The commit happened: `metadata` holds it. What earlier attempts wrote in vain may go. */
  def committed(metadata: TableMetadata, context: CommitContext): Unit

  /** The commit definitely did not happen: what the action wrote goes, and only that. */
  def abandoned(context: CommitContext): Unit

  /** The data and delete files that a writer made for this action; they are the writer's to remove. */
  def writtenFiles: Vector[ContentFile]
}

/** An action that writes no file: its change is in the table's metadata alone. */
trait MetadataAction extends Action {
  override def committed(metadata: TableMetadata, context: CommitContext): Unit = ()
  override def abandoned(context: CommitContext): Unit = ()
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}
