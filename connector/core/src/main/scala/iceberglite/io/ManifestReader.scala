package iceberglite.io

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.{Content, ContentFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.Type.StructType

/** How the entries of manifests with one Avro schema are decoded; for any number of threads. */
final private[io] class ManifestDecoder private (columns: ManifestEntryColumns, record: RecordDecoder) {

  /** False for the files of version 1. */
  private val hasSequenceNumbers: Boolean = record.fills(columns.SequenceNumber)

  /** The entries of one manifest, with everything inherited. */
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
 * What entries inherit from their manifest, asked for one after the other in the order of the file (spec: "Manifest
 * Entry Fields", "Sequence Number Inheritance"; row ids by version 3 as adopted).
 */
final private[io] class Inheritance(manifest: ManifestFile, hasSequenceNumbers: Boolean) {
  private val isData = manifest.content == ManifestContent.Data
  private val committed = manifest.sequenceNumber != Manifests.Unassigned
  private val addedSnapshotId: Option[Long] = Some(manifest.addedSnapshotId)

  /** The number of added files; nobody knows it before the commit. */
  private val assigned: Option[Long] = if (committed) Some(manifest.sequenceNumber) else None
  private val rowIds = manifest.firstRowId.isDefined
  private var nextRowId = manifest.firstRowId.getOrElse(0L)

  def specId: Int = manifest.partitionSpecId

  def entry(
      status: EntryStatus,
      snapshotId: Option[Long],
      sequenceNumber: Option[Long],
      fileSequenceNumber: Option[Long],
      file: ContentFile
  ): ManifestEntry = {
    if ((file.content == Content.Data) != isData) {
      throw AvroFault(s"It lists ${manifest.content.name}, but ${file.path} is of ${file.content.name}")
    }
    val number = inherited(status, sequenceNumber)
    if (number.isEmpty && status == EntryStatus.Existing) {
      throw AvroFault(s"The existing file ${file.path} has no sequence number (field 3)")
    }
    ManifestEntry(
      status,
      if (snapshotId.isDefined) snapshotId else addedSnapshotId,
      number,
      inherited(status, fileSequenceNumber),
      file
    )
  }

  /** Added files inherit; so do those of version 1, which has no numbers, whatever their status is. */
  private def inherited(status: EntryStatus, own: Option[Long]): Option[Long] =
    if (own.isDefined) own
    else if (!hasSequenceNumbers) Inheritance.OfVersion1
    else if (status == EntryStatus.Added || manifest.sequenceNumber == 0L) assigned
    else None

  /**
   * Live files without a row id get the next ones. Without a first row id the manifest is from before version 3, and
   * its files have none, or it is not committed, and they keep what they have. A file of unknown length gets none, as
   * its ids would be those of the next file too.
   */
  def firstRowId(status: EntryStatus, own: Option[Long], rows: Long): Option[Long] =
    if (!rowIds) { if (committed) None else own }
    else if (own.isDefined || status == EntryStatus.Deleted || rows < 0) own
    else {
      val given = nextRowId
      nextRowId += rows
      if (nextRowId < given) throw AvroFault(s"Its row ids pass all numbers: they begin at $given for $rows rows")
      Some(given)
    }
}

private object Inheritance {
  private val OfVersion1: Option[Long] = Some(0L)
}
