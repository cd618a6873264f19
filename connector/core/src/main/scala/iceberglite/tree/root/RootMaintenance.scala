package iceberglite.tree.root

import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry}
import iceberglite.tree.{CloseableIterator, ManifestRewrite, TreeTable}

/**
 * Limits the size of a root manifest and the number of its leaf manifests. Only entries that the commit carries over
 * are rewritten. The rewritten entries have the status `existing`, so that the entries with the status `added` or
 * `deleted` are still exactly the changes of the commit.
 *
 * @param read reads the entries that a leaf lists
 */
final private[root] class RootMaintenance(
    table: TreeTable,
    columns: StatsColumns,
    leaves: LeafManifestWriter,
    limits: RootLimits,
    read: LeafPart => CloseableIterator[ManifestEntry]
) {
  private val files = new EntryFiles(columns)

  /**
   * Moves the oldest files of the root to leaves, if the root lists too many files, or if their entries are too large
   * together. If the root itself lists deletion vectors of moved data files, the vectors move to a delete manifest,
   * whose `referenced_file` is the new manifest of the data files.
   *
   * @param entries the entries that the commit carries over
   * @param all whether to move all files
   */
  def flush(entries: Vector[ContentEntry], all: Boolean): Vector[ContentEntry] = {
    val data = oldest(entries.filter(_.content == EntryContent.Data), limits.maxDataFiles, all)
    val flushed = data.groupBy(_.specId).values.toVector.sortBy(_.head.specId).map(flushWithVectors(_, entries))
    val moved = flushed.flatMap(_._2).toSet
    val rest = entries.filterNot(moved)
    val deletes = oldest(rest.filter(isDelete), limits.maxDeleteFiles, all)
    val deleteLeaves = deletes.groupBy(_.specId).values.toVector.map(leaves.write(_, Existing))
    rest.filterNot(deletes.toSet) ++ flushed.flatMap(_._1) ++ deleteLeaves
  }

  private def isDelete(e: ContentEntry): Boolean =
    e.content == EntryContent.PositionDeletes || e.content == EntryContent.EqualityDeletes

  /**
   * Returns the oldest entries, which move to a leaf; all entries if `all` is set; otherwise empty if there are at most
   * `limit` entries and they are not too large together.
   */
  private def oldest(entries: Vector[ContentEntry], limit: Int, all: Boolean): Vector[ContentEntry] =
    if (all) entries
    else if (entries.size <= limit && EntrySizes.of(entries) <= limits.inlineBytes) Vector.empty
    else {
      val sorted = entries.sortBy(_.version.sequenceNumber.getOrElse(0L))
      val maxBytes = limits.inlineBytes / limits.flushedShare
      val newest = sorted.reverseIterator.take(limit / limits.flushedShare)
      val bytes = newest.scanLeft(0L)((sum, e) => sum + EntrySizes.of(e)).drop(1)
      sorted.dropRight(bytes.takeWhile(_ <= maxBytes).size)
    }

  /** Writes leaves of data files and of their deletion vectors. @return the leaves, and the entries that they list */
  private def flushWithVectors(
      data: Vector[ContentEntry],
      entries: Vector[ContentEntry]
  ): (Vector[ContentEntry], Vector[ContentEntry]) = {
    val paths = data.map(_.location).toSet
    val vectors =
      entries.filter(e => e.content == EntryContent.PositionDeletes && e.specId == data.head.specId)
        .filter(_.referencedFile.exists(paths))
    val dataLeaf = leaves.write(data, Existing)
    val vectorLeaf =
      if (vectors.isEmpty) None
      else Some(leaves.write(vectors, Existing).copy(referencedFile = Some(dataLeaf.location)))
    (dataLeaf +: vectorLeaf.toVector, data ++ vectors)
  }

  /**
   * Rewrites leaves with many removed entries without these entries, and merges leaves of about the same size.
   *
   * @param unchanged the leaves among the entries whose deletion vectors the commit does not change
   */
  def rewrite(entries: Vector[ContentEntry], unchanged: Vector[LeafPart]): Vector[ContentEntry] = {
    val candidates = unchanged.filter(isRewritable)
    val folded = chooseFolded(candidates)
    val groups = folded.map(Vector(_)) ++ chooseMerged(candidates.filterNot(folded.toSet))
    val written = table.pool.map(groups)(group => group -> combined(group))
    val replacements = written.flatMap { case (old, leaves) =>
      old.map(_.path -> leaves.headOption.filter(_ => leaves.size == 1).map(_.location))
    }
    replace(entries, replacements.toMap, written.flatMap(_._2))
  }

  /**
   * Returns whether a commit of other changes may rewrite the leaf. Delete manifests in Avro may list position delete
   * files, which manifests of version 4 cannot list.
   */
  private def isRewritable(leaf: LeafPart): Boolean = leaf.isColumnar || leaf.content == ManifestContent.Data

  /** Returns whether a rewrite of manifests may rewrite the leaf. Reads the delete manifests in Avro. */
  private def isMovable(leaf: LeafPart): Boolean = isRewritable(leaf) ||
    !table.reading(read(leaf).exists(e => e.isLive && isPositionDeleteFile(e.file)))

  private def isPositionDeleteFile(file: ContentFile): Boolean =
    file.content == Content.PositionDeletes && !file.isDeletionVector

  /**
   * Rewrites chosen leaves and files of the root with their entries in the given order. Delete manifests in Avro that
   * list position delete files are kept, because manifests of version 4 cannot list these files.
   *
   * @param unchanged the leaves among the entries whose deletion vectors the commit does not change
   * @param inline the files that the parent's root lists itself
   * @param earlier the result of an earlier attempt
   * @return the new entries of the root and the rewrite; absent if nothing is chosen
   */
  def rewriteChosen(
      entries: Vector[ContentEntry],
      unchanged: Vector[LeafPart],
      inline: Vector[InlinePart],
      by: ManifestRewrite,
      earlier: Option[RewrittenLeaves]
  ): Option[(Vector[ContentEntry], RewrittenLeaves)] = {
    val rewriter = new LeafRewriter(table, read, new LeafRuns(columns), writeLeaf, isMovable, limits.maxRewriteBytes)
    rewriter.rewrite(unchanged, inline, by, earlier).map { result =>
      val rest = entries.filterNot(e => e.isFile && result.moved(InlinePart.key(e)))
      (replace(rest, result.groups, result.written.map(leaves.recommitted)), result)
    }
  }

  /**
   * Returns the entries of the root with new leaves instead of the replaced leaves and their deletion vectors. A delete
   * manifest that references a replaced data manifest references the new data manifest instead, if a single new data
   * manifest lists all files.
   *
   * @param replacements for each replaced leaf, the new leaf that lists all of its files; `None` if several new leaves
   *   list them, or if it has no live files
   */
  private def replace(
      entries: Vector[ContentEntry],
      replacements: Map[String, Option[String]],
      written: Vector[ContentEntry]
  ): Vector[ContentEntry] = {
    val kept = entries.filterNot { e =>
      if (e.manifest.isDefined) replacements.contains(e.location)
      else e.content == EntryContent.ManifestVector && e.referencedFile.exists(replacements.contains)
    }
    (kept ++ written).map(e =>
      if (e.content != EntryContent.DeleteManifest) e
      else e.copy(referencedFile = e.referencedFile.flatMap(target => replacements.getOrElse(target, Some(target))))
    )
  }

  /**
   * Returns the leaves with the largest shares of removed entries, among the leaves for which this share is at least 1
   * / `foldShare`. The total size of the returned leaves is at most `maxFoldBytes`, so a leaf that alone is larger is
   * never returned.
   */
  private def chooseFolded(leaves: Vector[LeafPart]): Vector[LeafPart] = {
    val sparse = leaves.filter(l => !l.vector.isEmpty && l.vector.cardinality * limits.foldShare >= l.leaf.recordCount)
      .filter(_.length <= limits.maxFoldBytes)
    val sorted = sparse.sortBy(l => -l.vector.cardinality.toDouble / l.leaf.recordCount)
    sorted.scanLeft((0L, Option.empty[LeafPart])) { case ((size, _), l) => (size + l.length, Some(l)) }
      .takeWhile(_._1 <= limits.maxFoldBytes).flatMap(_._2)
  }

  /**
   * Returns groups of `mergeCount` leaves with about the same number of entries, the smallest first. The leaves of a
   * group list files of the same content and partition spec, and are affiliated with the same data manifest, if any.
   */
  private def chooseMerged(leaves: Vector[LeafPart]): Vector[Vector[LeafPart]] = {
    def key(l: LeafPart) = (l.content.code, l.specId, l.dataPart, tier(l.leaf.recordCount))
    def smallest(group: Vector[LeafPart]) = Some(group.sortBy(_.length).take(limits.mergeCount))
      .filter(chosen => chosen.size == limits.mergeCount && chosen.map(_.length).sum <= limits.maxMergeBytes)
    val tiers = leaves.groupBy(key)
    leaves.map(key).distinct.map(tiers).filter(smallest(_).isDefined).flatMap(byValueTypes).flatMap(smallest(_))
  }

  /**
   * Divides leaves of one partition spec by the types of the partition values in their files, because a merge of leaves
   * with different types would write several leaves again. If a field has an unknown transform, the leaves are read: a
   * root that lists leaves with different types has no bounds of the field.
   */
  private def byValueTypes(leaves: Vector[LeafPart]): Vector[Vector[LeafPart]] = {
    val fields = OpaqueStatistics.opaqueFields(columns, leaves.head.specId)
    if (fields.isEmpty) Vector(leaves)
    else {
      val types = table.pool.map(leaves)(leaf =>
        table.reading(OpaqueStatistics.typesOf(fields, read(leaf).filter(_.isLive)))
      )
      val byTypes = leaves.zip(types).groupBy(_._2)
      types.distinct.map(byTypes(_).map(_._1))
    }
  }

  /**
   * Returns the size class of a leaf with this number of entries. Leaves in a class have about `mergeCount` times as
   * many entries as leaves in the class below it.
   */
  private def tier(entries: Long): Int =
    (math.log(math.max(1.0, entries.toDouble)) / math.log(math.max(2, limits.mergeCount).toDouble)).toInt

  /** Writes the live entries of leaves to one leaf, if possible; empty if they have none. */
  private def combined(group: Vector[LeafPart]): Vector[ContentEntry] =
    writeDivided(live(group)).map(_.copy(referencedFile = group.head.dataPart))

  /** Writes entries to one leaf or, if their partition values have several types, to several leaves. */
  private def writeDivided(entries: Vector[ManifestEntry]): Vector[ContentEntry] =
    if (entries.isEmpty) Vector.empty
    else OpaqueStatistics.divide(columns, entries).map(writeLeaf)

  private def writeLeaf(entries: Vector[ManifestEntry]): ContentEntry =
    leaves.write(entries.map(files.toContent), Existing)

  private def live(group: Vector[LeafPart]): Vector[ManifestEntry] = group.flatMap { leaf =>
    table.reading(read(leaf).filter(_.isLive).map(_.copy(status = Existing)).toVector)
  }
}
