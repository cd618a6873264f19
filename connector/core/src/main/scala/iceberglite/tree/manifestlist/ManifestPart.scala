package iceberglite.tree.manifestlist

import iceberglite.encryption.FileKey
import iceberglite.spec.file.{FieldSummary, ManifestContent, ManifestEntry, ManifestFile, Metrics}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.storage.FileIO
import iceberglite.tree.{CloseableIterator, FilePart, PartKey, PartitionSpecs, TreeCopy, TreeTable}

/**
 * A manifest as a part of a metadata tree.
 *
 * @param taskKey the key of an encrypted manifest in a task, which has no key metadata
 */
final private[iceberglite] class ManifestPart private (
    val manifest: ManifestFile,
    specs: PartitionSpecs,
    taskKey: Option[FileKey]
) extends FilePart {
  def this(manifest: ManifestFile, specs: PartitionSpecs) = this(manifest, specs, None)

  private def key: Option[FileKey] = taskKey.orElse(Manifests.keyOf(manifest))

  override def path: String = manifest.path
  override def id: String = manifest.path
  override def content: ManifestContent = manifest.content
  override def specId: Int = manifest.partitionSpecId
  override def length: Long = manifest.length
  override def liveFiles: Option[Long] = manifest.liveFiles
  override def sequenceNumber: Long = manifest.sequenceNumber
  override def minSequenceNumber: Long = manifest.minSequenceNumber
  override def partitions: Option[Vector[FieldSummary]] = manifest.partitions
  override def metrics: Metrics = manifest.metrics
  override def recordCount: Long = manifest.recordCount

  /**
   * Returns the manifest's partition spec.
   *
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the table does not have this partition spec
   */
  def spec: PartitionSpec = specs.of(this)

  /** Whether the manifest is a Parquet file, which Apache Iceberg 1.12 writes for tables of version 4. */
  def isColumnar: Boolean = ColumnarManifests.isColumnar(path)

  override def entries(io: FileIO): CloseableIterator[ManifestEntry] =
    Manifests.read(io, manifest, key, specs.byId, specs.sources)

  override def copyTo(table: TreeTable, copy: TreeCopy): Long = new ManifestListCopy(table, copy).writeManifest(this)

  override def forReading: FilePart = new ManifestPart(manifest.forReading, specs.only(specId), key)

  override private[iceberglite] def cacheKey(io: FileIO): PartKey =
    PartKey(io, path, length, (sequenceNumber, manifest.firstRowId, spec.partitionType(specs.sources)))
}
