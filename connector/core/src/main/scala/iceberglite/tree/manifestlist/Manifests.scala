package iceberglite.tree.manifestlist

import scala.util.Try
import scala.util.control.NonFatal

import iceberglite.avro.{
  AvroCodec,
  AvroContainer,
  AvroContainerReader,
  AvroContainerWriter,
  AvroFault,
  AvroSchemas,
  AvroSource,
  Memo
}
import iceberglite.encryption.FileKey
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata}
import iceberglite.spec.file.{Content, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.Added
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.{EncryptedFileIO, FileIO, FileSink, ReadBounds}
import iceberglite.tree.CloseableIterator

/** Reads and writes manifest files (spec: "Manifests"). */
object Manifests {

  /**
   * The sequence number of a manifest that is not committed yet. The actual number is assigned when the manifest list
   * is written.
   */
  val Unassigned: Long = -1L

  private val Role = "manifest"

  /** The length in bytes above which manifests are streamed: twice the usual target size. */
  private val MaxUnstreamedBytes = 16L << 20

  /**
   * The read limit for a manifest that is not streamed. The limit is higher than [[MaxUnstreamedBytes]], because the
   * file may be somewhat longer than its manifest list states.
   */
  private val ShortBounds = AvroContainer.Bounds.copy(
    format = "a manifest with a small length in its manifest list",
    maxBytes = math.min(2 * MaxUnstreamedBytes, ReadBounds.MaxBytes)
  )
  private val Advice = "If the file cannot be restored, roll the table back to a snapshot that does not list it"

  /** Caches schemas as JSON by format version and partition type. */
  private val schemas = new Memo[(FormatVersion, StructType), String](64)({ case (version, partitionType) =>
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    AvroSchemas.of(columns.struct(version), columns.name).toString
  })

  /**
   * Returns the entries of a manifest in file order, including the entries of deleted files, with all inherited values.
   * In an uncommitted manifest, the sequence numbers of added files are absent. Files of the same partition share one
   * tuple. The blocks of an Avro manifest are decoded as the iterator advances. Metrics in the encoding that the
   * specification defines are decoded on access.
   *
   * @param schema the schema that determines the types of partition values
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist, is incomplete or is not a
   *   manifest; the iterator may also throw this error
   * @throws InvalidMetadata if `specs` does not contain the manifest's partition spec
   */
  def read(
      io: FileIO,
      manifest: ManifestFile,
      specs: Map[Int, PartitionSpec],
      schema: Schema
  ): CloseableIterator[ManifestEntry] = read(io, manifest, keyOf(manifest), specs, schema)

  /** Returns the key of a manifest; absent if it is not encrypted. */
  private[manifestlist] def keyOf(manifest: ManifestFile): Option[FileKey] =
    manifest.keyMetadata.map(FileKey.decode(manifest.path, _))

  private[tree] def read(
      io: FileIO,
      manifest: ManifestFile,
      key: Option[FileKey],
      specs: Map[Int, PartitionSpec],
      schema: Schema
  ): CloseableIterator[ManifestEntry] = {
    val plain = key.fold(io)(EncryptedFileIO(io, manifest.path, _))
    // The length of an encrypted manifest in the manifest list includes the tags of its blocks. The key of the manifest
    // contains its exact length.
    val listed = if (key.isDefined) manifest.copy(length = 0L) else manifest
    val spec = specs.getOrElse(
      manifest.partitionSpecId,
      throw InvalidMetadata(manifest.path, "$", s"The table has no partition spec ${manifest.partitionSpecId}")
    )
    if (ColumnarManifests.isColumnar(manifest.path)) CloseableIterator.of(
      guard(manifest.path)(ColumnarManifests.read(plain, manifest, spec.partitionType(schema))).iterator
    )
    else {
      val file = guard(manifest.path)(open(plain, manifest))
      CloseableIterator.of(new GuardedEntries(file, listed, spec, schema), file)
    }
  }

  /**
   * Returns the entries of a manifest like [[read]], but without inherited sequence numbers and row ids. A copy of the
   * manifest with these entries inherits the same values as the original, in each snapshot that lists it.
   */
  private[manifestlist] def readOwnValues(
      io: FileIO,
      manifest: ManifestFile,
      specs: Map[Int, PartitionSpec],
      schema: Schema
  ): Iterator[ManifestEntry] = {
    // All entries of a manifest with the sequence number 0 also have this sequence number, but entries that were
    // written in version 1 do not contain it.
    val number = if (manifest.sequenceNumber == 0L) 0L else Unassigned
    read(io, manifest.copy(sequenceNumber = number, firstRowId = None), specs, schema)
  }

  /**
   * Returns the entries of a manifest that was encoded in memory. The manifest belongs to no snapshot, so its entries
   * inherit no values.
   *
   * @param path the path of the manifest, for messages
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

  /**
   * Opens a manifest. An unusually long manifest is streamed while its entries are requested. All other manifests are
   * read completely.
   */
  private def open(io: FileIO, manifest: ManifestFile): AvroContainerReader =
    if (manifest.length > MaxUnstreamedBytes)
      AvroContainerReader.open(AvroSource.of(manifest.path, io.open(manifest.path)))
    else AvroContainerReader.open(io.read(manifest.path, ShortBounds))

  /** Iterates over the entries of a file. Errors name the file. */
  final private class GuardedEntries(
      file: AvroContainerReader,
      manifest: ManifestFile,
      spec: PartitionSpec,
      schema: Schema
  ) extends Iterator[ManifestEntry] {
    private var entryCount = 0L
    private val entries =
      try {
        file.metadata.get(ManifestHeader.ContentKey).filter(_ != manifest.content.name).foreach { other =>
          throw AvroFault(s"It lists $other, but according to the manifest list, it lists ${manifest.content.name}")
        }
        ManifestDecoder.of(file.schema, spec.partitionType(schema)).entries(file, manifest)
      } catch { case e: Throwable => failed(e) }

    override def hasNext: Boolean =
      try entries.hasNext || checkEnd
      catch { case e: Throwable => failed(e) }

    override def next(): ManifestEntry =
      try {
        entryCount += 1
        entries.next()
      } catch { case e: Throwable => failed(e) }

    private def failed(e: Throwable): Nothing = {
      file.close()
      if (NonFatal(e)) throw AvroFault.toError(manifest.path, Role, Advice, e) else throw e
    }

    /**
     * Checks the counts at the end of the file. If a file is shorter than the length in the manifest list, blocks at
     * its end may be missing, which Avro does not detect. Such a file is accepted only if the number of entries is
     * correct, because some writers record a wrong length.
     *
     * @return false, because there are no more entries
     */
    private def checkEnd: Boolean = {
      if (file.position < manifest.length && !listedCount.contains(entryCount)) {
        throw AvroFault(
          s"It ends after $entryCount entries and ${file.position} bytes, but its length should be " +
            s"${manifest.length} bytes"
        )
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
   * Returns the partition spec id in a manifest's header. If an old writer omitted the id, returns 0, because tables of
   * such writers have only one partition spec.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist or is not a manifest
   */
  def partitionSpecId(io: FileIO, path: String): Int = guard(path) {
    val file = AvroContainerReader.open(AvroSource.of(path, io.open(path)))
    try
      file.metadata.get(ManifestHeader.SpecIdKey).fold(0) { text =>
        Try(text.trim.toInt).getOrElse(
          throw AvroFault(s"Its ${ManifestHeader.SpecIdKey} is $text, which is not a number")
        )
      }
    finally file.close()
  }

  /**
   * Writes a new manifest.
   *
   * @param entries the entries; in version 2 and later, existing and deleted entries must have their sequence numbers
   * @param key encrypts the manifest; absent if the table is not encrypted
   * @return the manifest, with [[Unassigned]] for sequence numbers that the manifest list assigns
   */
  def write(
      to: FileSink,
      path: String,
      header: ManifestHeader,
      entries: Iterator[ManifestEntry],
      codec: AvroCodec = AvroCodec.Default,
      key: Option[FileKey] = None
  ): ManifestFile = {
    import header.{content, snapshotId, spec, version}
    val (partitionType, all) = PartitionTypes.ofEntries(spec, header.schema, entries)
    val columns = new ManifestEntryColumns(new PartitionCodec(partitionType))
    val writer = new AvroContainerWriter(schemas((version, partitionType)), header.keyValues, codec)
    val summaries = new FieldSummaries(partitionType)
    val counts = new ManifestCounts
    all.foreach { entry =>
      check(entry, version, content)
      val withSnapshotId = if (entry.snapshotId.isDefined) entry else entry.copy(snapshotId = Some(snapshotId))
      writer.add(columns.write(withSnapshotId, _, version))
      summaries.add(entry.file.partition)
      counts.add(entry)
    }
    val bytes = writer.finish()
    val stored = key.fold(bytes)(EncryptedFileIO.encrypt(bytes, _))
    val length = stored.length.toLong
    to.write(path, stored)
    counts.manifest(path, length, spec.specId, content, snapshotId, summaries.result)
      .copy(keyMetadata = key.map(_.withLength(length).encode))
  }

  private def check(entry: ManifestEntry, version: FormatVersion, content: ManifestContent): Unit = {
    if ((entry.file.content == Content.Data) != (content == ManifestContent.Data)) {
      val reason = s"A manifest of ${content.name} cannot list a file of ${entry.file.content.name}"
      throw InvalidArgument("file", entry.file.path, reason)
    }
    if (version == FormatVersion.V1 && content != ManifestContent.Data) {
      throw InvalidArgument(
        "file",
        entry.file.path,
        "Format version 1 does not allow delete files; upgrade the table to version 2"
      )
    }
    if (version > FormatVersion.V1 && entry.status != Added && entry.sequenceNumber.isEmpty) {
      val reason =
        s"The entry of ${entry.file.path} has the status ${entry.status}, so it must have a data sequence number"
      throw InvalidArgument("sequence number", "none", reason)
    }
  }

  private def guard[A](path: String)(body: => A): A = AvroFault.guard(path, Role, Advice)(body)
}
