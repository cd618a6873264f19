package iceberglite.storage

import java.io.InputStream
import java.nio.charset.StandardCharsets.US_ASCII

import org.apache.parquet.io.{OutputFile, PositionOutputStream}

import iceberglite.encryption.{FileKey, KeyService, NewFileKeys}
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}
import iceberglite.spec.metadata.TableMetadata

/**
 * The storage of an encrypted table. It does not keep the keys of files: the metadata that refers to a file contains
 * the key. Each new file of the table must get its own key from [[newFileKey]], and must be encrypted with this key. As
 * a safeguard against writers that do not encrypt, the first bytes of each new file are checked, and a file without the
 * magic of an encrypted format is rejected before it is created. The table metadata is not encrypted (spec: "Table
 * Metadata"): catalogs write it to the storage without this safeguard, and [[MetadataFiles]] reads it from there.
 *
 * Reads without the key of a file are rejected too, because a file that is not encrypted is not authentic: an attacker
 * who can write to the storage could make it a file of the table. Reads with a key ([[EncryptedFileIO]], encrypted
 * Parquet files) use the storage without this safeguard.
 *
 * @param storage the storage without this safeguard
 * @param keys creates the keys of new files
 */
final class EncryptedTableIO private (storage: FileIO, keys: NewFileKeys) extends ForwardingFileIO(storage) {
  import EncryptedTableIO._

  override private[iceberglite] def newFileKey(): Option[FileKey] = Some(keys.next())

  override private[iceberglite] def unguarded: FileIO = storage

  override def mayCache: Boolean = storage.mayCache
  override def cacheBounds: CacheBounds = storage.cacheBounds
  override def configured(properties: Map[String, String]): FileIO =
    new EncryptedTableIO(storage.configured(properties), keys)

  override def keyService: Option[KeyService] = storage.keyService
  override def withKeyService(service: KeyService): FileIO =
    new EncryptedTableIO(storage.withKeyService(service), keys)

  override def open(path: String): InputStream = reject(path)
  override def read(path: String): Array[Byte] = reject(path)
  override private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] = reject(path)
  override def readRange(path: String, offset: Long, length: Int): Array[Byte] = reject(path)

  override private[iceberglite] def requireUnencrypted(path: String): Unit = reject(path)

  private[storage] def reject(path: String): Nothing = throw UnreadableFile(
    path,
    "file of an encrypted table",
    "The metadata that refers to the file contains no key for the file. Files of an encrypted table must be " +
      "encrypted: another engine has added this file without encryption, or the metadata was replaced. Restore the " +
      "metadata, or remove the file from the table"
  )

  override def write(path: String, contents: Array[Byte]): Unit = checked(path, contents).write(path, contents)
  override def createExclusively(path: String, contents: Array[Byte]): Boolean =
    checked(path, contents).createExclusively(path, contents)
  override def replace(path: String, contents: Array[Byte]): Unit = checked(path, contents).replace(path, contents)
  override def replaceAsync(path: String, contents: Array[Byte]): Unit =
    checked(path, contents).replaceAsync(path, contents)

  /** Returns the storage for a new file. @throws Unsupported if the file is not encrypted */
  private def checked(path: String, contents: Array[Byte]): FileIO = {
    check(path, contents)
    storage
  }

  /** Returns a new file to write. The first bytes of its contents are checked before the file is created. */
  private[storage] def output(path: String): OutputFile = new CheckedOutput(DataOutput.of(storage, path))

  override def deletionGroups(paths: Vector[String]): Vector[Vector[String]] = storage.deletionGroups(paths)
  override def deleteAll(paths: Vector[String]): Vector[FailedDeletion] = storage.deleteAll(paths)
  override def listBelow(directory: String): Iterator[FileInfo] = storage.listBelow(directory)

  override def equals(that: Any): Boolean = that match {
    case other: EncryptedTableIO => other.unguarded == storage
    case _ => false
  }

  override def hashCode: Int = storage.hashCode
}

object EncryptedTableIO {
  private val MagicLength = 4

  /** The first bytes of files in the AES GCM stream format, and of Parquet files with an encrypted footer. */
  private val Magics = Seq("AGS1", "PARE").map(_.getBytes(US_ASCII).toVector)

  /** Returns the storage of a table: `storage` itself if the table is not encrypted. */
  def of(storage: FileIO, metadata: TableMetadata): FileIO = NewFileKeys.of(metadata).fold(storage)(apply(storage, _))

  /** Returns the storage of an encrypted table. */
  def apply(storage: FileIO, keys: NewFileKeys): FileIO = new EncryptedTableIO(storage.unguarded, keys)

  private def check(path: String, contents: Array[Byte]): Unit =
    if (!Magics.contains(contents.iterator.take(MagicLength).toVector)) throw Unsupported(
      s"writing the file $path to an encrypted table without encryption",
      "This operation cannot encrypt its files yet. Nothing was written. Run it with an engine that can"
    )

  /** A new file. Its first bytes are kept in memory until they show that the file is encrypted. */
  final private class CheckedOutput(output: OutputFile) extends OutputFile {
    override def create(blockSizeHint: Long): PositionOutputStream = checked(output.create(blockSizeHint))
    override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream =
      checked(output.createOrOverwrite(blockSizeHint))
    override def supportsBlockSize: Boolean = output.supportsBlockSize
    override def defaultBlockSize: Long = output.defaultBlockSize
    override def getPath: String = output.getPath

    private def checked(create: => PositionOutputStream): PositionOutputStream =
      new CheckedStream(output.getPath, () => create)
  }

  final private class CheckedStream(path: String, create: () => PositionOutputStream) extends PositionOutputStream {
    private val first = new Array[Byte](MagicLength)
    private var count = 0
    private var opened = Option.empty[PositionOutputStream]

    override def getPos: Long = opened.fold(count.toLong)(_.getPos)

    override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = opened match {
      case Some(out) => out.write(bytes, offset, length)
      case None =>
        val kept = math.min(MagicLength - count, length)
        System.arraycopy(bytes, offset, first, count, kept)
        count += kept
        if (count == MagicLength) begin().write(bytes, offset + kept, length - kept)
    }

    private def begin(): PositionOutputStream = {
      check(path, first)
      val out = create()
      opened = Some(out)
      out.write(first, 0, MagicLength)
      out
    }

    override def flush(): Unit = opened.foreach(_.flush())

    override def close(): Unit = opened.foreach(_.close())
  }
}
