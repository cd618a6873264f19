package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException}
import java.util.{Locale, UUID}
import java.util.zip.{GZIPInputStream, GZIPOutputStream, ZipException}

import scala.util.Try

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.json.{TableMetadataJson, ViewMetadataJson}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.MetadataCompression
import iceberglite.spec.view.ViewMetadata

/**
 * Metadata files of tables and views, such as `v3.metadata.json` and `00003-<uuid>.metadata.json`, each with or without
 * gzip.
 */
object MetadataFiles {
  private val Uuid = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

  /** The last two names are those of root manifests and leaf manifests (version 4). */
  private val MetadataName =
    ("(?:\\..*|version-hint\\.text|.*\\.metadata\\.json(?:\\.gz)?|snap-.*\\.avro|.*-m\\d+\\.avro|.*\\.stats|" +
      s"partition-stats-.*|root-\\d+-\\d+-$Uuid\\.parquet|$Uuid-\\d+-m\\d+\\.parquet)").r

  /**
   * The name of the version hint file, which contains the number of the newest version. It is in the metadata folder of
   * a table of a file-system catalog.
   */
  val VersionHint = "version-hint.text"

  private val Suffix = ".metadata.json"
  private val GzipMagic: Seq[Byte] = Seq(0x1f.toByte, 0x8b.toByte)

  /**
   * Maximum size of decompressed metadata, in bytes, for which the compression ratio is not checked. Longer content
   * with a ratio above [[MaxExpansion]] is treated as a decompression bomb.
   */
  private val UncheckedBytes = 64L << 20

  /** Maximum ratio of decompressed to stored size. */
  private val MaxExpansion = 200L

  /** Maximum size of decompressed metadata, in bytes. */
  private val MaxBytes = 1L << 30

  /**
   * Number of bytes that are read if only the UUID or the time of the last change is needed. Both are among the first
   * keys that writers write.
   */
  private val HeadBytes = 1 << 16

  /**
   * Captures the version number in a file name that begins with `v3` or `00003-<uuid>`, for example. In the name of a
   * compressed file, `.gz` is before the suffix `.metadata.json` or, in old files, after this suffix.
   */
  private val Name = """(?:v(\d{1,9})|(\d{1,9})-[^/]+?)(?:\.gz)?\.metadata\.json(?:\.gz)?""".r

  /**
   * Reads the metadata of a table. The content of the file determines whether the file is compressed with gzip.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist or is incomplete
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the metadata violates the specification
   */
  def read(io: FileIO, path: String): TableMetadata = TableMetadataJson.read(path, bytes(io, path, "table metadata"))

  /**
   * Returns the UUID of the table that a metadata file belongs to. Reads only the beginning of the file.
   *
   * @return absent if the beginning contains no UUID
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist
   */
  def uuid(io: FileIO, path: String): Option[UUID] = TableMetadataJson.uuidIn(head(io, path))

  /**
   * Returns whether a metadata file is that of a known version of a table. Reads only the beginning of the file, and
   * returns false if it does not contain the UUID and the time of the last change of this version. The time alone does
   * not distinguish two commits in the same millisecond. Therefore the last sequence number and the current snapshot
   * are compared too, if the beginning contains them: in the file of a wide table, they may follow the schemas.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist
   */
  def isSame(io: FileIO, path: String, known: TableMetadata): Boolean = {
    val beginning = head(io, path)
    // A key that a complete file does not contain has its default value.
    def orDefault[A](value: Option[A], default: A): Option[A] =
      if (beginning.length < HeadBytes) value.orElse(Some(default)) else value
    known.uuid.isDefined && isSame(
      known,
      TableMetadataJson.uuidIn(beginning),
      TableMetadataJson.lastUpdatedMsIn(beginning),
      orDefault(TableMetadataJson.lastSequenceNumberIn(beginning), 0L),
      orDefault(TableMetadataJson.currentSnapshotIdIn(beginning), None)
    )
  }

  /** Returns whether the metadata of two versions with the same metadata location are those of the same version. */
  def isSame(a: TableMetadata, b: TableMetadata): Boolean =
    isSame(a, b.uuid, Some(b.lastUpdatedMs), Some(b.lastSequenceNumber), Some(b.currentSnapshotId))

  /**
   * Compares a version with values from the metadata of another version. The last two values are not compared if they
   * are unknown (absent).
   */
  private def isSame(
      known: TableMetadata,
      uuid: Option[UUID],
      lastUpdatedMs: Option[Long],
      lastSequenceNumber: Option[Long],
      currentSnapshotId: Option[Option[Long]]
  ): Boolean = uuid == known.uuid && lastUpdatedMs.contains(known.lastUpdatedMs) &&
    lastSequenceNumber.forall(_ == known.lastSequenceNumber) && currentSnapshotId.forall(_ == known.currentSnapshotId)

  private def head(io: FileIO, path: String): Array[Byte] = StorageErrors.wrapReadErrors(path) {
    val in = io.unguarded.open(path)
    try {
      val stored = in.readNBytes(HeadBytes)
      if (isGzip(stored)) decompressHead(stored) else stored
    } finally in.close()
  }

  private[iceberglite] def isGzip(stored: Array[Byte]): Boolean = stored.take(GzipMagic.size).toSeq == GzipMagic

  /** Decompresses the first bytes of a gzip file. The bytes may end at any position of the compressed stream. */
  private def decompressHead(stored: Array[Byte]): Array[Byte] = {
    val decompressed = new ByteArrayOutputStream
    try {
      val zip = new GZIPInputStream(new ByteArrayInputStream(stored))
      var next = zip.read()
      while (next >= 0 && decompressed.size < HeadBytes) {
        decompressed.write(next)
        next = zip.read()
      }
    } catch { case _: EOFException => () }
    decompressed.toByteArray
  }

  /** Reads the metadata of a view. The content of the file determines whether the file is compressed with gzip. */
  def readView(io: FileIO, path: String): ViewMetadata = ViewMetadataJson.parse(path, bytes(io, path, "view metadata"))

  private def bytes(io: FileIO, path: String, role: String): Array[Byte] = {
    val stored =
      try io.unguarded.read(path, ReadBounds.Metadata)
      catch { case e: UnreadableFile => throw e.copy(role = role) }
    if (isGzip(stored)) decompress(path, role, stored) else stored
  }

  private def decompress(path: String, role: String, stored: Array[Byte]): Array[Byte] = {
    val maxBytes = math.min(MaxBytes, math.max(UncheckedBytes, stored.length * MaxExpansion)).toInt
    val decompressed =
      try new GZIPInputStream(new ByteArrayInputStream(stored)).readNBytes(maxBytes)
      catch {
        case e @ (_: ZipException | _: EOFException) =>
          val reason =
            s"The gzip data is damaged (${e.getMessage}). Restore the file, or register an earlier metadata file"
          // The end of the data is not an end of a storage's stream, because the whole file is in memory.
          throw UnreadableFile(path, role, reason, Some(new ZipException(reason).initCause(e)))
      }
    if (decompressed.length == maxBytes) {
      val reason =
        s"The ${stored.length} bytes of the file decompress to more than $maxBytes bytes, so the file is damaged or " +
          "is a decompression bomb"
      throw UnreadableFile(path, role, reason)
    }
    decompressed
  }

  /** Returns the content of a table metadata file. */
  def bytes(metadata: TableMetadata, codec: MetadataCompression): Array[Byte] =
    compress(TableMetadataJson.write(metadata), codec)

  /** Returns the content of a view metadata file. */
  def viewBytes(metadata: ViewMetadata, codec: MetadataCompression): Array[Byte] =
    compress(ViewMetadataJson.toBytes(metadata), codec)

  private def compress(plain: Array[Byte], codec: MetadataCompression): Array[Byte] = codec match {
    case MetadataCompression.Uncompressed => plain
    case MetadataCompression.Gzip =>
      val out = new ByteArrayOutputStream(plain.length / 4)
      val zip = new GZIPOutputStream(out)
      zip.write(plain)
      zip.close()
      out.toByteArray
  }

  /** Returns the codec that the name of a metadata file indicates. */
  def codecOf(path: String): MetadataCompression = {
    val infix = MetadataCompression.Gzip.infix
    if (path.endsWith(infix + Suffix) || path.endsWith(Suffix + infix)) MetadataCompression.Gzip
    else MetadataCompression.Uncompressed
  }

  /** Returns the name of the metadata file for a version of a table of a file-system catalog. */
  def fileName(version: Int, codec: MetadataCompression): String = s"v$version${codec.infix}$Suffix"

  /**
   * Returns the name of a metadata file for a catalog that stores the location of the metadata file. The UUID makes the
   * name unique.
   */
  def fileName(version: Int, uuid: UUID, codec: MetadataCompression): String =
    "%05d-%s%s%s".formatLocal(Locale.ROOT, version, uuid, codec.infix, Suffix)

  /**
   * Returns whether the name of a metadata file consists only of the version, as in tables of a file-system catalog. An
   * example is `v3.metadata.json`.
   */
  def isVersionName(path: String): Boolean =
    path.substring(path.lastIndexOf('/') + 1).startsWith("v") && version(path).isDefined

  /**
   * Returns whether the name of a file belongs to one of these kinds of files: a table metadata file, a version hint, a
   * temporary file, a manifest list, a manifest of any layout, or a statistics file. Data and delete files have other
   * names, even in a metadata folder.
   */
  def isMetadataName(path: String): Boolean =
    MetadataName.pattern.matcher(path.substring(path.lastIndexOf('/') + 1)).matches

  /** Returns the path of the version hint in the folder of a metadata file. */
  def versionHint(metadataLocation: String): String =
    metadataLocation.substring(0, metadataLocation.lastIndexOf('/') + 1) + VersionHint

  /** Returns the version in the name of a metadata file; `None` if the path does not belong to a metadata file. */
  def version(path: String): Option[Int] = path.substring(path.lastIndexOf('/') + 1) match {
    case Name(fileSystem, catalog) => Try(Option(fileSystem).getOrElse(catalog).toInt).toOption
    case _ => None
  }
}
