package iceberglite.io

import java.io.InputStream

/** A file in a listing; `path` is the full URI. */
final case class FileInfo(path: String, length: Long, modifiedMs: Long, isDirectory: Boolean)

/**
 * The file operations that tables need; paths are URIs with or without scheme. Serializable, so that tasks of a cluster
 * can use it.
 *
 * Failures are `IcebergError`s: `UnreadableFile` from reads (also where the file is not there), `StorageFailed` from the
 * rest.
 */
trait FileIO extends Serializable {

  /** Whether what was read of files that never change may be kept in memory and taken again. */
  def mayCache: Boolean = true

  def open(path: String): InputStream

  /** The whole of a file. */
  def read(path: String): Array[Byte]

  def exists(path: String): Boolean

  /** @return absent where there is no such file */
  def info(path: String): Option[FileInfo]

  /** Writes a new file; its directories are made where the storage has such. The contents are durable on return. */
  def write(path: String, contents: Array[Byte]): Unit

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

  /** Removes a file; that it is not there is fine. */
  def delete(path: String): Unit

  /** What a directory holds, in no order; empty where it is not there. */
  def list(directory: String): Vector[FileInfo]

  def makeDirectory(path: String): Unit

  /** Removes a directory and all in it. */
  def deleteDirectory(path: String): Unit

  /** Moves a directory. */
  def renameDirectory(from: String, to: String): Unit
}
