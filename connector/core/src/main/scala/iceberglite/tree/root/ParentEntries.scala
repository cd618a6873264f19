package iceberglite.tree.root

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.{EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.tree.{CloseableIterator, SnapshotFiles, TreeTable}
import iceberglite.tree.manifestlist.{AddedFileCheck, ManifestCounts, ManifestListFiles, ManifestPart}

/**
 * The live entries of the parent snapshot of a commit.
 *
 * @param entries the live entries in the root of the parent, with all inherited values
 * @param leaves the leaf manifests that the root lists
 * @param inline the files that the root lists itself
 * @param vectors the deletion vectors of the leaves, by the location of the leaf
 * @param read reads the entries that a leaf lists, with their positions in the file
 */
final private[root] case class ParentEntries(
    entries: Vector[ContentEntry],
    leaves: Vector[LeafPart],
    inline: Vector[InlinePart],
    vectors: Map[String, LeafVectors],
    read: LeafPart => CloseableIterator[(Long, ManifestEntry)]
)

private[root] object ParentEntries {
  private val Empty =
    ParentEntries(Vector.empty, Vector.empty, Vector.empty, Map.empty, _ => CloseableIterator.of(Iterator.empty))

  /**
   * Returns the entries of the parent. If the parent has a manifest list, its manifests with live files become leaves
   * without being rewritten.
   *
   * @param rowIds assigns first row ids to data manifests that have none, because they were written before version 3
   */
  def of(parent: Option[SnapshotFiles], table: TreeTable, columns: StatsColumns, rowIds: NextRowId): ParentEntries =
    parent match {
      case None => Empty
      case Some(root: RootFiles) =>
        ParentEntries(carriedOver(root), root.leaves, root.inline, root.vectors, root.positioned)
      case Some(list: ManifestListFiles) => upgraded(list, table, columns, rowIds)
      case Some(other) => throw Unsupported(
          s"a commit to ${table.name}, because snapshot ${other.snapshot.snapshotId} has an unknown metadata layout",
          "Upgrade iceberg-lite"
        )
    }

  /**
   * Returns the live entries of a root, without the deletion vectors of leaves that are not live any more. Delete
   * leaves that apply only to such a leaf, or whose affiliation is contradictory, are carried over without an
   * affiliation. If another writer has written several vectors of a leaf, one vector replaces them, because a leaf must
   * have at most one.
   */
  private def carriedOver(root: RootFiles): Vector[ContentEntry] = {
    val leaves = root.leaves.map(leaf => leaf.path -> leaf).toMap
    val (several, single) =
      root.vectors.filter(v => leaves.contains(v._1) && v._2.live.nonEmpty).partition(_._2.live.size > 1)
    def isKept(e: ContentEntry) =
      e.isLive && (e.content != EntryContent.ManifestVector || e.referencedFile.exists(single.contains))
    root.root.filter(isKept).map(e =>
      if (e.content != EntryContent.DeleteManifest) e
      else e.copy(referencedFile = leaves.get(e.location).flatMap(_.dataPart))
    ) ++ several.map { case (leaf, vectors) => united(leaves(leaf).leaf, vectors) }
  }

  /** Returns one vector with the positions of all live vectors of a leaf. It removes no further entries. */
  private def united(leaf: ContentEntry, vectors: LeafVectors): ContentEntry = {
    val newest = vectors.live.map(_.version).maxBy(_.sequenceNumber.getOrElse(0L))
    ManifestVectors.entry(leaf, vectors.positions, newest.copy(status = EntryStatus.Existing))
  }

  private def upgraded(
      list: ManifestListFiles,
      table: TreeTable,
      columns: StatsColumns,
      rowIds: NextRowId
  ): ParentEntries = {
    val parts = list.manifestParts.filter(_.hasLiveFiles)
    parts.find(_.isColumnar).foreach(part => refuseColumnar(part, table))
    val counted = table.pool.map(parts) { part =>
      val m = part.manifest
      if (needsRowIds(m)) list.entries(part).filter(e => e.isLive && e.file.firstRowId.isEmpty)
        .foreach(e => AddedFileCheck.checkExisting(e.file))
      if (ManifestCounts.hasCounts(m)) m else ManifestCounts.withCounts(m, list.entries(part))
    }
    val entries = counted.map(m => LeafUpgrade.entry(withRowIds(m, rowIds), columns))
    val leaves = entries.map(new LeafPart(_, Array.emptyByteArray, columns, table.specs))
    ParentEntries(entries, leaves, Vector.empty, Map.empty, leaf => leaf.positioned(leaf.allEntries(table.io)))
  }

  /** Refuses a manifest of Apache Iceberg's draft of version 4, which has other columns than the leaves of a root. */
  private def refuseColumnar(part: ManifestPart, table: TreeTable): Nothing = throw Unsupported(
    s"a commit to ${table.name}, because another writer has written its manifest ${part.path} as a Parquet file",
    "Write the table with that writer, or copy it with CREATE TABLE AS SELECT"
  )

  private def needsRowIds(m: ManifestFile): Boolean = m.content == ManifestContent.Data && m.firstRowId.isEmpty

  private def withRowIds(m: ManifestFile, rowIds: NextRowId): ManifestFile =
    if (needsRowIds(m))
      m.copy(firstRowId = Some(rowIds.take(m.addedRowsCount.getOrElse(0L) + m.existingRowsCount.getOrElse(0L))))
    else m
}
