package iceberglite.tree.root

import iceberglite.spec.file.{EntryStatus, ManifestEntry, ManifestFile}
import iceberglite.tree.{EntryCounts, TreeRoot}

/** Describes the root manifest and the leaf manifests of a tree for metadata tables. */
private[root] object TreeNodes {

  /** Returns the description of a root. @param length the length of its file in bytes */
  def root(path: String, length: Long, entries: Vector[ContentEntry]): TreeRoot = {
    def counts(contents: EntryContent*) = {
      val statuses = entries.filter(e => contents.contains(e.content)).map(_.version.status)
      def of(status: EntryStatus) = statuses.count(_ == status)
      EntryCounts(of(EntryStatus.Added), of(EntryStatus.Existing), of(EntryStatus.Deleted))
    }
    TreeRoot(
      path,
      length,
      entries.size,
      entries.count(!_.isLive),
      counts(EntryContent.Data),
      counts(EntryContent.PositionDeletes, EntryContent.EqualityDeletes)
    )
  }

  /**
   * Returns the description of a leaf. Its counts of added and existing files include only live entries. Its count of
   * deleted files includes the entries that its deletion vector removes. If it has such a vector, its row counts are
   * absent.
   *
   * @param live returns the entries that the vector does not remove. They are read only if the entries have several
   *   statuses, as in some manifests of earlier versions
   */
  def leaf(part: LeafPart, live: => Iterator[ManifestEntry]): ManifestFile = {
    val described = LeafUpgrade.manifest(part.leaf, part.stats)
      .copy(partitions = part.partitions, keyMetadata = part.leaf.keyMetadata)
    if (part.vector.isEmpty) described
    else {
      val (added, existing) = liveCounts(part, live)
      described.copy(
        addedFilesCount = Some(added),
        existingFilesCount = Some(existing),
        deletedFilesCount = Some(math.max(0L, part.leaf.recordCount - added - existing).toInt),
        addedRowsCount = None,
        existingRowsCount = None,
        deletedRowsCount = None
      )
    }
  }

  private def liveCounts(part: LeafPart, live: => Iterator[ManifestEntry]): (Int, Int) = {
    val stats = part.stats
    def remaining(count: Int): Int = math.max(0L, count - part.vector.cardinality).toInt
    if (stats.deletedFiles == 0 && stats.existingFiles == 0) (remaining(stats.addedFiles), 0)
    else if (stats.deletedFiles == 0 && stats.addedFiles == 0) (0, remaining(stats.existingFiles))
    else live.foldLeft((0, 0)) { case ((added, existing), e) =>
      e.status match {
        case EntryStatus.Added => (added + 1, existing)
        case EntryStatus.Existing => (added, existing + 1)
        case EntryStatus.Deleted => (added, existing)
      }
    }
  }
}
