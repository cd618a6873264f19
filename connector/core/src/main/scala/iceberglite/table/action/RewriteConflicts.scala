package iceberglite.table.action

import iceberglite.spec.IcebergError.{ConcurrentChange, ValidationFailed}
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.CommitContext
import iceberglite.table.conflict.{BranchHistory, DeleteApplicability}

/** Checks whether the changes of other commits allow a rewrite of data files. */
final private[action] class RewriteConflicts(
    rewrite: RewriteConflicts.Rewrite,
    base: TableMetadata,
    history: BranchHistory,
    context: CommitContext
) {
  import rewrite.{added, removed, since}

  private val partitions = removed.map(f => (f.specId, f.partition)).toSet

  /** The partition specs of the removed data files. */
  private val specIds = removed.map(_.specId).toSet

  /**
   * The new data files that may contain rows from other partitions: those in a partition that contains no removed file,
   * and those whose partition spec differs from the spec of a removed file.
   */
  private val withMovedRows = added.filter(f => !partitions((f.specId, f.partition)) || specIds.exists(_ != f.specId))

  /** Whether a new file is in a partition that contains no removed file. */
  private val leavesPartitions = added.exists(f => !partitions((f.specId, f.partition)))

  /**
   * Checks the rewrite.
   *
   * @param found the live entries of the removed files
   * @throws ConcurrentChange if a removed data file was added again, is listed a different number of times, or was
   *   assigned row ids; or if the rewrite moved rows into a partition with new equality deletes
   * @throws ValidationFailed if new deletes of a removed data file would not apply to the new files
   */
  def check(found: Vector[ManifestEntry]): Unit =
    // If no data files are removed, only the history is checked: `commitsSince` fails if the snapshot that was read is
    // not in the branch's history. After a rollback, for example, the rows can be in other data files than those to
    // which the rewritten deletes apply.
    if (removed.isEmpty) {
      history.commitsSince(Some(since))
      ()
    } else {
      checkLostDeletes()
      checkGainedDeletes()
      val entries = found.filter(_.file.content == Content.Data)
      checkEntries(entries)
      checkRowIds(entries)
    }

  /**
   * Returns whether a delete file of a replaced data file would not apply to the new files. This is the case for
   * position deletes that are not carried over, for all equality deletes if the new files get the sequence number of
   * the commit, and for equality deletes in a partition if rows are in another partition or partition spec now (spec:
   * "Scan Planning").
   */
  private def isLost(delete: ContentFile): Boolean = delete.content match {
    case Content.EqualityDeletes => !rewrite.keepsSequenceNumber ||
      !DeleteApplicability.isGlobal(delete, base) && (leavesPartitions || added.exists(_.specId != delete.specId))
    case _ => !rewrite.carriesPositions
  }

  /** Fails if other commits added deletes for the replaced data files that would not apply to the new files. */
  private def checkLostDeletes(): Unit =
    NewDeletes.of(removed.map(f => f.path -> f).toMap, Some(since), base, history, isLost).foreach {
      case (change, file) => throw ValidationFailed(
          s"Cannot rewrite ${file.path} of ${context.table}: snapshot ${change.snapshot.snapshotId} added deletes of " +
            s"its rows in ${change.entry.file.path}. Run the rewrite again"
        )
    }

  /**
   * Fails if other commits added equality deletes that would apply to new data files, but do not apply to all removed
   * data files. Equality deletes of an unpartitioned spec apply to all data files, so they are not checked.
   */
  private def checkGainedDeletes(): Unit = if (rewrite.keepsSequenceNumber && withMovedRows.nonEmpty) {
    def isRelevant(delete: ContentFile) =
      delete.content == Content.EqualityDeletes && !DeleteApplicability.isGlobal(delete, base)
    NewDeletes.of(withMovedRows.map(f => f.path -> f).toMap, Some(since), base, history, isRelevant).foreach {
      case (change, _) => refuse(
          removed.head.path,
          s"snapshot ${change.snapshot.snapshotId} added equality deletes in ${change.entry.file.path}, which would " +
            "delete rows that the rewrite has moved into their partition"
        )
    }
  }

  /**
   * Fails if the live entries are not the entries that were read. A path identifies a data file, but the same path may
   * be added to a table several times, or again after it was removed.
   */
  private def checkEntries(entries: Vector[ManifestEntry]): Unit = {
    val sinceNumber = base.snapshot(since).sequenceNumber
    entries.find(_.sequenceNumber.exists(_ > sinceNumber)).foreach { e =>
      refuse(e.file.path, "another commit added the file again after the rewrite had read the table")
    }
    val read = removed.groupBy(_.path)
    entries.groupBy(_.file.path).foreach { case (path, live) =>
      if (live.size != read(path).size) throw ConcurrentChange(
        s"Cannot rewrite $path of ${context.table}: the number of entries of the file is now ${live.size} in the " +
          s"table, but the rewrite read ${read(path).size}. Rewrite all entries of the file in one commit, without " +
          "partial progress and without a maximum number of files"
      )
    }
  }

  /**
   * Fails if the removed files got row ids after they were read. This happens with the first commit after an upgrade to
   * version 3. The new files do not have these row ids.
   */
  private def checkRowIds(entries: Vector[ManifestEntry]): Unit =
    if (base.snapshot(since).firstRowId.isEmpty) entries.find(_.file.firstRowId.isDefined).foreach { e =>
      refuse(
        e.file.path,
        "after the table was upgraded to version 3, another commit gave row ids to the rows of the file"
      )
    }

  private def refuse(path: String, reason: String): Nothing =
    throw ConcurrentChange(s"Cannot rewrite $path of ${context.table}: $reason. Run the rewrite again")
}

private[action] object RewriteConflicts {

  /**
   * A rewrite of data files.
   *
   * @param removed the replaced data files, as they were read
   * @param added the new data files
   * @param since the snapshot that was read
   * @param keepsSequenceNumber whether the new data files get the sequence number of the snapshot `since`
   * @param carriesPositions whether position deletes of other commits are carried over to the new files
   */
  final case class Rewrite(
      removed: Vector[ContentFile],
      added: Vector[ContentFile],
      since: Long,
      keepsSequenceNumber: Boolean,
      carriesPositions: Boolean
  )
}
