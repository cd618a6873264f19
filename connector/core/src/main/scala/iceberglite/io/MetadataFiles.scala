package iceberglite.io

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException}
import java.util.{Locale, UUID}
import java.util.zip.{GZIPInputStream, GZIPOutputStream}

import scala.util.Try
import scala.util.control.NonFatal

import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}
import iceberglite.spec.json.{TableMetadataJson, ViewMetadataJson}
import iceberglite.spec.{TableMetadata, ViewMetadata}

/** How a metadata file is compressed; `name` as in `write.metadata.compression-codec`. */
sealed abstract class MetadataCodec(val name: String, private[io] val infix: String)

object MetadataCodec {
  case object Plain extends MetadataCodec("none", "")
  case object Gzip extends MetadataCodec("gzip", ".gz")
  val all: Seq[MetadataCodec] = Seq(Plain, Gzip)

  def of(name: String): MetadataCodec = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw InvalidArgument("metadata codec", name, s"It must be one of ${all.map(_.name).mkString(", ")}")
  )
}

/** The files of table metadata: `v3.metadata.json`, `00003-<uuid>.metadata.json`, and both with gzip. */
object MetadataFiles {
  private val Suffix = ".metadata.json"
  private val GzipMagic: Seq[Byte] = Seq(0x1f.toByte, 0x8b.toByte)

  /** What unpacks to more than this, and to more than so many times its size, is taken for a compression bomb. */
  private val FreeBytes = 64L << 20
  private val MaxExpansion = 200L
  private val MaxBytes = 1L << 30

  /** Writers put the UUID among the first fields. */
  private val HeadBytes = 1 << 16

  /**
   * The first number of a file's name: `v3` or `00003-<uuid>`; gzip stands before the suffix or, in old files, after.
   */
  private val Name = """(?:v(\d{1,9})|(\d{1,9})-[^/]+?)(?:\.gz)?\.metadata\.json(?:\.gz)?""".r

  /**
   * Reads a table's metadata, gzip or not: the contents tell.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile the file is not there or is not whole
   * @throws iceberglite.spec.IcebergError.InvalidMetadata it breaks the spec
   */
  def read(io: FileIO, path: String): TableMetadata = TableMetadataJson.read(path, bytes(io, path, "table metadata"))

  /**
   * The UUID of the table that a metadata file belongs to, by reading no more than the beginning of the file.
   *
   * @return absent where the beginning shows none
   * @throws iceberglite.spec.IcebergError.UnreadableFile the file is not there
   */
  def uuid(io: FileIO, path: String): Option[UUID] = StorageErrors.reading(path) {
    val in = io.open(path)
    try {
      val stored = in.readNBytes(HeadBytes)
      TableMetadataJson.uuidIn(if (isGzip(stored)) beginningOf(stored) else stored)
    } finally in.close()
  }

  private[io] def isGzip(stored: Array[Byte]): Boolean = stored.take(GzipMagic.size).toSeq == GzipMagic

  /** What the first bytes of a gzip file unpack to, which end in the middle of it. */
  private def beginningOf(stored: Array[Byte]): Array[Byte] = {
    val plain = new ByteArrayOutputStream
    try {
      val zip = new GZIPInputStream(new ByteArrayInputStream(stored))
      var next = zip.read()
      while (next >= 0 && plain.size < HeadBytes) {
        plain.write(next)
        next = zip.read()
      }
    } catch { case _: EOFException => () }
    plain.toByteArray
  }

  /** Reads a view's metadata in the same way. */
  def readView(io: FileIO, path: String): ViewMetadata = ViewMetadataJson.parse(path, bytes(io, path, "view metadata"))

  private def bytes(io: FileIO, path: String, role: String): Array[Byte] = {
    val stored =
      try io.read(path, ReadBounds.Metadata)
      catch { case e: UnreadableFile => throw e.copy(role = role) }
    if (isGzip(stored)) unzipped(path, role, stored) else stored
  }

  private def unzipped(path: String, role: String, stored: Array[Byte]): Array[Byte] = {
    val most = math.min(MaxBytes, math.max(FreeBytes, stored.length * MaxExpansion)).toInt
    val plain =
      try new GZIPInputStream(new ByteArrayInputStream(stored)).readNBytes(most)
      catch {
        case NonFatal(e) =>
          val reason = s"It is not whole gzip (${e.getMessage}). Restore the file, or register an earlier metadata file"
          throw UnreadableFile(path, role, reason, Some(e))
      }
    if (plain.length == most) {
      val reason = s"Its ${stored.length} bytes unpack to more than $most: it is damaged, or made to fill the memory"
      throw UnreadableFile(path, role, reason)
    }
    plain
  }

  /** The contents of a file. */
  def bytes(metadata: TableMetadata, codec: MetadataCodec): Array[Byte] =
    packed(TableMetadataJson.write(metadata), codec)

  /** The contents of a view's file. */
  def viewBytes(metadata: ViewMetadata, codec: MetadataCodec): Array[Byte] =
    packed(ViewMetadataJson.toBytes(metadata), codec)

  private def packed(plain: Array[Byte], codec: MetadataCodec): Array[Byte] = codec match {
    case MetadataCodec.Plain => plain
    case MetadataCodec.Gzip =>
      val out = new ByteArrayOutputStream(plain.length / 4)
      val zip = new GZIPOutputStream(out)
      zip.write(plain)
      zip.close()
      out.toByteArray
  }

  /** As file-system tables name their versions. */
  def fileName(version: Int, codec: MetadataCodec): String = s"v$version${codec.infix}$Suffix"

  /** As catalogs that keep the location name them: nobody else's file has the same name. */
  def fileName(version: Int, uuid: UUID, codec: MetadataCodec): String =
    "%05d-%s%s%s".formatLocal(Locale.ROOT, version, uuid, codec.infix, Suffix)

  /** Whether a metadata file is named by its version alone, `v3.metadata.json`, as those of file-system tables are. */
  def isVersionName(path: String): Boolean =
    path.substring(path.lastIndexOf('/') + 1).startsWith("v") && version(path).isDefined

  /** The version in a file's name, whatever directory it stands in; `None` for other files. */
  def version(path: String): Option[Int] = path.substring(path.lastIndexOf('/') + 1) match {
    case Name(fileSystem, catalog) => Try(Option(fileSystem).getOrElse(catalog).toInt).toOption
    case _ => None
  }
}
