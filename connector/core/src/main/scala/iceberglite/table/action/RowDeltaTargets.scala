package iceberglite.table.action

import iceberglite.spec.file.{Content, ContentFile, ManifestContent, PartSummary}
import iceberglite.spec.metadata.{Operation, TableMetadata}
import iceberglite.table._
import iceberglite.tree.FilePartitions
import iceberglite.table.conflict.{BranchHistory, DeleteApplicability, CommittedFileChange, Isolation}

/**
 * The targets of a row delta (see [[RowDeltaTargets]]) that concurrent commits removed.
 *
 * @param deleted the paths of the data files whose rows were all deleted
 * @param rewritten the removals of data files by rewrites, which wrote the same rows to other files
 */
final private[action] case class RemovedTargets(deleted: Set[String], rewritten: Vector[CommittedFileChange]) {
  val rewrittenFiles: Map[String, ContentFile] = rewritten.map(c => c.entry.file.path -> c.entry.file).toMap

  def contains(path: String): Boolean = deleted(path) || rewrittenFiles.contains(path)
}

/**
 * The targets of a row delta: the data files that its deletes apply to, and the data files that it removes.
 *
 * @param deletes the delete files that the row delta adds
 * @param removed the data files that the row delta removes, by path
 * @param affectedDataFiles the paths of the data files that the deletes apply to, if the writer states them
 */
final private[action] class RowDeltaTargets(
    deletes: Vector[ContentFile],
    removed: Map[String, ContentFile],
    affectedDataFiles: Set[String],
    base: TableMetadata,
    history: BranchHistory,
    context: CommitContext
) {
  private val positions = deletes.filter(_.content == Content.PositionDeletes)
  private val targetPaths: Set[String] = positions.flatMap(_.onlyDataFile).toSet ++ affectedDataFiles

  /** The position delete files whose data files are unknown. */
  private val withoutDataFile =
    if (affectedDataFiles.isEmpty) positions.filter(_.onlyDataFile.isEmpty) else Vector.empty
  private val partitions = new FilePartitions(positions ++ removed.values, base)

  private def isTarget(file: ContentFile): Boolean = targetPaths(file.path) || removed.contains(file.path) ||
    withoutDataFile.exists(d => DeleteApplicability.affectedFile(d, Map(file.path -> file), base).isDefined)

  /**
   * Returns the targets that no longer exist. The caller must reject the commit if a target was rewritten, after it has
   * validated the commit against the other concurrent commits.
   *
   * @param allowDeleted whether to tolerate that a data file was removed because all of its rows were deleted
   * @throws iceberglite.spec.IcebergError.ConcurrentChange if a target was removed in a way that is not tolerated
   */
  def removedTargets(isolation: Option[Isolation], allowDeleted: Boolean): RemovedTargets = isolation match {
    case None =>
      val targets = targetPaths ++ removed.keySet
      val live = liveData(targets).map(_.path).toSet
      (targets -- live).toVector.sorted.headOption.foreach(NamedFiles.missing(_, "change rows in", context))
      RemovedTargets(Set.empty, Vector.empty)
    case Some(i) =>
      val (rewritten, removals) =
        history.changes(history.commitsSince(i.since), m => m.content == ManifestContent.Data && mightList(m))
          .filter(c => c.isRemoved && isTarget(c.entry.file)).partition(_.isRewrite)
      def allDeleted(c: CommittedFileChange): Boolean = c.snapshot.operation.contains(Operation.Delete.name)
      removals.find(c => !allowDeleted || !allDeleted(c))
        .foreach(c => NamedFiles.missing(c.entry.file.path, "change rows in", context))
      RemovedTargets(removals.map(_.entry.file.path).toSet, rewritten)
  }

  /**
   * Returns a concurrent delete file that may delete rows of a target. Concurrent deletion vectors of data files that
   * this commit keeps are ignored, because they are merged with the vectors of this commit.
   *
   * @param rewritten the targets that were rewritten, by path
   * @param isRelevant selects the concurrent delete files to check
   */
  def otherDeletes(
      isolation: Isolation,
      rewritten: Map[String, ContentFile],
      isRelevant: ContentFile => Boolean = _ => true
  ): Option[(CommittedFileChange, ContentFile)] = {
    def first(
        data: Map[String, ContentFile],
        select: ContentFile => Boolean
    ): Option[(CommittedFileChange, ContentFile)] =
      if (data.isEmpty) None else NewDeletes.of(data, isolation.since, base, history, select)
    first(removed, isRelevant).orElse {
      val kept = liveTargets.map(f => f.path -> f).toMap
      first(kept ++ (rewritten -- removed.keys), f => !f.isDeletionVector && isRelevant(f))
    }
  }

  private def liveTargets: Vector[ContentFile] =
    if (withoutDataFile.isEmpty) liveData(targetPaths)
    else history.liveEntries(ManifestContent.Data, mightList(_))(e => isTarget(e.file)).map(_.file)

  private def liveData(paths: Set[String]): Vector[ContentFile] =
    if (paths.isEmpty) Vector.empty
    else history.liveEntries(ManifestContent.Data, mightList(_))(e => paths(e.file.path)).map(_.file)

  /**
   * Returns whether the part of the metadata tree (a manifest in format versions 1 to 3) may list a target. A target
   * that is known only by its path may be in any partition.
   */
  private def mightList(part: PartSummary): Boolean = affectedDataFiles.nonEmpty || partitions.mightMatch(part)
}
