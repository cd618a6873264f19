package iceberglite.tree.root

import iceberglite.spec.file._
import iceberglite.spec.types.SingleValue

/**
 * Converts between the entry of an Avro manifest in a manifest list (versions 1 to 3) and its entry in a root manifest
 * (version 4), of which it is a leaf. The manifests themselves are not rewritten.
 */
private[root] object LeafUpgrade {

  /** Returns the manifest that the entry of a leaf describes, without partition summaries and key metadata. */
  def manifest(leaf: ContentEntry, stats: ManifestStats): ManifestFile = ManifestFile(
    path = leaf.location,
    length = leaf.fileSizeInBytes.getOrElse(0L),
    partitionSpecId = leaf.specId,
    content = if (leaf.content == EntryContent.DataManifest) ManifestContent.Data else ManifestContent.Deletes,
    sequenceNumber = leaf.version.sequenceNumber.getOrElse(0L),
    minSequenceNumber = stats.minSequenceNumber,
    addedSnapshotId = leaf.version.snapshotId.getOrElse(0L),
    addedFilesCount = Some(stats.addedFiles),
    existingFilesCount = Some(stats.existingFiles),
    deletedFilesCount = Some(stats.deletedFiles),
    addedRowsCount = Some(stats.addedRows),
    existingRowsCount = Some(stats.existingRows),
    deletedRowsCount = Some(stats.deletedRows),
    partitions = None,
    firstRowId = leaf.firstRowId
  )

  /**
   * Returns the root's entry for a manifest of a manifest list.
   *
   * @param m a manifest with all counts and, if it lists data files, with a first row id
   */
  def entry(m: ManifestFile, columns: StatsColumns): ContentEntry = {
    val number = Some(m.sequenceNumber)
    val stats = ManifestStats(
      m.addedFilesCount.getOrElse(0),
      m.existingFilesCount.getOrElse(0),
      m.deletedFilesCount.getOrElse(0),
      m.addedRowsCount.getOrElse(0L),
      m.existingRowsCount.getOrElse(0L),
      m.deletedRowsCount.getOrElse(0L),
      m.minSequenceNumber
    )
    ContentEntry(
      content = if (m.content == ManifestContent.Data) EntryContent.DataManifest else EntryContent.DeleteManifest,
      location = m.path,
      format = FileFormat.Avro,
      version = VersionInfo(EntryStatus.Existing, Some(m.addedSnapshotId), number, number),
      specId = m.partitionSpecId,
      recordCount = stats.addedFiles.toLong + stats.existingFiles + stats.deletedFiles,
      fileSizeInBytes = Some(m.length),
      stats = statsOf(m, columns),
      manifest = Some(stats),
      keyMetadata = m.keyMetadata,
      firstRowId = m.firstRowId.filter(_ => m.content == ManifestContent.Data)
    )
  }

  private def statsOf(m: ManifestFile, columns: StatsColumns): ContentStats = {
    val keys = columns.keysOf(m.partitionSpecId)
    val summaries = m.partitions.filter(_.size == keys.size).getOrElse(Vector.empty)
    ContentStats(keys.zip(summaries).collect { case (Some(key), summary) =>
      key.id -> fieldStats(summary, columns.byId.get(key.id))
    }.filterNot(_._2.isEmpty).toMap)
  }

  /** Returns the statistics of a partition field. If the summary contains nulls or NaNs, their number is unknown. */
  private def fieldStats(summary: FieldSummary, column: Option[StatsColumn]): FieldStats = {
    val t = column.flatMap(_.boundType)
    FieldStats(
      lower = t.flatMap(t => summary.lowerBound.flatMap(SingleValue.decodeValid(t, _))),
      upper = t.flatMap(t => summary.upperBound.flatMap(SingleValue.decodeValid(t, _))),
      nullCount = if (summary.containsNull) None else Some(0L),
      nanCount = if (column.exists(_.isFloating) && summary.containsNan.contains(false)) Some(0L) else None
    )
  }
}
