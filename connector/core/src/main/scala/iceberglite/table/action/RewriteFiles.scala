package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.metadata.{MetadataLogEntry, Operation, Snapshot, TableMetadata}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table._
import iceberglite.tree.{FileChanges, OlderFile, WrittenTree}
import iceberglite.table.conflict.BranchHistory

/**
 * Replaces files with new files that have the same rows, as in a compaction of data files or delete files.
 *
 * If `keepsSequenceNumber` is true, the new data files get the sequence number of the snapshot that was read, so that
 * equality deletes that were committed after this snapshot apply to them (spec: "Sequence Number Inheritance"). New
 * position deletes get the highest sequence number of the removed position deletes of their partition. With this
 * number, they apply to the same data files as before, and to no data file that was added later.
 *
 * The commit fails if a removed file is no longer live, if its path was added again, or if its rows got row ids after
 * the snapshot was read. If another commit added position deletes or a deletion vector for a removed data file, the
 * deleted rows would reappear. Therefore the `carrier` deletes these rows from the new files. Without a `carrier`, the
 * commit fails.
 *
 * The commit also fails if another commit added equality deletes for a removed data file that would not apply to the
 * same rows of the new files, or equality deletes that would apply to rows that the rewrite moves into their
 * partition.
 *
 * @param removed data and delete files of the snapshot that was read
 * @param added the new data and delete files
 * @param since the snapshot that was read
 * @param keepsSequenceNumber whether the new data files get the sequence number of the snapshot that was read, and not
 *   that of the commit
 * @param carrier applies position deletes of other commits to the new files; absent if the commit fails because of such
 *   deletes
 */
final class RewriteFiles(
    removed: Vector[ContentFile],
    added: Vector[ContentFile],
    since: Long,
    to: SnapshotTarget = SnapshotTarget.Main,
    keepsSequenceNumber: Boolean = true,
    carrier: Option[DeleteCarrier] = None
) extends SnapshotAction(to) {

  private val sequenceNumber = new SnapshotSequenceNumber(since)
  private val rewrite = RewriteConflicts.Rewrite(
    removed.filter(_.content == Content.Data),
    added.filter(_.content == Content.Data),
    since,
    keepsSequenceNumber,
    carriesPositions = carrier.isDefined
  )
  private val carriedDeletes = carrier.map(new CarriedDeletes(_, rewrite.removed, since))

  override def writtenFiles: Vector[ContentFile] = added

  override protected def ownFiles: Set[String] = carriedDeletes.fold(Set.empty[String])(_.writtenPaths)

  private var lastBase = Option.empty[Option[MetadataLogEntry]]
  private var isOvertaken = false

  /**
   * Whether another commit preceded the last attempt, and the new files remain usable. If the rewrite carries deletes
   * over, the new files remain usable unless another commit removes a replaced file. Therefore retries that are due to
   * other writers are limited only by the total time, and not by their number.
   */
  override def madeProgress: Boolean = carriedDeletes.exists(isOvertaken || _.hasCarriedMore)

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    // The last entry of the metadata log is the version before the base, so it identifies the base.
    isOvertaken = lastBase.exists(_ != base.metadataLog.lastOption)
    lastBase = Some(base.metadataLog.lastOption)
    val history = new BranchHistory(base, parent, context)
    val found = NamedFiles.require(removed, "rewrite", base, history, context)
    new RewriteConflicts(rewrite, base, history, context).check(found)
    checkRows(context)
    val (renumbered, kept) = added.partition(file => !keepsSequenceNumber && file.content == Content.Data)
    lazy val positionDeletes = numbersOfPositionDeletes(found)
    val older = kept.map { file =>
      val number = file.content match {
        case Content.Data => sequenceNumber.valueIn(base)
        case Content.EqualityDeletes => numberOfEqualityDeletes(found, context)
        case Content.PositionDeletes =>
          positionDeletes.getOrElse((file.specId, file.partition), sequenceNumber.valueIn(base))
      }
      OlderFile(file, number)
    }
    checkVectors(base, history, context)
    val carried = carriedDeletes.fold(Vector.empty[ContentFile])(_.of(sequenceNumber.valueIn(base), base, history))
    FileChanges(renumbered ++ carried, new NamedFiles(removed, base), older)
  }

  /**
   * Checks that the new files do not have more rows than the removed files. The new files may have fewer rows, because
   * a rewrite can omit deleted rows.
   */
  private def checkRows(context: CommitContext): Unit = {
    def rows(files: Vector[ContentFile]): Long = files.filter(_.content == Content.Data).map(_.recordCount).sum
    val hasCounts = (removed ++ added).forall(_.hasRecordCount)
    if (hasCounts && rows(added) > rows(removed)) throw ValidationFailed(
      s"Cannot rewrite files of ${context.table} with ${rows(removed)} rows: the new files have ${rows(added)} rows. " +
        "A rewrite must not add rows; use an overwrite"
    )
  }

  /**
   * Returns the data sequence number that all rewritten equality deletes have. The new equality deletes must have the
   * same number, because with another number they would delete other rows.
   */
  private def numberOfEqualityDeletes(found: Vector[ManifestEntry], context: CommitContext): Long =
    found.filter(_.file.content == Content.EqualityDeletes).flatMap(_.sequenceNumber).distinct match {
      case Vector(number) => number
      case several => throw ValidationFailed(
          s"Cannot rewrite equality deletes of ${context.table} that have the data sequence numbers " +
            s"${several.sorted.mkString("(", ", ", ")")}. Rewrite the deletes of each number separately"
        )
    }

  /**
   * Returns the highest data sequence number of the removed position deletes of each partition. A new delete file may
   * contain deletes of several removed files, and the deletes of each removed file must still apply to the same data
   * files.
   */
  private def numbersOfPositionDeletes(found: Vector[ManifestEntry]): Map[(Int, PartitionTuple), Long] =
    found.filter(_.file.content == Content.PositionDeletes).groupBy(e => (e.file.specId, e.file.partition))
      .map { case (partition, entries) => partition -> entries.flatMap(_.sequenceNumber).foldLeft(0L)(math.max) }

  /**
   * Fails if the data file of a new deletion vector is not live, or would have another deletion vector after the commit
   * (spec version 3: "Deletion vectors").
   */
  private def checkVectors(base: TableMetadata, history: BranchHistory, context: CommitContext): Unit = {
    val vectors = added.filter(_.isDeletionVector)
    if (vectors.nonEmpty && history.concurrentCommits(Some(since)).nonEmpty)
      NamedFiles.requireDataFiles(vectors, "rewrite the deletes of", base, history, context)
    LiveDeletionVectors.ofSameDataFiles(vectors, removed, base, history).foreach { other =>
      throw ValidationFailed(
        s"Cannot rewrite the deletes of ${other.referencedDataFile.mkString} in ${context.table}: a concurrent " +
          s"commit added another deletion vector for this file in ${other.path}. Run the rewrite again"
      )
    }
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Replace

  override protected def commitsEmpty: Boolean = false
}
