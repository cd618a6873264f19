package iceberglite.tree.root

import iceberglite.avro.AvroFault
import iceberglite.data.{DataSource, Record}
import iceberglite.data.parquet.ParquetMetadataFiles
import iceberglite.data.parquet.ParquetMetadataFiles.{LoadedFile, MetadataRecords}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO
import iceberglite.tree.CloseableIterator

/**
 * Reads and writes the manifests of version 4: the root and the leaves of a metadata tree. All of them are Parquet
 * files with the same columns, except that columns without values are omitted.
 */
private[root] object RootManifests {
  private val Role = "manifest"
  private val VersionKey = "format-version"
  private val ContentKey = "content"
  private val Version = "4"

  /**
   * The maximum number of entries of a manifest that is read as a whole, so that a damaged file cannot exhaust memory.
   */
  private val MaxEntries = 2000000
  private val Advice = "If the file cannot be restored, roll the table back to a snapshot that does not use it"

  /** The kind of a manifest and its entries, in the order of the file. */
  final case class Contents(kind: ManifestKind, entries: Vector[ContentEntry])

  /**
   * Returns the bytes of a manifest. Columns without values are omitted.
   *
   * @param properties additional key-value metadata, which readers ignore
   * @throws ValidationFailed if an entry violates a rule, or if partition values have several types
   */
  def write(
      path: String,
      kind: ManifestKind,
      columns: StatsColumns,
      entries: Vector[ContentEntry],
      properties: Map[String, String] = Map.empty
  ): Array[Byte] = {
    entries.foreach(e => EntryRules.violation(e, kind).foreach(refuse(path, e, _)))
    val used = entries.iterator.flatMap(_.stats.byId.keysIterator).toSet
    val (typed, kept) = OpaqueStatistics.typed(path, columns.only(used), entries)
    val struct = new EntryStruct(typed)
    val (stored, rows) = AbsentColumns.drop(struct.structType, kept.map(struct.record))
    val keyValues = properties ++ Map(VersionKey -> Version, ContentKey -> kind.name)
    ParquetMetadataFiles.write(path, Schema(0, stored.fields), keyValues, rows.iterator)
  }

  private def refuse(path: String, e: ContentEntry, violation: String): Nothing =
    throw ValidationFailed(
      s"Cannot write the manifest $path: the entry of the ${e.content.name} ${e.location} $violation"
    )

  /**
   * Reads a manifest. Values that entries inherit from the manifest, such as sequence numbers, are not filled in.
   *
   * @param columns the columns whose statistics are read
   * @param length the length of the file in bytes, which may be inexact; 0 if it is not known
   * @throws UnreadableFile if the file is not a manifest of version 4, or violates a rule
   */
  def read(io: FileIO, path: String, columns: StatsColumns, length: Long = 0L): Contents = guard(path) {
    val (struct, rows) = open(DataSource(io, path, length), columns)
    try {
      val kind = kindOf(rows.keyValues)
      val entries = rows.map(entryOf(struct, kind, _)).take(MaxEntries + 1).toVector
      if (entries.size > MaxEntries) throw EntryFault(s"The manifest has more than $MaxEntries entries")
      Contents(kind, entries)
    } finally rows.close()
  }

  /**
   * Reads the entries of a manifest one after the other, without inherited values.
   *
   * @param length the length of the file in bytes, which may be inexact; 0 if it is not known
   * @param check checks the kind of the manifest; throws [[EntryFault]] if it is wrong
   * @param convert converts the entries; may throw [[EntryFault]]
   * @throws UnreadableFile if the file is not a manifest of version 4, or violates a rule; the iterator may also throw
   *   this error
   */
  def stream[A](io: FileIO, path: String, columns: StatsColumns, length: Long, check: ManifestKind => Unit)(
      convert: Iterator[ContentEntry] => Iterator[A]
  ): CloseableIterator[A] = guard(path) {
    val (struct, rows) = open(DataSource(io, path, length), columns)
    convertAll(path, struct, rows, check)(convert)
  }

  /** Reads the entries of a manifest whose bytes are in memory. Otherwise like the method above. */
  def stream[A](path: String, file: LoadedFile, columns: StatsColumns, check: ManifestKind => Unit)(
      convert: Iterator[ContentEntry] => Iterator[A]
  ): CloseableIterator[A] = guard(path) {
    val struct = columns.in(file.types).entryStruct
    convertAll(path, struct, file.open(struct.structType), check)(convert)
  }

  /** Opens a manifest. Returns the struct of its entries and its records. */
  private def open(source: DataSource, columns: StatsColumns): (EntryStruct, MetadataRecords) =
    if (ParquetMetadataFiles.isShort(source)) {
      val file = ParquetMetadataFiles.load(source)
      val struct = columns.in(file.types).entryStruct
      (struct, file.open(struct.structType))
    } else {
      val struct = columns.in(ParquetMetadataFiles.typesOf(source)).entryStruct
      (struct, ParquetMetadataFiles.open(source, struct.structType))
    }

  private def convertAll[A](path: String, struct: EntryStruct, rows: MetadataRecords, check: ManifestKind => Unit)(
      convert: Iterator[ContentEntry] => Iterator[A]
  ): CloseableIterator[A] =
    try {
      val kind = kindOf(rows.keyValues)
      check(kind)
      CloseableIterator.of(new GuardedEntries(path, convert(rows.map(entryOf(struct, kind, _)))), rows)
    } catch {
      case e: Throwable =>
        rows.close()
        throw e
    }

  /**
   * Reads the bytes of a manifest; absent if it is too long or if its length is not known.
   *
   * @throws UnreadableFile if the file is not a Parquet file
   */
  def load(io: FileIO, path: String, length: Long): Option[LoadedFile] = guard(path) {
    Some(DataSource(io, path, length)).filter(ParquetMetadataFiles.isShort).map(ParquetMetadataFiles.load)
  }

  /** Iterates over the entries of a file. Errors name the file. */
  final private class GuardedEntries[A](path: String, entries: Iterator[A]) extends Iterator[A] {
    override def hasNext: Boolean = guard(path)(entries.hasNext)
    override def next(): A = guard(path)(entries.next())
  }

  private def entryOf(struct: EntryStruct, kind: ManifestKind, row: Record): ContentEntry = {
    val entry = struct.fromRecord(row)
    EntryRules.check(entry, kind)
    entry
  }

  private def kindOf(keyValues: Map[String, String]): ManifestKind = {
    def value(key: String) =
      keyValues.getOrElse(key, throw EntryFault(s"The metadata of the file has no key $key, which manifests require"))
    if (value(VersionKey) != Version)
      throw EntryFault(s"The manifest has the format version ${value(VersionKey)}, but version 4 is required")
    ManifestKind.named(value(ContentKey)).getOrElse(
      throw EntryFault(s"The manifest has the unknown content ${value(ContentKey)}")
    )
  }

  /** Runs a read operation on a manifest. Failures become errors that name the file. */
  def guard[A](path: String)(body: => A): A =
    try body
    catch {
      case EntryFault(reason) => throw UnreadableFile(path, Role, s"$reason. $Advice")
      case e: UnreadableFile if e.role == Role => throw e
      case e: IcebergError => throw AvroFault.toError(path, Role, Advice, e)
    }
}
