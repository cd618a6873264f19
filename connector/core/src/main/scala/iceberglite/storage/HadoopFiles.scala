package iceberglite.storage

import java.io.{FileNotFoundException, InputStream}
import java.net.URI
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

  /** Opens a file for reading. Rejects named pipes, because reading a pipe would block. */
  private def openFile(fs: FileSystem, file: Path): FSDataInputStream = {
    if (schemeOf(fs) == LocalScheme && Files.exists(localOf(file))) LocalFiles.requireRegular(localOf(file))
    fs.open(file)
  }

  /** Reads a whole file. The length of the file is not requested first, which saves a request. */
  def read(path: String, bounds: ReadBounds): Array[Byte] = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    s3Of(fs).map(_.read(file, bounds)).getOrElse {
      val in = openFile(fs, file)
      try bounds.read(path, in)
      finally in.close()
    }
  }

  /** Reads a range of a file. Returns fewer bytes if the file ends before the end of the range. */
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

  /**
   * Replaces a file. If two writers replace the file concurrently, either content may remain. Therefore this method is
   * only for files such as version hints.
   */
  def replace(path: String, contents: Array[Byte]): Unit = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    schemeOf(fs) match {
      case LocalScheme => LocalFiles.moveOver(localOf(writeTemporary(fs, file, contents)), localOf(file))
      case scheme if ExclusiveRename(scheme) =>
        val temporary = writeTemporary(fs, file, contents)
        deleteOnFailure(fs, temporary)(rename(fs, temporary, file))
      // On object stores, readers see the old file until the new file is closed.
      case _ => s3Of(fs).map(_.write(file, contents)).getOrElse(write(fs, file, contents, overwrite = true))
    }
  }

  def delete(path: String): Unit = {
    val file = pathOf(path)
    val fs = fileSystem(file)
    if (mayDelete(fs)) fs.delete(file, false)
    ()
  }

  /** Splits files into groups that can be deleted by one request. Only S3 has requests that delete several files. */
  def deletionGroups(paths: Vector[String]): Vector[Vector[String]] = {
    val byBucket = paths.groupBy(bucketWithBulkDeletion)
    val single = byBucket.getOrElse(None, Vector.empty).map(Vector(_))
    single ++ (byBucket - None).values.flatMap(_.grouped(S3Objects.MaxDeletedTogether))
  }

  /** Returns the bucket of a file if files of the bucket can be deleted together. */
  private def bucketWithBulkDeletion(path: String): Option[URI] =
    try {
      val fs = fileSystem(pathOf(path))
      Some(fs.getUri).filter(_ => s3Of(fs).exists(_.deletesTogether))
    } catch {
      // The deletion of the file will report this error.
      case NonFatal(_) => None
    }

  /** Deletes the files of a group of [[deletionGroups]]. @return the files that could not be deleted */
  def deleteGroup(group: Vector[String]): Vector[FailedDeletion] =
    group.headOption.flatMap(bucketWithBulkDeletion) match {
      case Some(_) =>
        try {
          val files = group.map(path => path -> pathOf(path))
          val fs = fileSystem(files.head._2)
          if (mayDelete(fs)) s3Of(fs).fold(Vector.empty[FailedDeletion])(_.deleteTogether(files)) else Vector.empty
        } catch {
          case NonFatal(e) => group.map(path => FailedDeletion(path, StorageErrors.storageFailed("delete", path, e)))
        }
      case None =>
        group.flatMap(path => FailedDeletion.of(path)(StorageErrors.wrapErrors("delete", path)(delete(path))))
    }

  /**
   * Returns whether files may be deleted. The setting `s3.delete-enabled` can disable deletes on S3, for example for a
   * bucket whose life-cycle rules remove objects.
   */
  private def mayDelete(fs: FileSystem): Boolean =
    !StorageSettings.S3(schemeOf(fs)) || configuration.getBoolean(S3Settings.HadoopDeleteEnabled, true)

  def list(directory: String): Vector[FileInfo] = {
    val path = pathOf(directory)
    try fileSystem(path).listStatus(path).iterator.map(info).toVector
    catch { case e: FileNotFoundException if StorageErrors.isMissing(e) => Vector.empty }
  }

  /**
   * Returns the files below a directory. Hadoop's file systems for object stores override `listFiles`, and list the
   * files without listing each directory.
   */
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
      throw StorageFailed.at("make the directory", path, "The storage refused to create the directory")
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

  /**
   * Moves a directory. Checks first that the target does not exist, because Hadoop would move the directory into an
   * existing target directory.
   */
  def renameDirectory(from: String, to: String): Unit = {
    val (source, target) = (pathOf(from), pathOf(to))
    val fs = fileSystem(source)
    if (!mayDelete(fs)) throw Unsupported(
      s"moving the directory $from with s3.delete-enabled=false",
      "S3 moves files by copying and deleting them. Set s3.delete-enabled to true, or use a catalog that renames " +
        "tables without moving files"
    )
    if (info(to).isDefined) throw StorageFailed.at("move the directory", from, s"$to exists already")
    Option(target.getParent).foreach(parent => fs.mkdirs(parent))
    if (!fs.rename(source, target)) {
      throw StorageFailed.at("move the directory", from, s"The storage refused to rename it to $to")
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
   * Returns the S3 operations of a file system; `None` if the storage is not S3, or if the file system class for S3 is
   * not S3A.
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
   * Creates a file exclusively on the local file system. This method is used if the class that is configured for the
   * scheme `file` is not Hadoop's own class. The configured class writes a temporary file. Then a hard link to the
   * temporary file is created under the name of the file, which fails if the name exists.
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
      // If the target exists, another writer has created it first. If it does not exist, the storage has failed.
      val targetExists = deleteOnFailure(fs, temporary)(fs.exists(file))
      StorageErrors.quietly(fs.delete(temporary, false))
      if (!targetExists) throw StorageFailed.at("create", path, s"The storage refused to rename $temporary to $path")
      false
    }
  }

  /**
   * Returns whether a rename took place, after the call failed and its outcome is unknown. If the temporary file can
   * still be deleted, it was not renamed, and it will not be renamed later. If the temporary file no longer exists, the
   * rename took place, because no other operation moves the file.
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
   * Renames a file through a `FileContext`, whose rename operation replaces the target. If the scheme has no
   * `FileContext`, deletes the target first.
   */
  private def rename(fs: FileSystem, temporary: Path, file: Path): Unit =
    try FileContext.getFileContext(fs.getUri, configuration).rename(temporary, file, Options.Rename.OVERWRITE)
    catch {
      case _: UnsupportedFileSystemException =>
        fs.delete(file, false)
        if (!fs.rename(temporary, file)) {
          throw StorageFailed.at("replace", file.toString, s"The storage refused to rename $temporary to $file")
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
   * Schemes for which renaming a file is atomic, and fails if the target exists. These are the schemes of HDFS and of
   * object stores with real directories. The schemes `s3a` (see [[S3Objects]]), `gs`, `wasb` and `oss` are not
   * included, because their rename is a copy followed by a delete.
   */
  private val ExclusiveRename = Set("hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs", "abfs", "abfss")

  private def schemeOf(fs: FileSystem): String = Option(fs.getUri.getScheme).getOrElse(LocalScheme)

  private def localOf(path: Path): LocalPath = Paths.get(path.toUri.getPath)
}
