package iceberglite.table.action

import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.conflict.{BranchHistory, DeleteApplicability, CommittedFileChange}
import iceberglite.tree.FilePartitions

/** Finds delete files that other commits added for given data files. */
private[action] object NewDeletes {

  /**
   * Returns the first delete file that a concurrent commit added for one of the data files, with this data file. Delete
   * files that a rewrite added are ignored, because the same deletes were in other delete files before. Delete files of
   * a rewrite that converted equality deletes are not ignored if the equality deletes were committed after `since`.
   *
   * @param data the data files, by path
   * @param since the snapshot that the writer read; if absent, all snapshots of the branch are concurrent
   * @param isRelevant selects the delete files to check
   */
  def of(
      data: Map[String, ContentFile],
      since: Option[Long],
      base: TableMetadata,
      history: BranchHistory,
      isRelevant: ContentFile => Boolean
  ): Option[(CommittedFileChange, ContentFile)] = {
    val partitions = new FilePartitions(data.values.toVector, base)
    val snapshots = history.concurrentCommits(since)
    val changes = history.changes(
      snapshots,
      p =>
        p.content == ManifestContent.Deletes && (partitions.mightMatch(p) || DeleteApplicability.mayBeGlobal(p, base))
    )
    val sinceNumber = since.fold(0L)(base.snapshot(_).sequenceNumber)
    val conversions = changes.collect {
      case c
          if c.isRewrite && c.isRemoved && c.entry.file.content == Content.EqualityDeletes &&
            c.entry.sequenceNumber.exists(_ > sinceNumber) => c.snapshot
    }.toSet
    val found = changes.iterator
      .filter(c => c.isAdded && (!c.isRewrite || conversions(c.snapshot)) && isRelevant(c.entry.file))
      .flatMap(c => DeleteApplicability.affectedFile(c.entry.file, data, base).map((c, _)))
    if (found.hasNext) Some(found.next()) else None
  }
}

/** Finds the deletion vectors of data files. */
private[action] object LiveDeletionVectors {

  /**
   * Returns the live deletion vectors of the data files that the given vectors reference. Other commits may have added
   * these live vectors. Vectors in `removed` are not returned.
   *
   * @param vectors deletion vectors in the same partitions as their data files
   * @param removed files that are removed in the same commit
   */
  def ofSameDataFiles(
      vectors: Vector[ContentFile],
      removed: Vector[ContentFile],
      base: TableMetadata,
      history: BranchHistory
  ): Vector[ContentFile] = {
    val paths = vectors.flatMap(_.referencedDataFile).toSet
    val removedKeys = removed.map(ListedFileKey.of).toSet
    val partitions = new FilePartitions(vectors, base)
    if (paths.isEmpty) Vector.empty
    else history.liveEntries(ManifestContent.Deletes, partitions) { e =>
      e.file.isDeletionVector && e.file.referencedDataFile.exists(paths) && !removedKeys(ListedFileKey.of(e.file))
    }.map(_.file)
  }

  /**
   * Returns the deletion vectors that other commits added for the data files that the given vectors reference. They may
   * no longer be live, because the data files may have been rewritten. Vectors that rewrites added are not returned.
   */
  def addedConcurrently(
      vectors: Vector[ContentFile],
      since: Option[Long],
      base: TableMetadata,
      history: BranchHistory
  ): Vector[ContentFile] = {
    val paths = vectors.flatMap(_.referencedDataFile).toSet
    val partitions = new FilePartitions(vectors, base)
    if (paths.isEmpty) Vector.empty
    else history.changes(
      history.concurrentCommits(since),
      p => p.content == ManifestContent.Deletes && partitions.mightMatch(p)
    ).filter(c => c.isAdded && !c.isRewrite && c.entry.file.isDeletionVector).map(_.entry.file)
      .filter(_.referencedDataFile.exists(paths))
  }

  /** Returns the deletion vector that the data file of the given vector had at a snapshot. */
  def at(
      snapshotId: Option[Long],
      vector: ContentFile,
      base: TableMetadata,
      history: BranchHistory
  ): Option[ContentFile] = {
    val partitions = new FilePartitions(Vector(vector), base)
    history.liveEntriesAt(snapshotId.map(base.snapshot), ManifestContent.Deletes, partitions) { e =>
      e.file.isDeletionVector && e.file.referencedDataFile == vector.referencedDataFile
    }.headOption.map(_.file)
  }
}
