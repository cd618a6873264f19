package iceberglite.table.action

import iceberglite.spec.IcebergError.{ConcurrentChange, InvalidArgument, ValidationFailed}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table._
import iceberglite.tree.{FileChanges, WrittenTree}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.{BranchHistory, ConflictKind, Isolation}

/**
 * The rows that a row-level statement reads.
 *
 * @param filter a filter for these rows, unbound or bound to the table's current schema
 * @param isRowByRow whether the change to a row depends only on that row, as in UPDATE without subqueries; if so,
 *   concurrent deletes of other rows do not conflict
 */
final case class ReadRows(filter: Expression, caseSensitive: Boolean = true, isRowByRow: Boolean = false)

object ReadRows {
  val All: ReadRows = ReadRows(AlwaysTrue)
}

/**
 * Commits the delete files and data files of a merge-on-read DELETE, UPDATE or MERGE.
 *
 * If another commit also added a deletion vector for the same data file, the two vectors are merged, and the merged
 * vector replaces the other commit's vector. If a concurrent DELETE removed a data file with all its rows, the deletes
 * for this data file are dropped. If a data file was rewritten or overwritten concurrently, the commit fails, because
 * the rows may be in another file. The error states whether only rewrites conflict with the commit.
 *
 * @param added data files and delete files. A deletion vector contains all deleted positions of its data file,
 *   including those in position delete files
 * @param removed data files that the writer has replaced, and delete files whose deletes the new delete files contain
 * @param isolation the concurrent changes to reject; if absent, only the validity of the snapshot is checked, and the
 *   last writer wins
 * @param read the rows that the statement reads
 * @param affectedDataFiles the paths of the data files that added position deletes apply to. If the set is empty,
 *   position deletes whose entry does not reference a data file are assumed to apply to every data file in their
 *   partition and within their bounds
 * @param requiredSpec the partition spec that all live data files must have, so that equality deletes in partitions of
 *   this partition spec apply to all intended rows (spec: "Scan Planning"); absent if there are no such equality
 *   deletes
 */
final class RowDelta(
    added: Vector[ContentFile],
    removed: Vector[ContentFile] = Vector.empty,
    isolation: Option[Isolation] = None,
    read: ReadRows = ReadRows.All,
    affectedDataFiles: Set[String] = Set.empty,
    requiredSpec: Option[Int] = None,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {
  private val (rows, deletes) = added.partition(_.content == Content.Data)
  private val (vectors, otherDeletes) = deletes.partition(_.isDeletionVector)
  private val removedData = removed.filter(_.content == Content.Data).map(f => f.path -> f).toMap
  private val vectorMerge = new DeletionVectorMerge
  vectors.flatMap(_.referencedDataFile).find(removedData.contains).foreach { path =>
    throw InvalidArgument("deletion vector", path, "The same commit removes the data file that the vector references")
  }

  vectors.groupBy(_.referencedDataFile).find(_._2.size > 1).foreach { case (path, _) =>
    throw ValidationFailed(
      s"Cannot commit two deletion vectors for the data file ${path.mkString}: a data file has at most one. The " +
        "table may list this data file twice; write one vector with the deleted rows of both"
    )
  }

  override def writtenFiles: Vector[ContentFile] = added

  override protected def ownFiles: Set[String] = vectorMerge.writtenPaths

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val history = new BranchHistory(base, parent, context)
    requiredSpec.foreach(checkSpecs(_, history, context))
    val targets = new RowDeltaTargets(deletes, removedData, affectedDataFiles, base, history, context)
    val removedTargets = targets.removedTargets(isolation, allowDeleted = rows.isEmpty)
    val own = vectors.filterNot(_.referencedDataFile.exists(removedTargets.contains))
    val pairs = pairsOf(own, LiveDeletionVectors.ofSameDataFiles(own, removed, base, history))
    isolation.foreach(check(_, pairs, targets, removedTargets, base, history, context))
    removedTargets.rewritten.headOption.foreach(NamedFiles.rewritten(_, "change rows in", context))
    val merged = vectorMerge.mergePairs(pairs, base, context)
    val replaced = pairs.map(_.own).toSet
    val removedFiles = new NamedFiles(removed ++ pairs.map(_.concurrent), base)
    FileChanges(rows ++ otherDeletes ++ own.filterNot(replaced) ++ merged, removedFiles)
  }

  private def pairsOf(own: Vector[ContentFile], concurrent: Vector[ContentFile]): Vector[VectorPair] = {
    val byFile = own.flatMap(v => v.referencedDataFile.map(_ -> v)).toMap
    concurrent.map(t => VectorPair(byFile(t.referencedDataFile.mkString), t))
  }

  /** Returns the pairs of vectors of data files that were rewritten after another commit had added its vector. */
  private def pairsOfRewritten(
      isolation: Isolation,
      removedTargets: RemovedTargets,
      base: TableMetadata,
      history: BranchHistory
  ): Vector[VectorPair] = {
    val own = vectors.filter(_.referencedDataFile.exists(removedTargets.rewrittenFiles.contains))
    pairsOf(own, LiveDeletionVectors.addedConcurrently(own, isolation.since, base, history))
  }

  private def checkSpecs(specId: Int, history: BranchHistory, context: CommitContext): Unit =
    history.liveSpecIds(ManifestContent.Data).find(_ != specId).foreach { other =>
      throw ConcurrentChange(
        s"Cannot delete rows of ${context.table} by equality deletes in partitions of spec $specId: the table now " +
          s"also has data files of spec $other, to which these deletes do not apply. Run the statement again"
      )
    }

  private def check(
      isolation: Isolation,
      pairs: Vector[VectorPair],
      targets: RowDeltaTargets,
      removedTargets: RemovedTargets,
      base: TableMetadata,
      history: BranchHistory,
      context: CommitContext
  ): Unit = if (history.concurrentCommits(isolation.since).nonEmpty) {
    val readFilter = new RowFilter(read.filter, read.caseSensitive, base)
    isolation.check(history, context, readFilter, rejectedConflicts(isolation.level))
    val allPairs = pairs ++ pairsOfRewritten(isolation, removedTargets, base, history)
    pairsToCompare(isolation, allPairs, history).foreach(checkSameRows(_, isolation, base, history, context))
    if (rows.nonEmpty) {
      targets.otherDeletes(isolation, removedTargets.rewrittenFiles).foreach { case (change, file) =>
        fail(
          isolation,
          s"snapshot ${change.snapshot.snapshotId} added the delete file ${change.entry.file.path}, " +
            s"which may delete rows of ${file.path} that this commit changes",
          context
        )
      }
    }
  }

  /**
   * Returns the kinds of concurrent changes that conflict with the rows that the statement read. A statement does not
   * conflict with concurrent deletes if it only deletes rows, or if its change to a row depends only on that row.
   */
  private def rejectedConflicts(level: IsolationLevel): Set[ConflictKind] = level match {
    case IsolationLevel.Snapshot => Set.empty
    case IsolationLevel.Serializable if rows.isEmpty || read.isRowByRow => Set(ConflictKind.AddedRows)
    case IsolationLevel.Serializable =>
      Set(ConflictKind.AddedRows, ConflictKind.AddedDeletes, ConflictKind.RemovedFiles)
  }

  /**
   * Returns the pairs of own and concurrent deletion vectors whose deleted rows must be compared. Two commits that
   * delete the same row conflict only if one of them wrote a new version of the row. With serializable isolation, a
   * statement that only deletes rows needs no comparison, because its filter is checked against all added files,
   * including files with new versions of rows.
   */
  private def pairsToCompare(
      isolation: Isolation,
      pairs: Vector[VectorPair],
      history: BranchHistory
  ): Vector[VectorPair] =
    if (rows.nonEmpty) pairs
    else if (pairs.isEmpty || isolation.level == IsolationLevel.Serializable) Vector.empty
    else {
      val changed = history.changes(history.concurrentCommits(isolation.since), _.content == ManifestContent.Deletes)
        .filter(c => c.isAdded && c.snapshot.operation.contains(Operation.Overwrite.name))
        .flatMap(_.entry.file.referencedDataFile).toSet
      pairs.filter(_.own.referencedDataFile.exists(changed))
    }

  /**
   * Fails if both commits changed the same row. If both commits were applied, a row that the other commit deleted would
   * reappear in the new version that this commit wrote.
   */
  private def checkSameRows(
      pair: VectorPair,
      isolation: Isolation,
      base: TableMetadata,
      history: BranchHistory,
      context: CommitContext
  ): Unit = {
    val path = pair.own.referencedDataFile
    val replaced = removed.find(f => f.isDeletionVector && f.referencedDataFile == path)
    val atStart = replaced.orElse(LiveDeletionVectors.at(isolation.since, pair.own, base, history))
    val before = atStart.map(vectorMerge.read(_, context))
    val own = vectorMerge.read(pair.own, context)
    vectorMerge.read(pair.concurrent, context).foreach { position =>
      if (own.isDeleted(position) && !before.exists(_.isDeleted(position))) {
        fail(
          isolation,
          s"${pair.concurrent.path} deletes row $position of ${path.mkString}, which this commit changes",
          context
        )
      }
    }
  }

  private def fail(isolation: Isolation, reason: String, context: CommitContext): Nothing = throw ConcurrentChange(
    s"Cannot commit to ${context.table} with isolation level ${isolation.level.name}: $reason. Run the statement again"
  )

  override protected def operation(tree: WrittenTree): Operation = {
    val (newRows, newDeletes) = tree.added.partition(_.content == Content.Data)
    val removesRows = tree.removed.exists(_.file.content == Content.Data)
    if (newRows.isEmpty && (newDeletes.nonEmpty || removesRows)) Operation.Delete
    else if (newDeletes.isEmpty && tree.removed.isEmpty) Operation.Append
    else Operation.Overwrite
  }

  override protected def commitsEmpty: Boolean = false
}
