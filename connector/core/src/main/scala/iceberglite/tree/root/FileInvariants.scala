package iceberglite.tree.root

import scala.util.hashing.MurmurHash3

import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.tree.{FilePart, PartFilter, SnapshotFiles, TreeTable, TreeViolation}

/**
 * Checks the rules (see [[TreeInvariants]]) about the files that the root manifest and all leaf manifests list
 * together. The paths of about `maxFiles` files are in memory at the same time. If there are more files, the parts are
 * read several times, each time for a different share (subset) of the files.
 *
 * @param parent the files of the parent snapshot, in any layout; absent if there is no parent or it has expired
 */
final private[root] class FileInvariants(
    files: RootFiles,
    parent: Option[SnapshotFiles],
    table: TreeTable,
    maxFiles: Int
) {
  private val ids: Set[String] = files.parts.map(_.id).toSet
  private val parentIds: Set[String] = parent.toVector.flatMap(_.parts.map(_.id)).toSet

  /** The parts that the parent does not have, and the parts that only the parent has. */
  private val newParts = files.parts.filterNot(part => parentIds(part.id))
  private val oldParts = parent.toVector.flatMap(p => p.parts.filterNot(part => ids(part.id)))

  /** Whether the parent is unknown: it has expired, or the snapshot is that of a clone, which has no parent. */
  private val hasLostParent = parent.isEmpty && (files.snapshot.parentSnapshotId.isDefined || files.root.exists(e =>
    e.isLive && !e.version.snapshotId.contains(files.snapshot.snapshotId)
  ))

  /** The leaves of the parent that the root no longer lists, not even as removed by the snapshot. */
  private val droppedLeaves: Vector[LeafPart] = {
    val paths = (files.leaves ++ files.removedLeaves).map(_.path).toSet
    parent.toVector.collect { case p: RootFiles => p.leaves }.flatten.filterNot(leaf => paths(leaf.path))
  }

  private val shares: Int = {
    val count = (files.parts ++ oldParts).iterator.map(_.estimatedLiveFiles).sum
    math.max(1L, (count + maxFiles - 1) / maxFiles).toInt
  }

  def violations: Vector[TreeViolation] =
    (0 until shares).toVector.flatMap(share => filesOf(share) ++ changes(share) ++ rewrites(share) ++ rowIds(share))

  private def filesOf(share: Int): Vector[TreeViolation] = uniqueFiles(share) ++ affiliated(share)

  private def isIn(share: Int)(name: String): Boolean =
    shares == 1 || Math.floorMod(MurmurHash3.stringHash(name), shares) == share

  private def collect[A](parts: Vector[FilePart], of: SnapshotFiles)(f: ManifestEntry => Option[A]): Vector[A] =
    table.pool.map(parts)(part => of.entries(part).filter(_.isLive).flatMap(e => f(e)).toVector).flatten

  private def keys(parts: Vector[FilePart], of: SnapshotFiles, share: Int): Vector[String] =
    collect(parts, of)(e => Some(InlinePart.key(e)).filter(isIn(share)))

  private def duplicates(names: Vector[String]): Vector[String] =
    if (names.distinct.size == names.size) Vector.empty
    else names.groupBy(identity).collect { case (name, several) if several.size > 1 => name }.toVector.sorted

  /**
   * I6: no file is live more than once, a data file has at most one deletion vector, and the data file of each deletion
   * vector is live.
   */
  private def uniqueFiles(share: Int): Vector[TreeViolation] = {
    val all = keys(files.parts, files, share)
    val vectorsOf = collect(files.parts, files)(e =>
      if (e.file.isDeletionVector) e.file.referencedDataFile.filter(isIn(share)) else None
    )
    val data = collect(files.parts, files)(e =>
      if (e.file.content == Content.Data) Some(e.file.path).filter(isIn(share)) else None
    ).toSet
    duplicates(all).map(k => TreeViolation("I6", s"The file $k is live more than once")) ++
      duplicates(vectorsOf).map(f => TreeViolation("I6", s"$f has several deletion vectors")) ++
      vectorsOf.filterNot(data).map(f => TreeViolation("I6", s"The deletion vector of $f applies to no live file"))
  }

  /**
   * I6: a delete manifest that is affiliated to a data manifest lists only deletion vectors of files in this manifest.
   * Otherwise, a scan that does not read the data manifest would lose deletes of other files.
   */
  private def affiliated(share: Int): Vector[TreeViolation] = {
    val dataManifests = files.leaves.map(leaf => leaf.path -> leaf).toMap
    val groups = files.leaves.groupBy(_.leaf.referencedFile.flatMap(dataManifests.get)).toVector
    groups.collect { case (Some(target), leaves) => target -> leaves }.sortBy(_._1.path).flatMap {
      case (target, leaves) =>
        val listed = collect(Vector(target), files)(e => Some(e.file.path).filter(isIn(share))).toSet
        val others = collect(leaves, files)(e =>
          Some(e.file.referencedDataFile.getOrElse(e.file.path)).filter(name => isIn(share)(name) && !listed(name))
        )
        others.map(name =>
          TreeViolation(
            "I6",
            s"A delete manifest applies only to the files of ${target.path}, but lists deletes of $name"
          )
        )
    }
  }

  /**
   * I10: the changes according to the root are the difference between its live files and the live files of the parent.
   * Parts that both snapshots have are not read, because they do not contribute to the difference. This rule is not
   * checked if the parent is unknown.
   */
  private def changes(share: Int): Vector[TreeViolation] =
    if (hasLostParent) Vector.empty else differences(share)

  private def differences(share: Int): Vector[TreeViolation] = {
    val now = keys(newParts, files, share).toSet
    val before = parent.fold(Set.empty[String])(keys(oldParts, _, share).toSet)
    val stated =
      files.changes(PartFilter.All).map(e => e.isLive -> InlinePart.key(e)).filter(c => isIn(share)(c._2)).toVector
    val (added, removed) = (stated.collect { case (true, k) => k }.toSet, stated.collect { case (false, k) => k }.toSet)
    def check(found: Set[String], expected: Set[String], what: String): Vector[TreeViolation] = {
      val wrong = (found.diff(expected) ++ expected.diff(found)).toVector.sorted
      wrong.take(1).map(file =>
        TreeViolation("I10", s"The $what files are not those that the root states: ${wrong.size} differ, such as $file")
      )
    }
    check(added, now.diff(before), "added") ++ check(removed, before.diff(now), "removed")
  }

  /** I13: if the root no longer lists a leaf of the parent, all live files of this leaf are still live. */
  private def rewrites(share: Int): Vector[TreeViolation] =
    if (droppedLeaves.isEmpty) Vector.empty
    else {
      val now = keys(newParts, files, share).toSet
      parent.toVector.flatMap(keys(droppedLeaves, _, share)).filterNot(now).map(file =>
        TreeViolation("I13", s"$file was in a manifest that the root no longer lists, and is not live any more")
      )
    }

  /**
   * I9: live data files have row ids below the table's next row id, and disjoint ranges of them. Each share checks an
   * interval of the row ids.
   */
  private def rowIds(share: Int): Vector[TreeViolation] = {
    val next = table.metadata.nextRowId
    val width = next / shares + 1
    val (from, until) = (share * width, if (share == shares - 1) Long.MaxValue else (share + 1) * width)
    def isRelevant(f: ContentFile) =
      f.content == Content.Data && f.firstRowId.forall(first => first < until && first + f.recordCountOrZero > from)
    val data = collect(files.parts, files)(e =>
      if (isRelevant(e.file)) Some((e.file.firstRowId, e.file.recordCountOrZero, e.file.path)) else None
    )
    val missing = if (share > 0) Vector.empty else data.collect { case (None, _, path) => s"$path has no first row id" }
    val ranges = data.collect { case (Some(first), count, path) => (first, first + count, path) }.sorted
    val unassigned = ranges.filter(r => r._2 > next && r._1 >= from).map(r => s"${r._3} has unassigned row ids")
    val overlaps = ranges.zip(ranges.drop(1)).collect {
      case ((_, end, a), (start, _, b)) if start < end && start >= from => s"$a and $b have the same row ids"
    }
    (missing ++ unassigned ++ overlaps).map(TreeViolation("I9", _))
  }
}
