package iceberglite.storage

import java.io.{FileNotFoundException, InputStream}
import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileContext, FileStatus, FileSystem, Options, Path}
import org.apache.hadoop.fs.UnsupportedFileSystemException

import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidArgument, StorageFailed, Unsupported}

/**
 * Implements the operations of [[FileIO]] with the file system class that Hadoop's configuration sets for a path's
 * scheme.
 */
final private[storage] class HadoopFiles(configuration: Configuration) {
  import HadoopFiles._

  def open(path: String): InputStream = {
    val file = pathOf(path)
    openFile(fileSystem(file), file)
  }

  /** Opens a file for reading. Rejects pipes, because reading one would block. */
  private def openFile(fs: FileSystem, file: Path): FSDataInputStream = {
    if (schemeOf(fs) == LocalScheme && Files.exists(localOf(file))) LocalFiles.requireRegular(localOf(file))
    fs.open(file)
  }

  /** Reads a file to its end. The file's length is not requested first, which saves a round trip. */
  def read(path: String, bounds: ReadBounds): Array[Byte] = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    s3Of(fs).map(_.read(file, bounds)).getOrElse {
      val in = openFile(fs, file)
      try bounds.read(path, in)
      finally in.close()
    }
  }

  /** Reads a range. Returns fewer bytes if the file is shorter. */
  def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
    val file = pathOf(path)
    val in = openFile(fileSystem(file), file)
    try {
      in.seek(offset)
      in.readNBytes(length)
    } finally in.close()
  }

  def info(path: String): Option[FileInfo] = {
    val file = pathOf(path)
    try Some(info(fileSystem(file).getFileStatus(file)))
    catch { case NonFatal(e) if StorageErrors.isMissing(e) => None }
  }

  def write(path: String, contents: Array[Byte]): Unit = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    s3Of(fs).map(_.write(file, contents)).getOrElse(write(fs, file, contents))
  }

  def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    schemeOf(fs) match {
      case LocalScheme => createByLink(fs, file, contents)
      case scheme if ExclusiveRename(scheme) => createByRename(fs, path, contents)
      case scheme => s3Of(fs).map(_.createExclusively(file, contents))
          .getOrElse(throw notExclusive(path, s"$scheme (${fs.getClass.getName})"))
    }
  }

  private def notExclusive(path: String, storage: String): Unsupported = Unsupported(
    s"committing to $path: $storage cannot create a file exclusively, so commits could be lost",
    "Use a JDBC, REST or Hive catalog for tables on this storage"
  )

  /** Replaces a file. Used for files for which a lost race between two writers is harmless. */
  def replace(path: String, contents: Array[Byte]): Unit = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    schemeOf(fs) match {
      case LocalScheme => LocalFiles.moveOver(localOf(writeTemporary(fs, file, contents)), localOf(file))
      case scheme if ExclusiveRename(scheme) =>
        val temporary = writeTemporary(fs, file, contents)
        deleteOnFailure(fs, temporary)(rename(fs, temporary, file))
      // Object stores show the new file when it is closed, and the old one until then.
      case _ => s3Of(fs).map(_.write(file, contents)).getOrElse(write(fs, file, contents, overwrite = true))
    }
  }

  def delete(path: String): Unit = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    if (mayDelete(fs)) fs.delete(file, false)
    ()
  }

  /**
   * Returns whether objects may be deleted. A setting of S3 keeps all objects, for example for a bucket whose
   * life-cycle rules remove them.
   */
  private def mayDelete(fs: FileSystem): Boolean =
    !StorageSettings.S3(schemeOf(fs)) || configuration.getBoolean(S3Settings.HadoopDeleteEnabled, true)

  def list(directory: String): Vector[FileInfo] = {
    val path = pathOf(directory)
    try fileSystem(path).listStatus(path).iterator.map(info).toVector
    catch { case e: FileNotFoundException if StorageErrors.isMissing(e) => Vector.empty }
  }

  /** Returns the files below a directory. Object stores override the listing so that it reads no directories. */
  def listBelow(directory: String): Iterator[FileInfo] = {
    val path = pathOf(directory)
    try {
      val files = fileSystem(path).listFiles(path, true)
      Iterator.continually(files).takeWhile(_.hasNext).map(remaining => info(remaining.next()))
    } catch { case e: FileNotFoundException if StorageErrors.isMissing(e) => Iterator.empty }
  }

  def makeDirectory(path: String): Unit = {
    val directory = pathOf(path)
    if (!fileSystem(directory).mkdirs(directory))
      throw StorageFailed("make the directory", path, "The storage refused to create the directory")
  }

  def deleteDirectory(path: String): Unit = deleteDirectory(path, recursive = true)

  /** Deletes an empty directory. Hadoop's file systems throw an exception if the directory is not empty. */
  def deleteEmptyDirectory(path: String): Unit = deleteDirectory(path, recursive = false)

  private def deleteDirectory(path: String, recursive: Boolean): Unit = {
    val directory = pathOf(path)
    val fs = fileSystem(directory)
    if (mayDelete(fs)) fs.delete(directory, recursive)
    ()
  }

  /** Moves a directory. Hadoop moves a directory INTO an existing target directory, so the target is checked first. */
  def renameDirectory(from: String, to: String): Unit = {
    val (source, target) = (pathOf(from), pathOf(to))
    val fs = fileSystem(source)
    if (!mayDelete(fs)) throw Unsupported(
      s"moving the directory $from with s3.delete-enabled=false",
      "S3 moves files by copying and deleting them. Set s3.delete-enabled to true, or use a catalog that renames " +
        "tables without moving files"
    )
    if (info(to).isDefined) throw StorageFailed("move the directory", from, s"$to exists already")
    Option(target.getParent).foreach(parent => fs.mkdirs(parent))
    if (!fs.rename(source, target)) {
      throw StorageFailed("move the directory", from, s"The storage refused to rename it to $to")
    }
  }

  /**
   * Parses a path, and adds the trailing slash that the root of a bucket requires. Rejects a path that contains a
   * password, because Hadoop would log the path before it rejects it.
   */
  private def pathOf(path: String): Path = {
    val parsed = new Path(path)
    if (Option(parsed.toUri.getAuthority).exists(_.matches(".*:.*@.*"))) {
      val advice = "A path must not contain a password. Set the access keys in the catalog's configuration"
      throw InvalidArgument("path", path, advice)
    }
    if (parsed.toUri.getPath.isEmpty) new Path(path + "/") else parsed
  }

  /**
   * Returns the S3 operations of a file system; `None` for storages other than S3, and if a class other than S3A reads
   * S3.
   */
  private def s3Of(fs: FileSystem): Option[S3Objects] = {
    val scheme = schemeOf(fs)
    if (StorageSettings.S3(scheme)) FileSystemJars.explainMissingJar(scheme)(S3Objects.of(fs)) else None
  }

  private def fileSystem(path: Path): FileSystem = {
    val scheme = Option(path.toUri.getScheme).getOrElse(FileSystem.getDefaultUri(configuration).getScheme)
    FileSystemJars.explainMissingJar(scheme)(path.getFileSystem(configuration))
  }

  private def info(status: FileStatus): FileInfo =
    FileInfo(status.getPath.toString, status.getLen, status.getModificationTime, status.isDirectory)

  private def write(fs: FileSystem, file: Path, contents: Array[Byte], overwrite: Boolean = false): Unit = {
    val out = fs.create(file, overwrite)
    try {
      out.write(contents)
      out.close()
    } catch {
      case e: Throwable =>
        StorageErrors.quietly(out.close())
        StorageErrors.quietly(fs.delete(file, false))
        throw e
    }
  }

  private def writeTemporary(fs: FileSystem, file: Path, contents: Array[Byte]): Path = {
    val temporary = new Path(file.getParent, LocalFiles.temporaryName(file.getName))
    write(fs, temporary, contents)
    temporary
  }

  /**
   * Creates a file exclusively on the local file system, if a class other than Hadoop's own is configured for the
   * scheme `file`. That class writes a temporary file. A hard link, which fails if the target exists, then gives the
   * file its name.
   */
  private def createByLink(fs: FileSystem, file: Path, contents: Array[Byte]): Boolean = {
    val temporary = writeTemporary(fs, file, contents)
    val written = localOf(temporary)
    if (!Files.exists(written)) {
      StorageErrors.quietly(fs.delete(temporary, false))
      throw Unsupported(
        s"committing to $file: ${fs.getClass.getName} does not store files at their paths on the local file system",
        "Use a JDBC or REST catalog with this file system"
      )
    }
    try LocalFiles.link(written, localOf(file))
    finally StorageErrors.quietly(LocalFiles.delete(written))
  }

  private def createByRename(fs: FileSystem, path: String, contents: Array[Byte]): Boolean = {
    val file = pathOf(path)
    val temporary = writeTemporary(fs, file, contents)
    val renamed =
      try fs.rename(temporary, file)
      catch { case NonFatal(e) => wasRenamed(fs, temporary, path, e) }
    if (renamed) true
    else {
      // A lost race requires that the target exists. Any other refusal is a storage failure.
      val targetExists = deleteOnFailure(fs, temporary)(fs.exists(file))
      StorageErrors.quietly(fs.delete(temporary, false))
      if (!targetExists) throw StorageFailed("create", path, s"The storage refused to rename $temporary to $path")
      false
    }
  }

  /**
   * Returns whether a rename took place, after the rename failed with an unknown outcome. If the temporary file can
   * still be deleted, it was not renamed and will not be. If it no longer exists, only this rename can have moved it.
   */
  private def wasRenamed(fs: FileSystem, temporary: Path, path: String, failure: Throwable): Boolean = {
    val deleted =
      try fs.delete(temporary, false)
      catch {
        case NonFatal(e) =>
          failure.addSuppressed(e)
          val reason = s"renaming $temporary to $path failed (${failure.getMessage})"
          throw CommitStateUnknown(s"the table of $path", Some(path), reason, Some(failure))
      }
    if (deleted) throw StorageErrors.storageFailed("create", path, failure)
    true
  }

  /**
   * Renames through a `FileContext`, whose rename replaces the target. If the scheme has no `FileContext`, deletes the
   * target first.
   */
  private def rename(fs: FileSystem, temporary: Path, file: Path): Unit =
    try FileContext.getFileContext(fs.getUri, configuration).rename(temporary, file, Options.Rename.OVERWRITE)
    catch {
      case _: UnsupportedFileSystemException =>
        fs.delete(file, false)
        if (!fs.rename(temporary, file)) {
          throw StorageFailed("replace", file.toString, s"The storage refused to rename $temporary to $file")
        }
    }

  private def deleteOnFailure[A](fs: FileSystem, temporary: Path)(body: => A): A =
    try body
    catch {
      case NonFatal(e) =>
        StorageErrors.quietly(fs.delete(temporary, false))
        throw e
    }
}

private[storage] object HadoopFiles {
  private val LocalScheme = "file"

  /**
   * Schemes whose file rename is atomic and fails if the target exists. These are HDFS and stores with real
   * directories. The schemes `s3a` (see [[S3Objects]]), `gs`, `wasb` and `oss` are not included, because their rename
   * is a copy followed by a delete.
   */
  private val ExclusiveRename = Set("hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs", "abfs", "abfss")

  private def schemeOf(fs: FileSystem): String = Option(fs.getUri.getScheme).getOrElse(LocalScheme)

  private def localOf(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}
