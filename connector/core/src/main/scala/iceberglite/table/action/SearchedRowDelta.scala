package iceberglite.table.action

import iceberglite.spec.IcebergError.{ChangeScope, ConcurrentChange}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Action, Change, CommitContext}

/**
 * A row delta that deletes the rows that a search has found by their keys. The result of the search no longer holds
 * if another commit may have added, moved or deleted such rows, or has changed how keys and deletes are stored. The
 * commit then fails with the scope `SearchedRows`, so that the rows can be deleted by their keys instead.
 *
 * @param searched the table that was searched
 * @param keyIds the field ids of the key columns
 */
final class SearchedRowDelta(delta: RowDelta, searched: TableMetadata, keyIds: Vector[Int]) extends Action {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    if (!SearchedRowDelta.haveSameForm(searched, base, keyIds)) throw ConcurrentChange(
      s"Cannot delete the rows of ${context.table} that were found by key: the format version of the table or the " +
        "type of a key column has changed. Run the statement again",
      ChangeScope.SearchedRows
    )
    try delta.changeFor(base, context)
    catch { case conflict: ConcurrentChange => throw conflict.copy(scope = ChangeScope.SearchedRows) }
  }

  override def madeProgress: Boolean = delta.madeProgress

  override def hasExpiredIn: TableMetadata => Boolean = delta.hasExpiredIn

  override def committed(metadata: TableMetadata, context: CommitContext): Unit = delta.committed(metadata, context)

  override def abandoned(context: CommitContext): Unit = delta.abandoned(context)

  override def writtenFiles: Vector[ContentFile] = delta.writtenFiles
}

object SearchedRowDelta {

  /**
   * Whether two versions of a table store keys and deletes in the same form. The bounds of keys and the values in their
   * files have the types of the columns, and the format version determines the form of position deletes.
   */
  def haveSameForm(a: TableMetadata, b: TableMetadata, keyIds: Vector[Int]): Boolean = {
    def types(metadata: TableMetadata) = keyIds.map(metadata.schema.byId.get(_).map(_.fieldType))
    a.formatVersion == b.formatVersion && types(a) == types(b)
  }
}
