package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException}
import java.util.{Locale, UUID}
import java.util.zip.{GZIPInputStream, GZIPOutputStream}

import scala.util.Try
import scala.util.control.NonFatal

import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}
import iceberglite.spec.json.{TableMetadataJson, ViewMetadataJson}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.view.ViewMetadata

/** Compression codec of a metadata file. `name` is the value of `write.metadata.compression-codec`. */
sealed abstract class MetadataCodec(val name: String, private[iceberglite] val infix: String)

object MetadataCodec {
  case object Plain extends MetadataCodec("none", "")
  case object Gzip extends MetadataCodec("gzip", ".gz")
  val all: Seq[MetadataCodec] = Seq(Plain, Gzip)

  def of(name: String): MetadataCodec = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw InvalidArgument("metadata codec", name, s"It must be one of ${all.map(_.name).mkString(", ")}")
  )
}

/** Table metadata files: `v3.metadata.json`, `00003-<uuid>.metadata.json`, each with or without gzip. */
object MetadataFiles {
  private val MetadataName =
    ("(?:\\..*|version-hint\\.text|.*\\.metadata\\.json(?:\\.gz)?|snap-.*\\.avro|.*-m\\d+\\.avro|.*\\.stats|" +
      "partition-stats-.*)").r

  /** The name of the file with the number of the newest version, in the metadata folder of a file-system table. */
  val VersionHint = "version-hint.text"

  private val Suffix = ".metadata.json"
  private val GzipMagic: Seq[Byte] = Seq(0x1f.toByte, 0x8b.toByte)

  /**
   * Maximum size of decompressed metadata for which the compression ratio is not checked. Longer content with a ratio
   * above `MaxExpansion` is treated as a decompression bomb.
   */
  private val UncheckedBytes = 64L << 20

  /** Maximum ratio of decompressed to stored size. */
  private val MaxExpansion = 200L

  /** Maximum size of decompressed metadata. */
  private val MaxBytes = 1L << 30

  /** Number of bytes to read when only the UUID is needed. Writers put the UUID among the first fields. */
  private val HeadBytes = 1 << 16

  /**
   * Captures the version number in a file name, which begins with `v3` or `00003-<uuid>`. In the name of a compressed
   * file, `.gz` is before the suffix `.metadata.json` or, in old files, after it.
   */
  private val Name = """(?:v(\d{1,9})|(\d{1,9})-[^/]+?)(?:\.gz)?\.metadata\.json(?:\.gz)?""".r

  /**
   * Reads a table's metadata. Gzip is detected by the content.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist or is incomplete
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the metadata violates the spec
   */
  def read(io: FileIO, path: String): TableMetadata = TableMetadataJson.read(path, bytes(io, path, "table metadata"))

  /**
   * Returns the UUID of the table that a metadata file belongs to. Reads only the beginning of the file.
   *
   * @return absent if the beginning contains no UUID
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist
   */
  def uuid(io: FileIO, path: String): Option[UUID] = StorageErrors.wrapReadErrors(path) {
    val in = io.open(path)
    try {
      val stored = in.readNBytes(HeadBytes)
      TableMetadataJson.uuidIn(if (isGzip(stored)) decompressHead(stored) else stored)
    } finally in.close()
  }

  private[iceberglite] def isGzip(stored: Array[Byte]): Boolean = stored.take(GzipMagic.size).toSeq == GzipMagic

  /** Decompresses the first bytes of a gzip file, which end in the middle of the stream. */
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

  /** Reads a view's metadata. Gzip is detected by the content. */
  def readView(io: FileIO, path: String): ViewMetadata = ViewMetadataJson.parse(path, bytes(io, path, "view metadata"))

  private def bytes(io: FileIO, path: String, role: String): Array[Byte] = {
    val stored =
      try io.read(path, ReadBounds.Metadata)
      catch { case e: UnreadableFile => throw e.copy(role = role) }
    if (isGzip(stored)) decompress(path, role, stored) else stored
  }

  private def decompress(path: String, role: String, stored: Array[Byte]): Array[Byte] = {
    val maxBytes = math.min(MaxBytes, math.max(UncheckedBytes, stored.length * MaxExpansion)).toInt
    val decompressed =
      try new GZIPInputStream(new ByteArrayInputStream(stored)).readNBytes(maxBytes)
      catch {
        case NonFatal(e) =>
          val reason =
            s"The gzip data is damaged (${e.getMessage}). Restore the file, or register an earlier metadata file"
          throw UnreadableFile(path, role, reason, Some(e))
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
  def bytes(metadata: TableMetadata, codec: MetadataCodec): Array[Byte] =
    compress(TableMetadataJson.write(metadata), codec)

  /** Returns the content of a view metadata file. */
  def viewBytes(metadata: ViewMetadata, codec: MetadataCodec): Array[Byte] =
    compress(ViewMetadataJson.toBytes(metadata), codec)

  private def compress(plain: Array[Byte], codec: MetadataCodec): Array[Byte] = codec match {
    case MetadataCodec.Plain => plain
    case MetadataCodec.Gzip =>
      val out = new ByteArrayOutputStream(plain.length / 4)
      val zip = new GZIPOutputStream(out)
      zip.write(plain)
      zip.close()
      out.toByteArray
  }

  /** Returns the codec that the name of a metadata file states. */
  def codecOf(path: String): MetadataCodec =
    if (path.endsWith(MetadataCodec.Gzip.infix + Suffix) || path.endsWith(Suffix + MetadataCodec.Gzip.infix))
      MetadataCodec.Gzip
    else MetadataCodec.Plain

  /** Returns the file name of a version in a file-system table. */
  def fileName(version: Int, codec: MetadataCodec): String = s"v$version${codec.infix}$Suffix"

  /** Returns the name of a metadata file for catalogs that store its location. The UUID makes the name unique. */
  def fileName(version: Int, uuid: UUID, codec: MetadataCodec): String =
    "%05d-%s%s%s".formatLocal(Locale.ROOT, version, uuid, codec.infix, Suffix)

  /**
   * Returns whether a metadata file is named by its version alone, such as `v3.metadata.json`, as in file-system
   * tables.
   */
  def isVersionName(path: String): Boolean =
    path.substring(path.lastIndexOf('/') + 1).startsWith("v") && version(path).isDefined

  /**
   * Returns whether a file has the name of a table's metadata: a metadata file, a version hint, a temporary file, a
   * manifest list, a manifest or statistics. Data and delete files have other names, even in a metadata folder.
   */
  def isMetadataName(path: String): Boolean =
    MetadataName.pattern.matcher(path.substring(path.lastIndexOf('/') + 1)).matches

  /** Returns the path of the version hint in the folder of a metadata file. */
  def versionHint(metadataLocation: String): String =
    metadataLocation.substring(0, metadataLocation.lastIndexOf('/') + 1) + VersionHint

  /** Returns the version in a file's name, in any directory; `None` for other files. */
  def version(path: String): Option[Int] = path.substring(path.lastIndexOf('/') + 1) match {
    case Name(fileSystem, catalog) => Try(Option(fileSystem).getOrElse(catalog).toInt).toOption
    case _ => None
  }
}
