package iceberglite.storage

import java.io.InputStream
import java.nio.file.{Files, Path => LocalPath, Paths}

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileSystem

import iceberglite.encryption.KeyService
import iceberglite.storage.HadoopFileIO.localWrites
import iceberglite.storage.StorageErrors.{wrapErrors, wrapReadErrors}

/**
 * Accesses files through Hadoop's file systems. Local files bypass Hadoop if the configured class for the scheme `file`
 * is Hadoop's own class. If another class is configured, local files are read and written with this class.
 *
 * Paths are used as they are in metadata: `/wh/db/t`, `file:/wh/db/t` and `file:///wh/db/t` are the same directory, and
 * percent-encoded characters are not decoded.
 *
 * @param syncs whether the contents of local files, except version hints, are synced to the device when the files are
 *   complete. If true, the name of a metadata file that commits to a file-system catalog is synced too before the
 *   commit returns, so that a power failure loses no committed data. If false, the operating system decides when to
 *   sync, as in Hadoop's local file system
 */
final class HadoopFileIO(
    conf: SerializableConfiguration,
    override val mayCache: Boolean = true,
    override val cacheBounds: CacheBounds = CacheBounds.Default,
    private[iceberglite] val syncs: Boolean = false,
    @transient private val keys: Option[KeyService] = None
) extends FileIO {

  def this(configuration: Configuration) = this(new SerializableConfiguration(configuration))

  /** The Hadoop configuration for readers and writers of data files. */
  def configuration: Configuration = conf.value

  override def configured(properties: Map[String, String]): HadoopFileIO =
    if (properties.isEmpty) this
    else new HadoopFileIO(
      new SerializableConfiguration(StorageSettings.configuration(configuration, properties)),
      mayCache,
      cacheBounds,
      syncs,
      keyService
    )

  /** Absent after serialization, so that a task has no access to the service. */
  override def keyService: Option[KeyService] = Option(keys).flatten

  override def withKeyService(service: KeyService): HadoopFileIO =
    new HadoopFileIO(conf, mayCache, cacheBounds, syncs, Some(service))

  @transient private lazy val hadoop = new HadoopFiles(configuration)

  @transient private lazy val remoteWrites = new WriteBehind(replace)

  /** Whether `java.nio` may be used instead of the Hadoop file system for the scheme `file`. */
  @transient private lazy val bypassesHadoop: Boolean =
    Option(configuration.get("fs.file.impl")).forall(_ == "org.apache.hadoop.fs.LocalFileSystem")

  @transient private lazy val isDefaultLocal: Boolean = FileSystem.getDefaultUri(configuration).getScheme == "file"

  override def open(path: String): InputStream =
    wrapReadErrors(path)(local(path).fold[InputStream](hadoop.open(path))(LocalFiles.open))

  override def read(path: String): Array[Byte] = read(path, ReadBounds.Any)

  override private[iceberglite] def read(path: String, bounds: ReadBounds): Array[Byte] =
    pendingContents(path).getOrElse(
      wrapReadErrors(path)(local(path).fold(hadoop.read(path, bounds))(LocalFiles.read(path, _, bounds)))
    )

  override def readRange(path: String, offset: Long, length: Int): Array[Byte] = wrapReadErrors(path) {
    ReadBounds.checkRange(path, length)
    val bytes =
      local(path).fold(hadoop.readRange(path, offset, length))(LocalFiles.readRange(_, offset, length))
    FileIO.requireComplete(path, offset, length, bytes)
  }

  override def exists(path: String): Boolean = info(path).isDefined

  override def info(path: String): Option[FileInfo] =
    wrapErrors("look at", path)(local(path).fold(hadoop.info(path))(LocalFiles.info))

  override def write(path: String, contents: Array[Byte]): Unit =
    wrapErrors("write", path)(local(path).fold(hadoop.write(path, contents))(LocalFiles.write(_, contents, syncs)))

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = wrapErrors("create", path) {
    local(path).fold(hadoop.createExclusively(path, contents))(LocalFiles.createExclusively(_, contents, syncs))
  }

  override def replace(path: String, contents: Array[Byte]): Unit =
    wrapErrors("replace", path)(local(path).fold(hadoop.replace(path, contents))(LocalFiles.replace(_, contents)))

  override def replaceAsync(path: String, contents: Array[Byte]): Unit =
    local(path).fold(remoteWrites.put(path, contents))(p => localWrites.put(LocalFiles.uri(p), contents))

  /** Returns the content of a file that [[replaceAsync]] has not written yet. */
  private def pendingContents(path: String): Option[Array[Byte]] =
    local(path).fold(remoteWrites.contentsOf(path))(p => localWrites.contentsOf(LocalFiles.uri(p)))

  /** Discards the delayed writes of a file, or of the files in a directory. */
  private def discardWrites(path: String): Unit =
    local(path).fold(remoteWrites.discard(path))(p => localWrites.discard(LocalFiles.uri(p)))

  override def isRemote(path: String): Boolean = local(path).isEmpty

  override def delete(path: String): Unit = {
    discardWrites(path)
    wrapErrors("delete", path)(local(path).fold(hadoop.delete(path))(LocalFiles.delete))
  }

  override def deletionGroups(paths: Vector[String]): Vector[Vector[String]] = {
    val (locals, others) = paths.partition(local(_).isDefined)
    super.deletionGroups(locals) ++ hadoop.deletionGroups(others)
  }

  override def deleteAll(paths: Vector[String]): Vector[FailedDeletion] = {
    val (locals, others) = paths.partition(local(_).isDefined)
    others.foreach(discardWrites)
    super.deleteAll(locals) ++ hadoop.deletionGroups(others).flatMap(hadoop.deleteGroup)
  }

  override def list(directory: String): Vector[FileInfo] =
    wrapErrors("list", directory)(local(directory).fold(hadoop.list(directory))(LocalFiles.list))

  override def listBelow(directory: String): Iterator[FileInfo] =
    if (local(directory).isDefined) super.listBelow(directory)
    else {
      val files = wrapErrors("list", directory)(hadoop.listBelow(directory))
      new Iterator[FileInfo] {
        override def hasNext: Boolean = wrapErrors("list", directory)(files.hasNext)
        override def next(): FileInfo = wrapErrors("list", directory)(files.next())
      }
    }

  override def makeDirectory(path: String): Unit = wrapErrors("make the directory", path) {
    local(path).fold(hadoop.makeDirectory(path)) { p =>
      Files.createDirectories(p)
      ()
    }
  }

  override def deleteDirectory(path: String): Unit = {
    discardWrites(path)
    wrapErrors("delete the directory", path)(local(path).fold(hadoop.deleteDirectory(path))(LocalFiles.deleteDirectory))
  }

  override def deleteEmptyDirectory(path: String): Unit = wrapErrors("delete the empty directory", path) {
    local(path).fold(hadoop.deleteEmptyDirectory(path)) { directory =>
      Files.deleteIfExists(directory)
      ()
    }
  }

  override def renameDirectory(from: String, to: String): Unit = wrapErrors("move the directory", from) {
    discardWrites(from)
    (local(from), local(to)) match {
      case (Some(source), Some(target)) => LocalFiles.renameDirectory(source, target)
      case _ => hadoop.renameDirectory(from, to)
    }
  }

  override def defaultFileSystem: String = FileSystem.getDefaultUri(configuration).toString

  /** Resolves symbolic links on the local file system, even if local files do not bypass Hadoop. */
  override def realDirectory(directory: String): String =
    StoragePath.of(directory, defaultFileSystem).filter(_.store == StoragePath.LocalStore).fold(directory) { path =>
      try LocalFiles.uri(Paths.get(path.names.mkString("/", "/", "")).toRealPath())
      catch { case NonFatal(e) if StorageErrors.isMissing(e) => directory }
    }

  /** Returns the local path; `None` if the file must be accessed through Hadoop. */
  private[iceberglite] def local(path: String): Option[LocalPath] =
    if (!bypassesHadoop) None
    else if (path.startsWith(HadoopFileIO.LocalScheme)) {
      val rest = path.substring(HadoopFileIO.LocalScheme.length)
      val name = if (rest.startsWith("///")) rest.substring(2) else rest
      if (name.startsWith("/") && !name.startsWith("//")) Some(Paths.get(name)) else None
    } else if (isDefaultLocal && path.nonEmpty && !HadoopFileIO.hasScheme(path)) Some(Paths.get(path))
    else None
}

object HadoopFileIO {
  private val LocalScheme = "file:"

  /**
   * Delayed writes of local files by URI. All catalogs of this JVM share them: otherwise, the delayed write of one
   * session could create a file in a directory that another session is deleting.
   */
  private val localWrites = new WriteBehind((uri, contents) => {
    val path = uri.substring(LocalScheme.length)
    wrapErrors("replace", path)(LocalFiles.replaceInDirectory(Paths.get(path), contents))
  })

  /** Returns whether a path has a scheme. As in Hadoop, a path has a scheme if a colon comes before the first slash. */
  private def hasScheme(path: String): Boolean = {
    val colon = path.indexOf(':')
    val slash = path.indexOf('/')
    colon >= 0 && (slash < 0 || colon < slash)
  }
}
