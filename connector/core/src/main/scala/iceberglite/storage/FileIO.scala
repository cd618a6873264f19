package iceberglite.storage

import java.io.{ByteArrayInputStream, InputStream}

import scala.annotation.nowarn

import iceberglite.encryption.{FileKey, KeyService}
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}

/**
 * A file in a listing.
 *
 * @param path the full URI
 * @param length the length in bytes
 * @param modifiedMs the time of the last modification, in milliseconds since 1970
 */
final case class FileInfo(path: String, length: Long, modifiedMs: Long, isDirectory: Boolean)

/**
 * The file operations that tables need. Paths are URIs with or without scheme. A `FileIO` is serializable, so that
 * tasks on executors can use it.
 *
 * Failures are `IcebergError`s: `UnreadableFile` for reads (including reads of missing files), and, unless stated
 * otherwise, `StorageFailed` for all other operations.
 */
trait FileIO extends FileSink with Serializable {

  /** Whether the content of immutable files may be cached in memory. */
  def mayCache: Boolean = true

  /** The limits of the cache for immutable files. */
  def cacheBounds: CacheBounds = CacheBounds.Default

  /**
   * Returns a `FileIO` for the same storage with other settings, such as credentials vended for one table.
   *
   * @param properties settings with the keys of a catalog's configuration, such as `s3.access-key-id` or
   *   `hadoop.fs.s3a.endpoint`
   */
  @nowarn("cat=unused-params") // not used by storages without settings
  def configured(properties: Map[String, String]): FileIO = this

  /** The key management service of the catalog, for encrypted tables. Absent in tasks, which need only file keys. */
  def keyService: Option[KeyService] = None

  /** Returns a `FileIO` for the same storage with a key management service. */
  def withKeyService(service: KeyService): FileIO =
    throw Unsupported(s"encryption ($service) on this storage", "Remove the encryption.* options of the catalog")

  /** Returns a new random key for a new file; absent if the files of the table are not encrypted. */
  private[iceberglite] def newFileKey(): Option[FileKey] = None

  /**
   * Checks that a file for which the metadata contains no key may be read. The file itself is not read: it may be read
   * if it belongs to a table that is not encrypted.
   *
   * @throws UnreadableFile if the table is encrypted, because all of its files must then have a key
   */
  @nowarn("cat=unused-params") // not used by storages of tables that are not encrypted
  private[iceberglite] def requireUnencrypted(path: String): Unit = ()

  /**
   * The storage without the safeguard of [[EncryptedTableIO]]. Callers that read or create files in a way that depends
   * on the class of the `FileIO` use the class of this storage.
   */
  private[iceberglite] def unguarded: FileIO = this

  /** Opens a file for reading. The caller closes the stream. */
  def open(path: String): InputStream

  /** Reads a whole file. */
  def read(path: String): Array[Byte]

  /**
   * Reads a whole file within size limits. An implementation that reads the file as a stream stops at the limit. This
   * default implementation reads the whole file before it checks the limits.
   *
   * @throws UnreadableFile if the file is longer than the limit, or if it has at least 16 MiB and does not begin with
   *   the magic of its format
   */
  private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] =
    bounds.read(path, new ByteArrayInputStream(read(path)))

  /**
   * Reads a range of a file. If the storage supports range reads, other parts of the file are not read. The method
   * needs no more memory than the file has bytes, even if `length` is larger.
   *
   * @param offset the position of the first byte; not negative
   * @param length the number of bytes; not negative. The file must contain at least this number of bytes from `offset`
   *   on
   */
  def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
    val in = open(path)
    try {
      val skipped = FileIO.skip(in, offset)
      FileIO.requireComplete(path, offset, length, if (skipped) in.readNBytes(length) else Array.emptyByteArray)
    } finally in.close()
  }

  def exists(path: String): Boolean

  /** Returns information about a file; `None` if it does not exist. */
  def info(path: String): Option[FileInfo]

  /**
   * Returns whether calls for a path have a high latency, for example over a network. If they have, running them in
   * parallel threads is faster.
   */
  @nowarn("cat=unused-params") // not used by storages with low latency
  def isRemote(path: String): Boolean = false

  /**
   * Writes a new file and creates its directories if the storage has directories. When the method returns, the content
   * is as durable as the content of any closed file on the storage.
   */
  override def write(path: String, contents: Array[Byte]): Unit

  /**
   * Creates a file atomically, and only if the path does not exist. Tables of a file-system catalog use this method to
   * commit.
   *
   * @return false if the path already exists
   * @throws iceberglite.spec.IcebergError.Unsupported if the storage cannot create files exclusively
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown if it is unknown whether the file was created. After any
   *   other error, the file was not created, and it will not be created later
   */
  def createExclusively(path: String, contents: Array[Byte]): Boolean

  /**
   * Replaces the content of a file. Readers see either the old or the new content. The method is used only for version
   * hints.
   */
  def replace(path: String, contents: Array[Byte]): Unit

  /**
   * Replaces the content of a file in the background. The write may be delayed. If the content is replaced several
   * times during the delay, only the last content may be written. Reads through this object return the new content
   * immediately. Before the JVM exits, it waits for pending writes for a limited time. A failure is only logged.
   */
  def replaceAsync(path: String, contents: Array[Byte]): Unit = replace(path, contents)

  /** Deletes a file. Does nothing if the file does not exist. */
  def delete(path: String): Unit

  /**
   * Splits files into groups, each of which [[deleteAll]] deletes by one request. A storage without requests that
   * delete several files returns one group for each file.
   */
  def deletionGroups(paths: Vector[String]): Vector[Vector[String]] = paths.map(Vector(_))

  /**
   * Deletes files. A file that cannot be deleted does not prevent the deletion of the other files. Files that do not
   * exist are ignored.
   *
   * @return the files that could not be deleted
   */
  def deleteAll(paths: Vector[String]): Vector[FailedDeletion] =
    paths.flatMap(path => FailedDeletion.of(path)(delete(path)))

  /** Lists a directory in no particular order. The result is empty if the directory does not exist. */
  def list(directory: String): Vector[FileInfo]

  /**
   * Returns the files in a directory at all depths, in no particular order. The result is empty if the directory does
   * not exist. On object stores, one request lists the files of many directories.
   */
  def listBelow(directory: String): Iterator[FileInfo] =
    list(directory).iterator.flatMap(file => if (file.isDirectory) listBelow(file.path) else Iterator(file))

  /** Creates a directory and its missing parent directories. */
  def makeDirectory(path: String): Unit

  /** Deletes a directory with all of its content. */
  def deleteDirectory(path: String): Unit

  /**
   * Deletes a directory only if it is empty, so that a concurrently created file is never lost. Does nothing if the
   * directory does not exist.
   *
   * @throws iceberglite.spec.IcebergError.StorageFailed if the directory contains any file, even a hidden one
   */
  def deleteEmptyDirectory(path: String): Unit

  /** Moves a directory. */
  def renameDirectory(from: String, to: String): Unit

  /** The URI of the file system for paths without a scheme. */
  def defaultFileSystem: String = "file:///"

  /**
   * Returns the path of a directory with symbolic links resolved. Returns the given path if the storage has no symbolic
   * links, or if the directory does not exist.
   */
  def realDirectory(directory: String): String = directory
}

object FileIO {

  /**
   * Skips `count` bytes, and returns whether the stream had at least this number of bytes. A call of `InputStream.skip`
   * may skip fewer bytes than requested.
   */
  private def skip(in: InputStream, count: Long): Boolean = {
    var bytesLeft = count
    var reachedEnd = false
    while (bytesLeft > 0 && !reachedEnd) {
      val skipped = in.skip(bytesLeft)
      if (skipped > 0) bytesLeft -= skipped
      else if (in.read() >= 0) bytesLeft -= 1
      else reachedEnd = true
    }
    !reachedEnd
  }

  /**
   * Returns the bytes that were read for a range.
   *
   * @throws UnreadableFile if the file ended before the end of the range
   */
  private[iceberglite] def requireComplete(path: String, offset: Long, length: Int, read: Array[Byte]): Array[Byte] =
    if (read.length == length) read
    else throw UnreadableFile(
      path,
      "file",
      s"The file ends before byte ${offset + length}: a read of $length bytes at offset $offset returned only " +
        s"${read.length} bytes"
    )
}
