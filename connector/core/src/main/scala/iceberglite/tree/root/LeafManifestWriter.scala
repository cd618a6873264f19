package iceberglite.tree.root

import java.util.concurrent.atomic.AtomicInteger

import iceberglite.encryption.FileKey
import iceberglite.spec.file.{EntryStatus, FileFormat}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.storage.EncryptedFileIO
import iceberglite.tree.{ParallelWriter, NewSnapshotHeader}

/** Writes leaf manifests. Thread-safe. @param newKey returns the key of a new leaf, if the table is encrypted */
final private[root] class LeafManifestWriter(
    header: NewSnapshotHeader,
    columns: StatsColumns,
    output: ParallelWriter,
    newKey: () => Option[FileKey]
) {
  private val number = new AtomicInteger

  /**
   * Writes a leaf.
   *
   * @param entries entries of one partition spec, either all of data files or all of delete files
   * @param status the status of the leaf in the root
   * @return the root's entry for the leaf, without a first row id
   */
  def write(entries: Vector[ContentEntry], status: EntryStatus): ContentEntry = {
    val isData = entries.head.content == EntryContent.Data
    val kind = if (isData) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    val name = s"${header.commitId}-${header.attempt}-m${number.getAndIncrement()}.parquet"
    val path = s"${header.metadataPath}/$name"
    val key = newKey()
    val content = RootManifests.write(path, kind, columns, entries)
    val bytes = key.fold(content)(EncryptedFileIO.encrypt(content, _))
    output.write(path, bytes)
    ContentEntry(
      content = if (isData) EntryContent.DataManifest else EntryContent.DeleteManifest,
      location = path,
      format = FileFormat.Parquet,
      version = VersionInfo(
        status,
        Some(header.snapshotId),
        Some(header.sequenceNumber),
        Some(header.sequenceNumber)
      ),
      specId = entries.head.specId,
      recordCount = entries.size.toLong,
      fileSizeInBytes = Some(bytes.length.toLong),
      stats = StatsAggregate.of(entries.filter(_.isLive), columns.keyIds(entries.head.specId)),
      manifest = Some(LeafManifestWriter.count(entries.iterator, header.sequenceNumber)),
      keyMetadata = key.map(_.withLength(bytes.length.toLong).encode)
    )
  }

  /**
   * Returns the root's entry for a leaf that an earlier attempt wrote, with the sequence number of this attempt.
   */
  def recommitted(leaf: ContentEntry): ContentEntry = {
    val number = Some(header.sequenceNumber)
    leaf.copy(version = leaf.version.copy(sequenceNumber = number, fileSequenceNumber = number))
  }
}

private[root] object LeafManifestWriter {

  /** Returns the counts of a leaf. @param inherited the data sequence number of entries that do not contain one */
  def count(entries: Iterator[ContentEntry], inherited: Long): ManifestStats = {
    val empty = ManifestStats(0, 0, 0, 0L, 0L, 0L, Long.MaxValue)
    val counted = entries.foldLeft(empty) { (sum, e) =>
      val oldest = math.min(sum.minSequenceNumber, e.version.sequenceNumber.getOrElse(inherited))
      e.version.status match {
        case Added =>
          sum.copy(
            addedFiles = sum.addedFiles + 1,
            addedRows = sum.addedRows + e.recordCount,
            minSequenceNumber = oldest
          )
        case Existing => sum.copy(
            existingFiles = sum.existingFiles + 1,
            existingRows = sum.existingRows + e.recordCount,
            minSequenceNumber = oldest
          )
        case Deleted =>
          sum.copy(deletedFiles = sum.deletedFiles + 1, deletedRows = sum.deletedRows + e.recordCount)
      }
    }
    if (counted.minSequenceNumber == Long.MaxValue) counted.copy(minSequenceNumber = inherited) else counted
  }
}
