package iceberglite.table.action

import iceberglite.spec.file.{Content, ContentFile, ManifestContent, PartSummary}
import iceberglite.spec.metadata.{Operation, TableMetadata}
import iceberglite.table._

/**
 * The data files that a row delta changes: the data files that its deletes apply to, and the data files that it
 * removes.
 *
 * @param removed the removed data files, by path
 */
final private[action] class DeleteTargets(
    deletes: Vector[ContentFile],
    removed: Map[String, ContentFile],
    deletedFrom: Set[String],
    base: TableMetadata,
    history: BranchHistory,
    context: CommitContext
) {
  private val positions = deletes.filter(_.content == Content.PositionDeletes)
  private val named: Set[String] = positions.flatMap(DeleteApplicability.dataFile).toSet ++ deletedFrom

  /** The position delete files that do not name the data files they apply to. */
  private val withoutDataFile =
    if (deletedFrom.isEmpty) positions.filter(DeleteApplicability.dataFile(_).isEmpty) else Vector.empty
  private val partitions = new Partitions(positions ++ removed.values, base)

  private def isTarget(file: ContentFile): Boolean = named(file.path) || removed.contains(file.path) ||
    withoutDataFile.exists(d => DeleteApplicability.touched(d, Map(file.path -> file), base).isDefined)

  /**
   * Returns the targets that no longer exist.
   *
   * @param mayBeGone whether to tolerate a data file that was deleted with all its rows
   * @throws iceberglite.spec.IcebergError.ValidationFailed a target was removed in another way
   */
  def gone(isolation: Option[Isolation], mayBeGone: Boolean): Set[String] = isolation match {
    case None =>
      val wanted = named ++ removed.keySet
      val live = liveData(wanted).map(_.path).toSet
      (wanted -- live).toVector.sorted.headOption.foreach(NamedFiles.missing(_, "change rows in", context))
      Set.empty
    case Some(i) =>
      val lost = history.changes(history.since(i.since), m => m.content == ManifestContent.Data && mightHold(m))
        .filter(c => c.removed && isTarget(c.entry.file))
      def allDeleted(c: FileChange): Boolean = c.snapshot.operation.contains(Operation.Delete.name)
      lost.find(c => !mayBeGone || !allDeleted(c))
        .foreach(c => NamedFiles.missing(c.entry.file.path, "change rows in", context))
      lost.map(_.entry.file.path).toSet
  }

  /**
   * Returns a concurrent delete file that may delete the same rows. Deletion vectors count only for data files that
   * this commit removes.
   */
  def otherDeletes(isolation: Isolation): Option[(FileChange, ContentFile)] = {
    val kept = liveData(named).map(f => f.path -> f).toMap
    def first(data: Map[String, ContentFile], counts: ContentFile => Boolean): Option[(FileChange, ContentFile)] =
      if (data.isEmpty) None else NewDeletes.of(data, isolation.since, base, history, counts)
    first(removed, _ => true).orElse(first(kept, !_.isDeletionVector))
  }

  private def liveData(paths: Set[String]): Vector[ContentFile] =
    if (paths.isEmpty) Vector.empty
    else history.live(ManifestContent.Data, mightHold(_))(e => paths(e.file.path)).map(_.file)

  /** A data file that is known only by its path may be in any partition. */
  private def mightHold(part: PartSummary): Boolean = deletedFrom.nonEmpty || partitions.mightMatch(part)
}
