package iceberglite.io

import java.io.{ByteArrayInputStream, InputStream}

import scala.annotation.nowarn

import iceberglite.spec.IcebergError.UnreadableFile

/** A file in a listing; `path` is the full URI. */
final case class FileInfo(path: String, length: Long, modifiedMs: Long, isDirectory: Boolean)

/**
 * The file operations that tables need; paths are URIs with or without scheme. Serializable, so that tasks of a cluster
 * can use it.
 *
 * Failures are `IcebergError`s: `UnreadableFile` from reads (also where the file is not there), `StorageFailed` from the
 * rest.
 */
trait FileIO extends FileSink with Serializable {

  /** Whether what was read of files that never change may be kept in memory and taken again. */
  def mayCache: Boolean = true

  /** How much of it. */
  def cacheBounds: CacheBounds = CacheBounds.Default

  /**
   * The same files with other settings, such as credentials that are vended for one table.
   *
   * @param properties by the names of a catalog's configuration: `s3.access-key-id`, `hadoop.fs.s3a.endpoint`
   */
  @nowarn("cat=unused-params") // for storages that have no settings
  def configured(properties: Map[String, String]): FileIO = this

  def open(path: String): InputStream

  /** The whole of a file. */
  def read(path: String): Array[Byte]

  /**
   * The whole of a file that must keep within bounds, by which no more of it is read.
   *
   * @throws UnreadableFile it is longer, or so long that it would have to begin as its format does
   */
  private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] =
    bounds.read(path, new ByteArrayInputStream(read(path)))

  /**
   * A part of a file, without the rest where the storage allows it. The memory that it takes is bounded by what the file
   * holds, whatever `length` claims.
   *
   * @param offset of the first byte; not negative
   * @param length in bytes; not negative. The file must hold that many from `offset` on
   */
  def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
    val in = open(path)
    try {
      val skipped = FileIO.skip(in, offset)
      FileIO.whole(path, offset, length, if (skipped) in.readNBytes(length) else Array.emptyByteArray)
    } finally in.close()
  }

  def exists(path: String): Boolean

  /** @return absent where there is no such file */
  def info(path: String): Option[FileInfo]

  /** Whether a call takes so long that several at once are worth a thread each, as over a network. */
  @nowarn("cat=unused-params") // for storages that are always near
  def isRemote(path: String): Boolean = false

  /**
   * Writes a new file; its directories are made where the storage has such. The contents are as durable on return as the
   * storage makes a file that is closed.
   */
  override def write(path: String, contents: Array[Byte]): Unit

  /**
   * Makes a file appear whole or not at all, and only where none is: the commit of file-system tables.
   *
   * @return false where the path is taken
   * @throws iceberglite.spec.IcebergError.Unsupported where the storage cannot do this exclusively
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown where nobody knows whether it appeared; after every other
   *   error it has not, and will not
   */
  def createExclusively(path: String, contents: Array[Byte]): Boolean

  /** Replaces a file's contents, readers seeing the old or the new; for hints only. */
  def replace(path: String, contents: Array[Byte]): Unit

  /**
   * The same where nobody need wait for it: maybe a moment later, and only the last of several contents. Reads through
   * this object see it at once; the end of the program waits for it; a failure is no more than a line in the log.
   */
  def replaceSoon(path: String, contents: Array[Byte]): Unit = replace(path, contents)

  /** Removes a file; that it is not there is fine. */
  def delete(path: String): Unit

  /** What a directory holds, in no order; empty where it is not there. */
  def list(directory: String): Vector[FileInfo]

  def makeDirectory(path: String): Unit

  /** Removes a directory and all in it. */
  def deleteDirectory(path: String): Unit

  /**
   * Removes a directory only if it is empty, so that a file which appears at the same time is never lost. A missing
   * directory is fine.
   *
   * @throws iceberglite.spec.IcebergError.StorageFailed it is not empty; hidden files count
   */
  def deleteEmptyDirectory(path: String): Unit

  /** Moves a directory. */
  def renameDirectory(from: String, to: String): Unit

  /** The URI of the file system on which paths without a scheme are. */
  def defaultFileSystem: String = "file:///"

  /** The directory with symbolic links resolved; the same path on storages without links, and where it does not exist. */
  def realDirectory(directory: String): String = directory
}

object FileIO {

  /** @return whether there were so many bytes: a stream may skip fewer at a time than it is asked to */
  private def skip(in: InputStream, count: Long): Boolean = {
    var left = count
    var ended = false
    while (left > 0 && !ended) {
      val skipped = in.skip(left)
      if (skipped > 0) left -= skipped
      else if (in.read() >= 0) left -= 1
      else ended = true
    }
    !ended
  }

  /** @throws UnreadableFile where a file ended before the part that was asked of it */
  private[io] def whole(path: String, offset: Long, length: Int, read: Array[Byte]): Array[Byte] =
    if (read.length == length) read
    else throw UnreadableFile(
      path,
      "file",
      s"It ends before byte ${offset + length}: ${read.length} of the $length bytes at $offset are there"
    )
}
