package iceberglite.io

import scala.util.Try
import scala.util.control.NonFatal

import iceberglite.spec._
import iceberglite.spec.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata}
import iceberglite.spec.Type.StructType
import iceberglite.spec.json.{PartitionSpecJson, SchemaJson}

/** Manifest files (spec: "Manifests"). */
object Manifests {

  /** The sequence number of a manifest that is not committed yet; its manifest list assigns one. */
  val Unassigned: Long = -1L

  private val Role = "manifest"
  private val SpecIdKey = "partition-spec-id"
  private val ContentKey = "content"

  /** Twice the usual target. */
  private val StreamedBytes = 16L << 20

  /** Bound for a manifest that its list calls short; the file may be somewhat longer. */
  private val Short = ReadBounds.Avro.copy(
    format = "a manifest that is short according to its manifest list",
    maxBytes = math.min(2 * StreamedBytes, ReadBounds.MaxBytes)
  )
  private val Advice = "If the file cannot be restored, roll the table back to a snapshot that does not list it"

  /** Most programs write to a few tables. */
  private val schemas = new Memo[(FormatVersion, StructType), String](64)({ case (version, partitionType) =>
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    AvroSchemas.of(columns.struct(version), columns.name).toString
  })

  /**
   * The entries of a manifest in the order of the file, deleted ones too, with everything inherited; of an
   * uncommitted manifest, the numbers of added files are absent. Files of one partition share one tuple. Blocks are
   * read as the iterator comes to them, metrics when somebody asks for them.
   *
   * @param schema by which partition values get their types
   * @throws iceberglite.spec.IcebergError.UnreadableFile here or from the iterator: the file is not there, not whole or
   *   not a manifest
   */
  def read(
      io: FileIO,
      manifest: ManifestFile,
      specs: Map[Int, PartitionSpec],
      schema: Schema
  ): Iterator[ManifestEntry] = {
    val spec = specs.getOrElse(
      manifest.partitionSpecId,
      throw InvalidMetadata(manifest.path, "$", s"The table has no partition spec ${manifest.partitionSpecId}")
    )
    new GuardedEntries(guard(manifest.path)(open(io, manifest)), manifest, spec, schema)
  }

  /**
   * The entries of a manifest in memory that belongs to no snapshot, and lets nothing be inherited.
   *
   * @param path for messages
   */
  private[iceberglite] def decode(
      bytes: Array[Byte],
      path: String,
      content: ManifestContent,
      spec: PartitionSpec,
      schema: Schema
  ): Iterator[ManifestEntry] = {
    val uncommitted = ManifestFile(
      path,
      length = 0L,
      spec.specId,
      content,
      sequenceNumber = Unassigned,
      minSequenceNumber = Unassigned,
      addedSnapshotId = 0L,
      addedFilesCount = None,
      existingFilesCount = None,
      deletedFilesCount = None,
      addedRowsCount = None,
      existingRowsCount = None,
      deletedRowsCount = None,
      partitions = None
    )
    new GuardedEntries(guard(path)(AvroContainerReader.open(bytes)), uncommitted, spec, schema)
  }

  /** A manifest of more than the usual size is not held as a whole, but read as its entries are asked for. */
  private def open(io: FileIO, manifest: ManifestFile): AvroContainerReader =
    if (manifest.length > StreamedBytes) AvroContainerReader.open(AvroSource.of(manifest.path, io.open(manifest.path)))
    else AvroContainerReader.open(io.read(manifest.path, Short))

  /** The entries of a file; what goes wrong with them names it. */
  final private class GuardedEntries(
      file: AvroContainerReader,
      manifest: ManifestFile,
      spec: PartitionSpec,
      schema: Schema
  ) extends Iterator[ManifestEntry] {
    private var seen = 0L
    private val entries =
      try {
        file.metadata.get(ContentKey).filter(_ != manifest.content.name).foreach { other =>
          throw AvroFault(s"It lists $other, but the manifest list says ${manifest.content.name}")
        }
        ManifestDecoder.of(file.schema, spec.partitionType(schema)).entries(file, manifest)
      } catch { case e: Throwable => failed(e) }

    override def hasNext: Boolean =
      try entries.hasNext || checkedEnd
      catch { case e: Throwable => failed(e) }

    override def next(): ManifestEntry =
      try {
        seen += 1
        entries.next()
      } catch { case e: Throwable => failed(e) }

    private def failed(e: Throwable): Nothing = {
      file.close()
      if (NonFatal(e)) throw AvroFault.named(manifest.path, Role, Advice, e) else throw e
    }

    /**
     * A file that is shorter than its manifest list says may have lost blocks at the end, and would then read as a
     * whole one. The counts tell; some writers only have the length wrong.
     *
     * @return false: there is no more
     */
    private def checkedEnd: Boolean = {
      if (file.taken < manifest.length && !listedCount.contains(seen)) {
        throw AvroFault(s"It ends after ${file.taken} of ${manifest.length} bytes and $seen entries")
      }
      false
    }

    private def listedCount: Option[Long] = for {
      added <- manifest.addedFilesCount
      existing <- manifest.existingFilesCount
      deleted <- manifest.deletedFilesCount
    } yield added.toLong + existing + deleted
  }

  /**
   * The partition spec that a manifest says it is of; old writers leave it out, and knew one spec only.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile the file is not there or not a manifest
   */
  def partitionSpecId(io: FileIO, path: String): Int = guard(path) {
    val file = AvroContainerReader.open(AvroSource.of(path, io.open(path)))
    try
      file.metadata.get(SpecIdKey).fold(0) { text =>
        Try(text.trim.toInt).getOrElse(throw AvroFault(s"Its $SpecIdKey is $text, which is no number"))
      }
    finally file.close()
  }

  /**
   * Writes a new manifest.
   *
   * @param schema the table's, which goes into the file and gives partition values their types
   * @param snapshotId of the commit; entries that have no snapshot id get it
   * @param entries existing and deleted ones with their sequence numbers, but in version 1
   * @return with [[Unassigned]] for what the manifest list assigns
   */
  def write(
      to: FileSink,
      path: String,
      version: FormatVersion,
      content: ManifestContent,
      schema: Schema,
      spec: PartitionSpec,
      snapshotId: Long,
      entries: Iterator[ManifestEntry],
      codec: AvroCodec = AvroCodec.Default
  ): ManifestFile = {
    val (partitionType, all) = PartitionTypes.ofEntries(spec, schema, entries)
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    val writer =
      new AvroContainerWriter(schemas((version, partitionType)), header(version, content, schema, spec), codec)
    val summaries = new FieldSummaries(partitionType)
    val counts = new ManifestCounts
    all.foreach { entry =>
      check(entry, version, content)
      val owned = if (entry.snapshotId.isDefined) entry else entry.copy(snapshotId = Some(snapshotId))
      writer.add(columns.write(owned, _, version))
      summaries.add(entry.file.partition)
      counts.add(entry)
    }
    val bytes = writer.finish()
    to.write(path, bytes)
    counts.manifest(path, bytes.length.toLong, spec.specId, content, snapshotId, summaries.result)
  }

  /** The key-value metadata of the file. Version 1 knows data alone, and does not say so. */
  private def header(version: FormatVersion, content: ManifestContent, schema: Schema, spec: PartitionSpec) = Seq(
    "schema" -> SchemaJson.toJson(schema),
    "schema-id" -> schema.schemaId.toString,
    "partition-spec" -> PartitionSpecJson.fieldsToJson(spec),
    SpecIdKey -> spec.specId.toString,
    "format-version" -> version.toString
  ) ++ (if (version > FormatVersion.V1) Seq(ContentKey -> content.name) else Seq.empty)

  private def check(entry: ManifestEntry, version: FormatVersion, content: ManifestContent): Unit = {
    if ((entry.file.content == Content.Data) != (content == ManifestContent.Data)) {
      val reason = s"A manifest of ${content.name} lists no ${entry.file.content.name}"
      throw InvalidArgument("file", entry.file.path, reason)
    }
    if (version == FormatVersion.V1 && content != ManifestContent.Data) {
      throw InvalidArgument("file", entry.file.path, "Version 1 has no delete files; upgrade the table to 2")
    }
    if (version > FormatVersion.V1 && entry.status != Added && entry.sequenceNumber.isEmpty) {
      throw InvalidArgument("sequence number", "none", s"The entry of ${entry.file.path} is not new and must have one")
    }
  }

  private def guard[A](path: String)(body: => A): A = AvroFault.guard(path, Role, Advice)(body)
}

/** Counts the entries of a manifest by status. */
final private[io] class ManifestCounts {
  private val files = Array.fill(EntryStatus.all.size)(0)
  private val rows = Array.fill(EntryStatus.all.size)(0L)

  /** The least of the live files that do not inherit it. */
  private var minSequenceNumber: Option[Long] = None

  def add(entry: ManifestEntry): Unit = {
    files(entry.status.code) += 1
    rows(entry.status.code) += entry.file.knownRecords
    if (entry.isLive && entry.sequenceNumber.exists(n => minSequenceNumber.forall(_ > n))) {
      minSequenceNumber = entry.sequenceNumber
    }
  }

  /** The manifest as it is before its commit. */
  def manifest(
      path: String,
      length: Long,
      specId: Int,
      content: ManifestContent,
      snapshotId: Long,
      summaries: Vector[FieldSummary]
  ): ManifestFile = ManifestFile(
    path,
    length,
    specId,
    content,
    sequenceNumber = Manifests.Unassigned,
    // Where every live file inherits its number, the least one is that of the commit too.
    minSequenceNumber = minSequenceNumber.getOrElse(Manifests.Unassigned),
    addedSnapshotId = snapshotId,
    addedFilesCount = Some(files(Added.code)),
    existingFilesCount = Some(files(Existing.code)),
    deletedFilesCount = Some(files(Deleted.code)),
    addedRowsCount = Some(rows(Added.code)),
    existingRowsCount = Some(rows(Existing.code)),
    deletedRowsCount = Some(rows(Deleted.code)),
    partitions = Some(summaries)
  )
}
