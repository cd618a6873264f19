package iceberglite.table

import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata

/**
 * A step of a transaction that changes a table. [[changeFor]] returns the metadata updates for a base version of the
 * table. If another writer commits first, the transaction calls [[changeFor]] again with the newer base, and the action
 * may reuse the files that it has already written. An instance belongs to a single transaction.
 */
trait Action {

  /**
   * Returns the updates that change `base` to the new state, and their requirements. If there are no updates, nothing
   * is committed.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict if a concurrent change to the metadata conflicts with the
   *   action, so that a retry would fail as well
   * @throws iceberglite.spec.IcebergError.ConcurrentChange if a concurrent change to files or rows conflicts with the
   *   action, so that a retry would fail as well
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the change would make the table invalid, so that a retry
   *   would fail as well
   */
  def changeFor(base: TableMetadata, context: CommitContext): Change

  /**
   * Whether the last call of [[changeFor]] took changes of other commits into account, and later calls can reuse the
   * work of this call. If such an attempt conflicts with yet another commit, the retry does not count towards the
   * maximum number of retries.
   */
  def madeProgress: Boolean = false

  /**
   * Returns whether a version of the table shows that a snapshot of this action was committed in an earlier attempt,
   * and has expired since.
   */
  def hasExpiredIn: TableMetadata => Boolean = _ => false

  /**
   * Called after a successful commit; deletes the files of earlier attempts that the commit does not use.
   *
   * @param metadata the table metadata that includes the commit
   */
  def committed(metadata: TableMetadata, context: CommitContext): Unit

  /** Called after the commit definitely failed; deletes the files that the action itself wrote. */
  def abandoned(context: CommitContext): Unit

  /**
   * The data and delete files that were written for this action before it was created. The writer of these files
   * deletes them if the commit fails.
   */
  def writtenFiles: Vector[ContentFile]
}

/** An action that writes no files and changes only the table's metadata. */
trait MetadataAction extends Action {
  override def committed(metadata: TableMetadata, context: CommitContext): Unit = ()
  override def abandoned(context: CommitContext): Unit = ()
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}
