package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.{EntryStatus, ManifestContent, ManifestEntry}
import iceberglite.tree.{FileChanges, FilePart, RemovedDataFiles, NewSnapshotHeader, TreeTable}

/**
 * The entries that a commit removes.
 *
 * @param removed the entries as they were in the parent snapshot
 * @param files the entries, with the status `deleted`, of the removed files that the parent's root manifest lists
 *   itself
 * @param vectors the entries of the new deletion vectors of leaf manifests, and the entries, with the status `deleted`,
 *   of the vectors that the new vectors replace
 * @param changedLeaves the locations of the leaves with new deletion vectors
 */
final private[root] case class RemovedEntries(
    removed: Vector[ManifestEntry],
    files: Vector[ContentEntry],
    vectors: Vector[ContentEntry],
    changedLeaves: Set[String]
) {
  private val keys: Set[(String, Option[VectorContent])] = files.map(e => (e.location, e.vector)).toSet

  /** Returns whether the commit removes a file that the root of the parent lists itself. */
  def contains(e: ContentEntry): Boolean = keys((e.location, e.vector))
}

/**
 * Finds the entries that a commit removes. Leaf manifests are not rewritten. Instead, the positions of the removed
 * entries of a leaf are added to the deletion vector of the leaf.
 */
final private[root] class RemovedEntryFinder(
    base: ParentEntries,
    changes: FileChanges,
    header: NewSnapshotHeader,
    table: TreeTable
) {

  /**
   * The removed entries.
   *
   * @param leaves for each leaf, the removed entries with their positions
   * @param inline the removed files that the root lists itself
   */
  private case class Found(
      leaves: Vector[(LeafPart, Vector[(Long, ManifestEntry)])],
      inline: Vector[(ContentEntry, ManifestEntry)]
  ) {
    def entries: Vector[ManifestEntry] = leaves.flatMap(_._2.map(_._2)) ++ inline.map(_._2)
  }

  def find(): RemovedEntries = {
    val data = find(ManifestContent.Data, RemovedDataFiles.Empty, Set.empty)
    val deletes = find(ManifestContent.Deletes, removedData(data), data.leaves.map(_._1.path).toSet)
    val leaves = data.leaves ++ deletes.leaves
    RemovedEntries(
      data.entries ++ deletes.entries,
      (data.inline ++ deletes.inline).map(e => asDeleted(e._1)),
      leaves.flatMap { case (leaf, removed) => vectorsOf(leaf, removed.map(_._1)) },
      leaves.map(_._1.path).toSet
    )
  }

  /** @param changed the locations of the data manifests from which the commit removes files */
  private def find(content: ManifestContent, obsolete: RemovedDataFiles, changed: Set[String]): Found = {
    def mayLose(part: FilePart) =
      part.hasLiveFiles && (!obsolete.isEmpty && part.dataPart.forall(changed) || changes.remove.mightMatch(part))
    val leaves = base.leaves.filter(p => p.content == content && mayLose(p))
    val found = table.pool.map(leaves) { leaf =>
      val isRemoved = removes(leaf, obsolete)
      leaf -> table.reading(base.read(leaf).filter(e => e._2.isLive && isRemoved(e._2)).toVector)
    }
    val inline = base.inline.filter(p => p.content == content && mayLose(p)).flatMap { part =>
      val isRemoved = removes(part, obsolete)
      table.reading(part.pairs.filter(e => e._2.isLive && isRemoved(e._2)))
    }
    Found(found.filter(_._2.nonEmpty), inline)
  }

  private def removes(part: FilePart, obsolete: RemovedDataFiles): ManifestEntry => Boolean = {
    val isSelected = changes.remove.mightMatch(part)
    e => isSelected && changes.remove.removes(e) || obsolete.makesObsolete(e)
  }

  /** Returns the removed data files and the lowest possible data sequence number of the remaining data files. */
  private def removedData(data: Found): RemovedDataFiles =
    if (data.entries.isEmpty) RemovedDataFiles.Empty
    else {
      val removedOf = data.leaves.map { case (leaf, removed) => leaf.path -> removed.size.toLong }.toMap
      val remaining = base.leaves.filter(_.content == ManifestContent.Data)
        .filter(leaf => leaf.liveFiles.forall(_ > removedOf.getOrElse(leaf.path, 0L)))
      val removedInline = data.inline.map(_._1).toSet
      val inline = base.entries.filter(e => e.content == EntryContent.Data && !removedInline(e))
      val numbers = remaining.map(_.minSequenceNumber) ++ inline.flatMap(_.version.sequenceNumber) ++
        changes.addedOlder.map(_.sequenceNumber)
      new RemovedDataFiles(data.entries.map(_.file.path).toSet, (numbers :+ header.sequenceNumber).min)
    }

  /**
   * Returns the entries of the new vector of a leaf and of the vectors that it replaces.
   *
   * @throws ValidationFailed if the leaf has more entries than the root states, because readers reject such a vector
   */
  private def vectorsOf(leaf: LeafPart, positions: Vector[Long]): Vector[ContentEntry] = {
    val grown = leaf.vector.union(DeletionVector.of(positions: _*))
    grown.firstFrom(leaf.leaf.recordCount).foreach(_ =>
      throw ValidationFailed(
        s"Cannot remove files of the manifest ${leaf.path} of ${table.name}: it has more entries than the " +
          s"${leaf.leaf.recordCount} that the metadata of the table states. Run CALL system.rewrite_manifests first"
      )
    )
    val replaced = base.vectors.get(leaf.path).toVector.flatMap(_.live).map(asDeleted)
    ManifestVectors.entry(leaf.leaf, grown, header.snapshotId, header.sequenceNumber) +: replaced
  }

  private def asDeleted(e: ContentEntry): ContentEntry =
    e.copy(version = e.version.copy(status = EntryStatus.Deleted, snapshotId = Some(header.snapshotId)))
}
