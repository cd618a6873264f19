package iceberglite.table.action

import iceberglite.spec.file.{Content, ContentFile, EntryStatus, ManifestEntry}
import iceberglite.spec.metadata.{Operation, Snapshot, SummaryKey, TableMetadata}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.table.conflict.BranchHistory
import iceberglite.tree.{FileChanges, MetadataTree, OlderFile, PartFilter, WrittenTree}

/**
 * Adds a snapshot to the target branch that makes the same changes as a commit of another branch: it adds the same data
 * and delete files, and removes the same files. If both branches have a deletion vector for a data file, the new
 * snapshot has a merged vector.
 *
 * @param branch the name of the branch that has the commit, for messages
 */
final private[action] class ReplaySnapshot(commit: MergeBranch.Commit, branch: String, to: SnapshotTarget.Branch)
    extends SnapshotAction(to) {
  import commit.source

  private val vectorMerge = new DeletionVectorMerge

  override protected def ownFiles: Set[String] = vectorMerge.writtenPaths

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val entries = MetadataTree.at(source, context.tree(base)).changes(PartFilter.All).toVector
    val (addedEntries, removedEntries) = entries.partition(_.status == EntryStatus.Added)
    val (added, removed) = (addedEntries.map(_.file), removedEntries.map(_.file))
    val history = new BranchHistory(base, parent, context, commit.own)
    val conflicts = new ReplayConflicts(commit, s"$branch into ${to.name}", added, removed, base, history, context)
    conflicts.check()
    val vectors = added.filter(_.isDeletionVector)
    val pairs = pairsOf(vectors, LiveDeletionVectors.ofSameDataFiles(vectors, removed, base, history))
    conflicts.checkSameRows(pairs, vectorMerge)
    val merged = vectorMerge.mergePairs(pairs, base, context)
    val replaced = pairs.map(p => ListedFileKey.of(p.own)).toSet
    val (older, newer) = addedEntries.filterNot(e => replaced(ListedFileKey.of(e.file))).partition(hasOlderNumber)
    FileChanges(
      newer.map(_.file) ++ merged,
      new NamedFiles(removed ++ pairs.map(_.concurrent), base),
      older.map(e => OlderFile(e.file, e.sequenceNumber.fold(0L)(sequenceNumberOnTarget(_, base, parent))))
    )
  }

  private def pairsOf(own: Vector[ContentFile], live: Vector[ContentFile]): Vector[VectorPair] = {
    val byFile = own.flatMap(v => v.referencedDataFile.map(_ -> v)).toMap
    live.map(vector => VectorPair(byFile(vector.referencedDataFile.mkString), vector))
  }

  private def hasOlderNumber(entry: ManifestEntry): Boolean = entry.sequenceNumber.exists(_ < source.sequenceNumber)

  /**
   * Returns the data sequence number on the target for a file that has an older data sequence number than its commit,
   * such as a compacted file. The file includes the changes of the branch up to some commit. The result is the sequence
   * number that this commit got when it was applied to the target, so that the same equality deletes of the branch
   * apply to the file as before.
   */
  private def sequenceNumberOnTarget(number: Long, base: TableMetadata, parent: Option[Snapshot]): Long = {
    val sinceAncestor = parent.iterator.flatMap(base.ancestors).takeWhile(_.snapshotId != commit.ancestor)
    val applied = sinceAncestor.filter { snapshot =>
      val original = snapshot.count(SummaryKey.SourceSnapshotId).flatMap(base.findSnapshot)
      original.exists(_.sequenceNumber <= number)
    }.map(_.sequenceNumber)
    if (applied.hasNext) applied.max else number
  }

  override protected def operation(tree: WrittenTree): Operation =
    Operation.all.find(o => source.operation.contains(o.name)).getOrElse {
      if (tree.removed.isEmpty && tree.added.forall(_.content == Content.Data)) Operation.Append
      else Operation.Overwrite
    }

  override protected def summary: Map[String, String] =
    source.summary.filter(_._1 == SummaryKey.ReplacePartitions) ++
      source.summary.get(SummaryKey.WapId).orElse(source.summary.get(SummaryKey.PublishedWapId))
        .map(SummaryKey.PublishedWapId -> _) +
      (SummaryKey.SourceSnapshotId -> source.snapshotId.toString)
}
