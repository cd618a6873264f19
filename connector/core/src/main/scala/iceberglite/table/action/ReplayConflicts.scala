package iceberglite.table.action

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.{Operation, SummaryKey, TableMetadata}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.CommitContext
import iceberglite.table.conflict.{BranchHistory, DeleteApplicability, CommittedFileChange, Isolation}
import iceberglite.tree.{FilePartitions, PartFilter}

/**
 * Checks whether a commit of a branch overlaps with the changes that the target branch has made since the common
 * ancestor. The rules are those of statements with snapshot isolation:
 *
 *   - data files that the commit removes, or whose rows it deletes, must be live in the target;
 *   - if the commit writes new versions of rows, the target must not have new deletes of the same data files. Deletion
 *     vectors are compared row by row;
 *   - if the commit only deletes rows, the target must not have updated these rows;
 *   - if the commit adds deletion vectors, the target must not have new position delete files for their data files;
 *   - if the commit replaces whole partitions, the target must not have new files in these partitions;
 *   - the equality deletes of the commit must not apply to new data files of the target.
 *
 * @param branches the two branches, for messages, such as `audit into main`
 * @param history the history of the target
 */
final private[action] class ReplayConflicts(
    commit: MergeBranch.Commit,
    branches: String,
    added: Vector[ContentFile],
    removed: Vector[ContentFile],
    base: TableMetadata,
    history: BranchHistory,
    context: CommitContext
) {
  import commit.source

  private val since = Some(commit.ancestor)
  private val (rows, deletes) = added.partition(_.content == Content.Data)
  private val removedData = removed.filter(_.content == Content.Data).map(f => f.path -> f).toMap
  private lazy val concurrent = history.concurrentCommits(since)

  /** The delete files that updates on the target added. */
  private lazy val deletesOfUpdates: Vector[ContentFile] =
    history.changes(
      concurrent.filter(_.operation.contains(Operation.Overwrite.name)),
      _.content == ManifestContent.Deletes
    ).filter(_.isAdded).map(_.entry.file)
  private lazy val pathsOfUpdates: Set[String] = deletesOfUpdates.map(_.path).toSet

  /** The data files that updates on the target deleted rows of, if the delete files reference the data file. */
  private lazy val updatedFiles: Set[String] = deletesOfUpdates.flatMap(_.referencedDataFile).toSet

  /** The position delete files whose data files are unknown. */
  private val ofSeveralFiles = deletes.filter(d => d.content == Content.PositionDeletes && d.onlyDataFile.isEmpty)

  /**
   * Checks all rules except those for deletion vectors of the same data file.
   *
   * @throws ConcurrentChange if the changes overlap
   */
  def check(): Unit = {
    val replacesPartitions = source.summary.get(SummaryKey.ReplacePartitions).exists(_.equalsIgnoreCase("true"))
    if (replacesPartitions) checkPartitions()
    checkLive(removedData.keySet ++ deletes.flatMap(_.onlyDataFile))
    if (removedData.nonEmpty)
      NewDeletes.of(removedData, since, base, history, f => rows.nonEmpty || pathsOfUpdates(f.path))
        .foreach(rejectDeletes)
    checkDeletesOfKeptFiles()
    checkEqualityDeletes()
  }

  private def checkPartitions(): Unit = {
    val partitions = new FilePartitions(rows, base)
    history.changes(concurrent, partitions).find(c => c.isAdded && partitions.contains(c.entry.file))
      .foreach(c => reject(c, s"added ${c.entry.file.path} to a partition that the commit replaces"))
  }

  private def checkLive(paths: Set[String]): Unit = if (concurrent.nonEmpty) {
    def isChanged(file: ContentFile): Boolean = paths(file.path) ||
      ofSeveralFiles.exists(DeleteApplicability.affectedFile(_, Map(file.path -> file), base).isDefined)
    history.changes(concurrent, p => p.content == ManifestContent.Data && (paths.nonEmpty || ofSeveralFiles.nonEmpty))
      .find(c => c.isRemoved && isChanged(c.entry.file))
      .foreach { c =>
        val verb = if (c.isRewrite) "rewrote" else "removed"
        reject(c, s"$verb ${c.entry.file.path}, which the commit changes")
      }
  }

  private def checkDeletesOfKeptFiles(): Unit = {
    val targets = new RowDeltaTargets(deletes, Map.empty, Set.empty, base, history, context)
    // A deletion vector replaces all position delete files of its data file, so that these files must not be new.
    val hasVectors = deletes.exists(_.isDeletionVector)
    def isRelevant(file: ContentFile): Boolean = rows.nonEmpty || pathsOfUpdates(file.path) ||
      hasVectors && file.content == Content.PositionDeletes
    if (deletes.nonEmpty)
      targets.otherDeletes(Isolation(IsolationLevel.Snapshot, since), Map.empty, isRelevant).foreach(rejectDeletes)
  }

  private def checkEqualityDeletes(): Unit = {
    val equalityDeletes = deletes.filter(_.content == Content.EqualityDeletes)
    if (equalityDeletes.nonEmpty) {
      val newData = history.changes(concurrent, PartFilter.All).filter(c => c.isAdded && c.isData && !c.isRewrite)
      val byPath = newData.map(c => c.entry.file.path -> c).toMap
      val files = newData.map(c => c.entry.file.path -> c.entry.file).toMap
      for (file <- equalityDeletes; affected <- DeleteApplicability.affectedFile(file, files, base))
        reject(byPath(affected.path), s"added ${affected.path}, which may have rows that ${file.path} deletes")
    }
  }

  /**
   * Checks that the target did not change the rows that the commit changes.
   *
   * @param pairs the deletion vectors of the commit and of the target for the same data files
   * @throws ConcurrentChange if the commit and the target changed the same row, and at least one of them wrote a new
   *   version of the row
   */
  def checkSameRows(pairs: Vector[VectorPair], vectors: DeletionVectorMerge): Unit =
    pairs.filter(p => rows.nonEmpty || p.own.referencedDataFile.exists(updatedFiles)).foreach { pair =>
      val path = pair.own.referencedDataFile
      val replaced = removed.find(f => f.isDeletionVector && f.referencedDataFile == path)
      val before = replaced.orElse(LiveDeletionVectors.at(since, pair.own, base, history)).map(vectors.read(_, context))
      val own = vectors.read(pair.own, context)
      vectors.read(pair.concurrent, context).foreach { position =>
        if (own.isDeleted(position) && !before.exists(_.isDeleted(position)))
          fail(s"${pair.concurrent.path} deletes row $position of ${path.mkString}, which the commit changes")
      }
    }

  private def rejectDeletes(conflict: (CommittedFileChange, ContentFile)): Unit = conflict match {
    case (change, file) =>
      reject(change, s"added the delete file ${change.entry.file.path}, which may delete rows of ${file.path}")
  }

  private def reject(change: CommittedFileChange, reason: String): Nothing =
    fail(s"snapshot ${change.snapshot.snapshotId} $reason")

  private def fail(reason: String): Nothing = throw ConcurrentChange(
    s"Cannot merge the branch $branches of ${context.table}: the changes of snapshot ${source.snapshotId} overlap " +
      s"with changes of the other branch: $reason. Run the statements of the branch again on a new branch"
  )
}
