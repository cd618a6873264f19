package iceberglite.table.action

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table._
import iceberglite.tree.{FileChanges, OlderFile, WrittenTree}
import iceberglite.table.conflict.BranchHistory

/**
 * Replaces equality deletes with position deletes. The rows of the table do not change.
 *
 * The commit fails if a concurrent commit
 *
 *   - added data files with a lower data sequence number, to which the equality deletes may apply, as a compaction can
 *     do (spec: "Sequence Number Inheritance");
 *   - removed a converted or replaced delete file, or a data file to which the new deletes apply; or
 *   - added another deletion vector for such a data file.
 *
 * @param converted the equality delete files
 * @param replaced the deletion vectors that are merged into the new deletion vectors
 * @param added the new delete files, each for a single data file
 * @param dataFiles these data files, as the snapshot that was read lists them
 * @param since the snapshot that was read
 */
final class ConvertDeletes(
    converted: Vector[ContentFile],
    replaced: Vector[ContentFile],
    added: Vector[ContentFile],
    dataFiles: Vector[ContentFile],
    since: Long,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {
  private val removed = converted ++ replaced

  private val sequenceNumber = new SnapshotSequenceNumber(since)

  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val history = new BranchHistory(base, parent, context)
    val found = NamedFiles.require(removed, "convert", base, history, context)
    val concurrent = history.concurrentCommits(Some(since))
    if (concurrent.nonEmpty) {
      checkOlderRows(found, concurrent, history, context)
      NamedFiles.require(dataFiles, "convert the deletes of", base, history, context)
      checkVectors(base, history, context)
    }
    FileChanges(Vector.empty, new NamedFiles(removed, base), added.map(OlderFile(_, sequenceNumber.valueIn(base))))
  }

  /**
   * Fails if concurrent commits added rows that the equality deletes may apply to. These are the rows of data files
   * with a lower data sequence number than the newest of the deletes.
   */
  private def checkOlderRows(
      found: Vector[ManifestEntry],
      concurrent: Vector[Snapshot],
      history: BranchHistory,
      context: CommitContext
  ): Unit = {
    val newest = found.filter(_.file.content == Content.EqualityDeletes).flatMap(_.sequenceNumber)
      .foldLeft(0L)(math.max)
    history.changes(concurrent, _.content == ManifestContent.Data)
      .find(c => c.isAdded && c.entry.sequenceNumber.forall(_ < newest))
      .foreach { c =>
        refuse(s"snapshot ${c.snapshot.snapshotId} has added ${c.entry.file.path}, to which the deletes apply", context)
      }
  }

  private def checkVectors(base: TableMetadata, history: BranchHistory, context: CommitContext): Unit =
    LiveDeletionVectors.ofSameDataFiles(added.filter(_.isDeletionVector), removed, base, history)
      .foreach(f => refuse(s"${f.referencedDataFile.mkString} has another deletion vector in ${f.path}", context))

  private def refuse(reason: String, context: CommitContext): Nothing = throw ConcurrentChange(
    s"Cannot convert the equality deletes of ${context.table}: $reason. Run the conversion again"
  )

  override protected def operation(tree: WrittenTree): Operation = Operation.Replace

  override protected def commitsEmpty: Boolean = false
}
