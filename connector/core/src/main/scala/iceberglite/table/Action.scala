package iceberglite.table

import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata

/**
 * A change to a table, as a part of a transaction. [[changeFor]] returns the metadata updates for a base version of the
 * table. If another commit came first, it is called again with the newer base, and may reuse files that it has written
 * before. An instance belongs to a single transaction.
 */
trait Action {

  /**
   * Returns the updates that take `base` to the new state, and their requirements. No updates means that there is
   * nothing to commit.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict a concurrent change conflicts with the action; retrying cannot
   *   help
   * @throws iceberglite.spec.IcebergError.ValidationFailed the change would make the table invalid; retrying cannot
   *   help
   */
  def changeFor(base: TableMetadata, context: CommitContext): Change

  /**
   * Called after the commit happened; `metadata` includes it. Files of unsuccessful earlier attempts may be deleted.
   */
  def committed(metadata: TableMetadata, context: CommitContext): Unit

  /** Called after the commit definitely failed. Deletes the files that the action wrote, and no others. */
  def abandoned(context: CommitContext): Unit

  /** The data and delete files that a writer made for this action. The writer is responsible for removing them. */
  def writtenFiles: Vector[ContentFile]
}

/** An action that writes no files and changes only the table's metadata. */
trait MetadataAction extends Action {
  override def committed(metadata: TableMetadata, context: CommitContext): Unit = ()
  override def abandoned(context: CommitContext): Unit = ()
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}
