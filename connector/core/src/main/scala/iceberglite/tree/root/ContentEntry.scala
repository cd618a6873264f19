package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.spec.file.{Content, EntryStatus, FileFormat}

/** The content that an entry of a version 4 manifest tracks (field 134). */
sealed abstract private[root] class EntryContent(val code: Int, val name: String) extends Serializable

private[root] object EntryContent {
  case object Data extends EntryContent(0, "data file")
  case object PositionDeletes extends EntryContent(1, "deletion vector of a data file")
  case object EqualityDeletes extends EntryContent(2, "equality delete file")
  case object DataManifest extends EntryContent(3, "data manifest")
  case object DeleteManifest extends EntryContent(4, "delete manifest")
  case object ManifestVector extends EntryContent(5, "deletion vector of a manifest")

  val all: Seq[EntryContent] =
    Seq(Data, PositionDeletes, EqualityDeletes, DataManifest, DeleteManifest, ManifestVector)

  def of(content: Content): EntryContent = content match {
    case Content.Data => Data
    case Content.PositionDeletes => PositionDeletes
    case Content.EqualityDeletes => EqualityDeletes
  }
}

/**
 * The struct `version_info` (field 5). The snapshot id and the sequence numbers of an added entry may be absent; the
 * entry then inherits these values from the manifest.
 *
 * @param snapshotId the snapshot that added the entry or, for a deleted entry, removed it
 * @param sequenceNumber the data sequence number
 */
final private[root] case class VersionInfo(
    status: EntryStatus,
    snapshotId: Option[Long],
    sequenceNumber: Option[Long],
    fileSequenceNumber: Option[Long]
) {

  /** Returns the version with the values that the entry inherits from the entry of its manifest. */
  def inheriting(parent: VersionInfo): VersionInfo =
    if (snapshotId.isDefined && sequenceNumber.isDefined && fileSequenceNumber.isDefined) this
    else VersionInfo(
      status,
      if (snapshotId.isDefined) snapshotId else parent.snapshotId,
      if (sequenceNumber.isDefined) sequenceNumber else parent.sequenceNumber,
      if (fileSequenceNumber.isDefined) fileSequenceNumber else parent.fileSequenceNumber
    )
}

/** The bytes of a deletion vector, or their location: the struct `deletion_vector` (field 147). */
sealed private[root] trait VectorContent

private[root] object VectorContent {

  /** A blob in a Puffin file. */
  final case class InPuffin(offset: Long, size: Long) extends VectorContent

  /** Bytes in the entry itself. Only deletion vectors of manifests may be inline. */
  final case class Inline(bytes: ByteBuffer) extends VectorContent
}

/**
 * The struct `manifest_stats` (field 521). The counts include all entries in the manifest file, even those that a
 * deletion vector of the manifest removes.
 *
 * @param minSequenceNumber the minimum data sequence number of the live entries
 */
final private[root] case class ManifestStats(
    addedFiles: Int,
    existingFiles: Int,
    deletedFiles: Int,
    addedRows: Long,
    existingRows: Long,
    deletedRows: Long,
    minSequenceNumber: Long
)

/**
 * An entry of a version 4 manifest: a data file, a delete file, a leaf manifest, or the deletion vector of a leaf
 * manifest.
 *
 * @param location the location of the file; empty for an inline deletion vector
 * @param recordCount the number of records of a file or manifest, or the cardinality of a deletion vector
 * @param fileSizeInBytes absent only for an inline deletion vector
 * @param vector the location of the bytes of a deletion vector, or the bytes themselves; absent for other content
 * @param manifest the counts of a leaf manifest; absent for other content
 * @param referencedFile the data file or the leaf manifest to which a deletion vector applies. For a delete manifest,
 *   the data manifest that lists the data files of all its deletion vectors
 * @param firstRowId the row id of the first row of a data file. For a data manifest, the first of the row ids that are
 *   assigned to its files without a first row id
 */
final private[root] case class ContentEntry(
    content: EntryContent,
    location: String,
    format: FileFormat,
    version: VersionInfo,
    specId: Int,
    recordCount: Long,
    fileSizeInBytes: Option[Long],
    stats: ContentStats = ContentStats.Empty,
    vector: Option[VectorContent] = None,
    sortOrderId: Option[Int] = None,
    manifest: Option[ManifestStats] = None,
    referencedFile: Option[String] = None,
    keyMetadata: Option[ByteBuffer] = None,
    splitOffsets: Vector[Long] = Vector.empty,
    equalityIds: Vector[Int] = Vector.empty,
    firstRowId: Option[Long] = None
) {
  def isLive: Boolean = version.status != EntryStatus.Deleted

  /** Whether the entry is a data file or a delete file. */
  def isFile: Boolean = content match {
    case EntryContent.Data | EntryContent.PositionDeletes | EntryContent.EqualityDeletes => true
    case EntryContent.DataManifest | EntryContent.DeleteManifest | EntryContent.ManifestVector => false
  }
}
