package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table._
import iceberglite.tree.{FileChanges, OlderFile, WrittenTree}

/**
 * Replaces files with new files that have the same rows, as in a compaction of data files or delete files.
 *
 * The new files get the sequence number of the snapshot that was read, so that equality deletes committed since then
 * still apply to them (spec: "Sequence Number Inheritance"). The commit fails if a removed file is no longer live, or
 * if it has new position deletes or a new deletion vector, because the deleted rows would reappear.
 *
 * @param removed data and delete files of the snapshot that was read
 * @param added the new data and delete files
 * @param since the snapshot that was read
 */
final class RewriteFiles(
    removed: Vector[ContentFile],
    added: Vector[ContentFile],
    since: Long,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {

  private val number = new SnapshotSequenceNumber(since)

  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val history = new BranchHistory(base, parent, context)
    val found = NamedFiles.require(removed, "rewrite", base, history, context)
    checkDeletes(base, history, context)
    checkRows(context)
    val older = added.map { file =>
      if (file.content == Content.EqualityDeletes) OlderFile(file, numberOfEqualityDeletes(found, context))
      else OlderFile(file, number.in(base))
    }
    checkVectors(base, history, context)
    FileChanges(Vector.empty, new NamedFiles(removed, base), older)
  }

  /**
   * Checks that the new files do not have more rows than the removed files. They may have fewer, because deleted rows
   * can be omitted.
   */
  private def checkRows(context: CommitContext): Unit = {
    def rows(files: Vector[ContentFile]): Long = files.filter(_.content == Content.Data).map(_.recordCount).sum
    val counted = (removed ++ added).forall(_.hasRecordCount)
    if (counted && rows(added) > rows(removed)) throw ValidationFailed(
      s"Cannot rewrite files of ${context.table} with ${rows(removed)} rows: the new ones have ${rows(added)}. " +
        "A rewrite adds no rows; use an overwrite"
    )
  }

  /**
   * Returns whether a delete would not apply to the new files. This holds for a position delete, and for an equality
   * delete in a partition of another spec (spec: "Scan Planning").
   */
  private def isLost(delete: ContentFile, base: TableMetadata): Boolean = delete.content match {
    case Content.EqualityDeletes =>
      base.specsById(delete.specId).isPartitioned &&
      added.exists(f => f.content == Content.Data && f.specId != delete.specId)
    case _ => true
  }

  /** Fails on new deletes for the replaced data files. Equality deletes are allowed, because they still apply. */
  private def checkDeletes(base: TableMetadata, history: BranchHistory, context: CommitContext): Unit = {
    val data = removed.filter(_.content == Content.Data).map(f => f.path -> f).toMap
    if (data.nonEmpty) NewDeletes.of(data, Some(since), base, history, isLost(_, base)).foreach {
      case (change, file) => throw ValidationFailed(
          s"Cannot rewrite ${file.path} of ${context.table}: snapshot ${change.snapshot.snapshotId} added deletes of its " +
            s"rows, in ${change.entry.file.path}. Rewrite it again"
        )
    }
  }

  /** Returns the common sequence number of the equality deletes. With another number, they would delete other rows. */
  private def numberOfEqualityDeletes(found: Vector[ManifestEntry], context: CommitContext): Long =
    found.filter(_.file.content == Content.EqualityDeletes).flatMap(_.sequenceNumber).distinct match {
      case Vector(number) => number
      case several => throw ValidationFailed(
          s"Cannot rewrite equality deletes of ${context.table} that have the data sequence numbers " +
            s"${several.sorted.mkString("(", ", ", ")")}: rewrite those of one number by themselves"
        )
    }

  private def checkVectors(base: TableMetadata, history: BranchHistory, context: CommitContext): Unit =
    LiveDeletionVectors.ofSameDataFiles(added.filter(_.isDeletionVector), removed, base, history).foreach { other =>
      throw ValidationFailed(
        s"Cannot rewrite the deletes of ${other.referencedDataFile.mkString} in ${context.table}: it has another " +
          s"deletion vector by now, in ${other.path}. Rewrite it again"
      )
    }

  override protected def operation(tree: WrittenTree): Operation = Operation.Replace

  override protected def commitsEmpty: Boolean = false
}
