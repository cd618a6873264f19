package iceberglite.io

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.{Content, EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.Type.StructType

/** How the entries of manifests with one Avro schema are decoded; for any number of threads. */
final private[io] class ManifestDecoder private (columns: ManifestEntryColumns, record: RecordDecoder) {

  /** False for the files of version 1. */
  val hasSequenceNumbers: Boolean = record.fills(columns.SequenceNumber)

  /** The entries of one manifest, with nothing inherited yet. */
  def entries(file: AvroContainerReader, specId: Int): Iterator[ManifestEntry] = {
    val row = new AvroRow(columns.columns.size)
    val tuples = new PartitionTuples
    file.records { in =>
      record.read(in, row)
      columns.fromRow(row, in.bytes, specId, tuples)
    }
  }
}

private[io] object ManifestDecoder {

  /** The manifests of a table share few schemas, and parsing one takes longer than decoding a small manifest. */
  private val known = new ConcurrentHashMap[(String, StructType), ManifestDecoder]
  private val MaxKnown = 128

  def of(schemaJson: String, partitionType: StructType): ManifestDecoder = {
    if (known.size > MaxKnown) known.clear()
    known.computeIfAbsent((schemaJson, partitionType), _ => compile(schemaJson, partitionType))
  }

  private def compile(schemaJson: String, partitionType: StructType): ManifestDecoder = {
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    new ManifestDecoder(columns, RecordDecoder.of(schemaJson, columns))
  }
}

/**
 * Fills in what entries inherit from their manifest, one after the other in the order of the file (spec: "Manifest
 * Entry Fields", "Sequence Number Inheritance"; row ids by version 3 as adopted).
 */
final private[io] class Inheritance(manifest: ManifestFile, hasSequenceNumbers: Boolean) {
  private val committed = manifest.sequenceNumber != Manifests.Unassigned

  /** The number of added files; nobody knows it before the commit. */
  private val assigned: Option[Long] = if (committed) Some(manifest.sequenceNumber) else None
  private var nextRowId = manifest.firstRowId

  def apply(entry: ManifestEntry): ManifestEntry = {
    checkContent(entry)
    ManifestEntry(
      entry.status,
      entry.snapshotId.orElse(Some(manifest.addedSnapshotId)),
      dataSequenceNumber(entry),
      inherited(entry, entry.fileSequenceNumber),
      withFirstRowId(entry).file
    )
  }

  private def checkContent(entry: ManifestEntry): Unit = {
    val isData = entry.file.content == Content.Data
    if (isData != (manifest.content == ManifestContent.Data)) {
      throw AvroFault(s"It lists ${manifest.content.name}, but ${entry.file.path} is of ${entry.file.content.name}")
    }
  }

  private def inherited(entry: ManifestEntry, own: Option[Long]): Option[Long] =
    if (own.isDefined) own
    else if (!hasSequenceNumbers) Some(0L)
    else if (entry.status == EntryStatus.Added || manifest.sequenceNumber == 0L) assigned
    else None

  private def dataSequenceNumber(entry: ManifestEntry): Option[Long] = {
    val number = inherited(entry, entry.sequenceNumber)
    if (number.isEmpty && entry.status == EntryStatus.Existing) {
      throw AvroFault(s"The existing file ${entry.file.path} has no sequence number")
    }
    number
  }

  /**
   * Live files without a row id get the next ones. Without a first row id the manifest is from before version 3, and
   * its files have none, or it is not committed, and they keep what they have.
   */
  private def withFirstRowId(entry: ManifestEntry): ManifestEntry = (nextRowId, entry.file.firstRowId) match {
    case (Some(next), None) if entry.isLive =>
      nextRowId = Some(next + entry.file.recordCount)
      entry.copy(file = entry.file.copy(firstRowId = Some(next)))
    case (None, Some(_)) if committed => entry.copy(file = entry.file.copy(firstRowId = None))
    case _ => entry
  }
}
