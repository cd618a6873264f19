package iceberglite.tree.manifestlist

import java.util.concurrent.ConcurrentHashMap

import iceberglite.avro.{AvroContainerReader, AvroFault, AvroRow, RecordDecoder}
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.types.Type.StructType

/** Decodes the entries of manifests with the same Avro schema. Thread-safe. */
final private[iceberglite] class ManifestDecoder private (columns: ManifestEntryColumns, record: RecordDecoder) {

  /** Whether the manifests have sequence numbers; false for manifests of version 1. */
  private val hasSequenceNumbers: Boolean = record.hasColumn(columns.SequenceNumber)

  /** Returns the entries of one manifest with all inherited values. */
  def entries(file: AvroContainerReader, manifest: ManifestFile): Iterator[ManifestEntry] = {
    val row = new AvroRow(columns.columns.size)
    val tuples = new PartitionTuples
    val inheritance = new Inheritance(manifest, hasSequenceNumbers)
    file.records { in =>
      record.read(in, row)
      columns.fromRow(row, in.bytes, tuples, inheritance)
    }
  }
}

private[iceberglite] object ManifestDecoder {

  /**
   * Caches decoders by schema. The manifests of a table share few schemas, and parsing a schema takes longer than
   * decoding a small manifest.
   */
  private val cache = new ConcurrentHashMap[(String, StructType), ManifestDecoder]
  private val MaxCached = 128

  /** Returns the decoder for manifests with an Avro schema, from the cache if possible. */
  def of(schemaJson: String, partitionType: StructType): ManifestDecoder = {
    if (cache.size > MaxCached) cache.clear()
    cache.computeIfAbsent((schemaJson, partitionType), _ => compile(schemaJson, partitionType))
  }

  private def compile(schemaJson: String, partitionType: StructType): ManifestDecoder = {
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    new ManifestDecoder(columns, RecordDecoder.of(schemaJson, columns))
  }
}

/**
 * Adds the values that entries inherit from their manifest (spec: "Manifest Entry Fields", "Sequence Number
 * Inheritance"; spec version 3: "Row lineage"). `entry` and `firstRowId` must be called once for each entry, in file
 * order.
 */
final private[iceberglite] class Inheritance(manifest: ManifestFile, hasSequenceNumbers: Boolean) {
  private val isData = manifest.content == ManifestContent.Data
  private val committed = manifest.sequenceNumber != Manifests.Unassigned
  private val addedSnapshotId: Option[Long] = Some(manifest.addedSnapshotId)

  /** The sequence number of added files; absent in an uncommitted manifest. */
  private val assigned: Option[Long] = if (committed) Some(manifest.sequenceNumber) else None
  private val assignsRowIds = manifest.firstRowId.isDefined
  private var nextRowId = manifest.firstRowId.getOrElse(0L)

  def specId: Int = manifest.partitionSpecId

  /** Returns an entry with the snapshot id and the sequence numbers that it inherits. */
  def entry(
      status: EntryStatus,
      snapshotId: Option[Long],
      sequenceNumber: Option[Long],
      fileSequenceNumber: Option[Long],
      file: ContentFile
  ): ManifestEntry = {
    if ((file.content == Content.Data) != isData) {
      throw AvroFault(s"It lists ${manifest.content.name}, but ${file.path} contains ${file.content.name}")
    }
    val number = inheritSequenceNumber(status, sequenceNumber)
    if (number.isEmpty && status == EntryStatus.Existing) {
      throw AvroFault(s"The existing file ${file.path} has no sequence number (field 3)")
    }
    ManifestEntry(
      status,
      if (snapshotId.isDefined) snapshotId else addedSnapshotId,
      number,
      inheritSequenceNumber(status, fileSequenceNumber),
      file
    )
  }

  /**
   * Returns the entry's own sequence number, or the sequence number that the entry inherits. Entries of added files
   * inherit the manifest's sequence number. Every entry inherits the number 0 if the manifest has this number, or if it
   * is a manifest of version 1, which has no sequence numbers.
   */
  private def inheritSequenceNumber(status: EntryStatus, own: Option[Long]): Option[Long] =
    if (own.isDefined) own
    else if (!hasSequenceNumbers) Inheritance.Version1Number
    else if (status == EntryStatus.Added || manifest.sequenceNumber == 0L) assigned
    else None

  /**
   * Returns the first row id of a file. A live file whose entry has no first row id gets the next row ids. If a
   * committed manifest has no first row id, it was written before version 3, and its files have no row ids. In an
   * uncommitted manifest, files have only the first row ids in their entries. A file with an unknown record count gets
   * no row ids, because its range of ids would overlap the range of the next file.
   */
  def firstRowId(status: EntryStatus, own: Option[Long], rows: Long): Option[Long] =
    if (!assignsRowIds) { if (committed) None else own }
    else if (own.isDefined || status == EntryStatus.Deleted || rows < 0) own
    else {
      val firstId = nextRowId
      nextRowId += rows
      if (nextRowId < firstId) throw AvroFault(s"Its row ids exceed the range of a long: $rows rows after id $firstId")
      Some(firstId)
    }
}

private object Inheritance {
  private val Version1Number: Option[Long] = Some(0L)
}
