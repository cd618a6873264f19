package iceberglite.io

import java.io.{FileNotFoundException, InputStream}
import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileContext, FileStatus, FileSystem, Options, Path}
import org.apache.hadoop.fs.UnsupportedFileSystemException

import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidArgument, StorageFailed, Unsupported}

/** The operations of [[FileIO]] by whatever class Hadoop's configuration names for a path's scheme. */
final private[io] class HadoopFiles(configuration: Configuration) {
  import HadoopFiles._

  def open(path: String): InputStream = {
    val file = pathOf(path)
    opened(system(file), file)
  }

  /** A pipe would keep the caller waiting. */
  private def opened(fs: FileSystem, file: Path): FSDataInputStream = {
    if (schemeOf(fs) == LocalScheme && Files.exists(localOf(file))) LocalFiles.requireRegular(localOf(file))
    fs.open(file)
  }

  /** Reads to the end without asking for the length, which would be one more round trip. */
  def read(path: String, bounds: ReadBounds): Array[Byte] = {
    val file = pathOf(path)
    val fs = system(file)
    onS3(fs).map(_.read(file, bounds)).getOrElse {
      val in = opened(fs, file)
      try bounds.read(path, in)
      finally in.close()
    }
  }

  /** @return fewer bytes where the file has no more */
  def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
    val file = pathOf(path)
    val in = opened(system(file), file)
    try {
      in.seek(offset)
      in.readNBytes(length)
    } finally in.close()
  }

  def info(path: String): Option[FileInfo] = {
    val file = pathOf(path)
    try Some(info(system(file).getFileStatus(file)))
    catch { case NonFatal(e) if StorageErrors.isMissing(e) => None }
  }

  def write(path: String, contents: Array[Byte]): Unit = {
    val file = pathOf(path)
    val fs = system(file)
    onS3(fs).map(_.write(file, contents)).getOrElse(write(fs, file, contents))
  }

  def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    val file = pathOf(path)
    val fs = system(file)
    schemeOf(fs) match {
      case LocalScheme => linkWritten(fs, file, contents)
      case scheme if ExclusiveRename(scheme) => renameWritten(fs, path, contents)
      case scheme => onS3(fs).map(_.createExclusively(file, contents))
          .getOrElse(throw notExclusive(path, s"$scheme by ${fs.getClass.getName}"))
    }
  }

  private def notExclusive(path: String, storage: String): Unsupported = Unsupported(
    s"committing to $path: no file is created exclusively on $storage, so that commits could be lost",
    "Use a JDBC, REST or Hive catalog for tables there"
  )

  /** For files where losing the race between two writers does no harm. */
  def replace(path: String, contents: Array[Byte]): Unit = {
    val file = pathOf(path)
    val fs = system(file)
    schemeOf(fs) match {
      case LocalScheme => LocalFiles.moveOver(localOf(writeTemporary(fs, file, contents)), localOf(file))
      case scheme if ExclusiveRename(scheme) =>
        val temporary = writeTemporary(fs, file, contents)
        orDelete(fs, temporary)(rename(fs, temporary, file))
      // Object stores show a file when it is closed, and the old one until then.
      case _ => onS3(fs).map(_.write(file, contents)).getOrElse(write(fs, file, contents, overwrite = true))
    }
  }

  def delete(path: String): Unit = {
    val file = pathOf(path)
    val fs = system(file)
    if (mayDelete(fs)) fs.delete(file, false)
    ()
  }

  /** A setting of S3 keeps all objects, as for a bucket whose life-cycle rules remove them. */
  private def mayDelete(fs: FileSystem): Boolean =
    !StorageSettings.S3(schemeOf(fs)) || configuration.getBoolean(S3Settings.HadoopDeleteEnabled, true)

  def list(directory: String): Vector[FileInfo] = {
    val path = pathOf(directory)
    try system(path).listStatus(path).iterator.map(info).toVector
    catch { case e: FileNotFoundException if StorageErrors.isMissing(e) => Vector.empty }
  }

  def makeDirectory(path: String): Unit = {
    val directory = pathOf(path)
    if (!system(directory).mkdirs(directory)) throw StorageFailed("make the directory", path, "The storage refused it")
  }

  def deleteDirectory(path: String): Unit = deleteDirectory(path, andContents = true)

  /** Hadoop's file systems refuse to delete a directory that is not empty without its contents. */
  def deleteEmptyDirectory(path: String): Unit = deleteDirectory(path, andContents = false)

  private def deleteDirectory(path: String, andContents: Boolean): Unit = {
    val directory = pathOf(path)
    val fs = system(directory)
    if (mayDelete(fs)) fs.delete(directory, andContents)
    ()
  }

  /** Hadoop moves a directory INTO an existing one of the target's name: that is looked for before. */
  def renameDirectory(from: String, to: String): Unit = {
    val (source, target) = (pathOf(from), pathOf(to))
    val fs = system(source)
    if (!mayDelete(fs)) throw Unsupported(
      s"moving the directory $from with s3.delete-enabled=false",
      "S3 moves files by copying and deleting them. Set it to true, or use a catalog whose tables have names of their own"
    )
    if (info(to).isDefined) throw StorageFailed("move the directory", from, s"$to exists already")
    Option(target.getParent).foreach(parent => fs.mkdirs(parent))
    if (!fs.rename(source, target)) {
      throw StorageFailed("move the directory", from, s"The storage refused to name it $to")
    }
  }

  /**
   * The top of a bucket may be named without a slash at its end. Hadoop would log a path with a password in it before
   * it refuses it.
   */
  private def pathOf(path: String): Path = {
    val parsed = new Path(path)
    if (Option(parsed.toUri.getAuthority).exists(_.matches(".*:.*@.*"))) {
      throw InvalidArgument("path", path, "It must hold no password; set the keys in the catalog's configuration")
    }
    if (parsed.toUri.getPath.isEmpty) new Path(path + "/") else parsed
  }

  /** `None` on all other storages, and where somebody else's class reads S3. */
  private def onS3(fs: FileSystem): Option[S3Objects] = {
    val scheme = schemeOf(fs)
    if (StorageSettings.S3(scheme)) FileSystemJars.needed(scheme)(S3Objects.of(fs)) else None
  }

  private def system(path: Path): FileSystem = {
    val scheme = Option(path.toUri.getScheme).getOrElse(FileSystem.getDefaultUri(configuration).getScheme)
    FileSystemJars.needed(scheme)(path.getFileSystem(configuration))
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
        quietly(out.close())
        quietly(fs.delete(file, false))
        throw e
    }
  }

  private def writeTemporary(fs: FileSystem, file: Path, contents: Array[Byte]): Path = {
    val temporary = new Path(file.getParent, LocalFiles.temporaryName(file.getName))
    write(fs, temporary, contents)
    temporary
  }

  /** A class for `file` that is not Hadoop's own writes; the exclusive step is still the local file system's. */
  private def linkWritten(fs: FileSystem, file: Path, contents: Array[Byte]): Boolean = {
    val temporary = writeTemporary(fs, file, contents)
    val written = localOf(temporary)
    if (!Files.exists(written)) {
      quietly(fs.delete(temporary, false))
      throw Unsupported(
        s"committing to $file: ${fs.getClass.getName} keeps its files elsewhere than at their paths on this machine",
        "Use a JDBC or REST catalog with it"
      )
    }
    try LocalFiles.link(written, localOf(file))
    finally quietly(LocalFiles.delete(written))
  }

  private def renameWritten(fs: FileSystem, path: String, contents: Array[Byte]): Boolean = {
    val file = pathOf(path)
    val temporary = writeTemporary(fs, file, contents)
    val renamed =
      try fs.rename(temporary, file)
      catch { case NonFatal(e) => wasRenamed(fs, temporary, path, e) }
    if (renamed) true
    else {
      // Only a name that is taken is a lost race; every other refusal is a failure of the storage.
      val taken = orDelete(fs, temporary)(fs.exists(file))
      quietly(fs.delete(temporary, false))
      if (!taken) throw StorageFailed("create", path, s"The storage refused to rename $temporary to it")
      false
    }
  }

  /**
   * After a rename of unknown outcome: who can still delete the temporary file knows that it was not renamed, and
   * that it will not be; where it is gone, only this very rename can have taken it.
   */
  private def wasRenamed(fs: FileSystem, temporary: Path, path: String, failure: Throwable): Boolean = {
    val deleted =
      try fs.delete(temporary, false)
      catch {
        case NonFatal(e) =>
          failure.addSuppressed(e)
          val reason = s"renaming $temporary to it failed (${failure.getMessage})"
          throw CommitStateUnknown(s"the table of $path", path, reason, Some(failure))
      }
    if (deleted) throw StorageErrors.failed("create", path, failure)
    true
  }

  /** By a file context, whose rename replaces; where a scheme has none, by a plain overwrite. */
  private def rename(fs: FileSystem, temporary: Path, file: Path): Unit =
    try FileContext.getFileContext(fs.getUri, configuration).rename(temporary, file, Options.Rename.OVERWRITE)
    catch {
      case _: UnsupportedFileSystemException =>
        fs.delete(file, false)
        if (!fs.rename(temporary, file)) throw StorageFailed("replace", file.toString, "The storage refused the rename")
    }

  private def orDelete[A](fs: FileSystem, temporary: Path)(body: => A): A =
    try body
    catch {
      case NonFatal(e) =>
        quietly(fs.delete(temporary, false))
        throw e
    }
}

private[io] object HadoopFiles {
  private val LocalScheme = "file"

  /**
   * Schemes whose rename of a file is atomic and fails where the target is there: name nodes, and stores with real
   * directories. Not in it: `s3a` (see [[S3Objects]]), `gs`, `wasb`, `oss`, whose rename is a copy and a delete.
   */
  private val ExclusiveRename = Set("hdfs", "webhdfs", "swebhdfs", "viewfs", "ofs", "abfs", "abfss")

  private def schemeOf(fs: FileSystem): String = Option(fs.getUri.getScheme).getOrElse(LocalScheme)

  private def localOf(path: Path): LocalPath = Paths.get(path.toUri.getPath)

  private def quietly(tidying: => Any): Unit =
    try {
      tidying
      ()
    } catch { case NonFatal(_) => () }
}
