package iceberglite.storage

import java.io.{IOException, InputStream}
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardCopyOption.{ATOMIC_MOVE, REPLACE_EXISTING}
import java.nio.file.StandardOpenOption.{CREATE_NEW, READ, WRITE}
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.{DirectoryNotEmptyException, FileAlreadyExistsException, FileVisitResult, Files}
import java.nio.file.{NoSuchFileException, Path, SimpleFileVisitor}
import java.util.UUID

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import iceberglite.spec.IcebergError.Unsupported

/**
 * Accesses local files with `java.nio`. Hadoop's local file system is not used, because it forks a `chmod` and writes a
 * checksum file for each file, and because neither its create operation nor its rename operation is exclusive.
 */
private[storage] object LocalFiles {

  /** Maximum number of retries to delete a directory while other processes still create files in the directory. */
  private val MaxAttempts = 10

  /** Returns the URI of a local file, in the same form as in Hadoop's directory listings. */
  def uri(path: Path): String = "file:" + path.toAbsolutePath.normalize

  def info(path: Path): Option[FileInfo] =
    try Some(info(path, Files.readAttributes(path, classOf[BasicFileAttributes])))
    catch { case NonFatal(e) if StorageErrors.isMissing(e) => None }

  private def info(path: Path, attributes: BasicFileAttributes): FileInfo =
    FileInfo(uri(path), attributes.size, attributes.lastModifiedTime.toMillis, attributes.isDirectory)

  /**
   * Rejects special files. Reading from a named pipe would block until a writer opens the pipe, and reading from a
   * device may never end.
   *
   * @throws IOException if the path is neither a file nor a directory
   */
  def requireRegular(path: Path): BasicFileAttributes = {
    val attributes = Files.readAttributes(path, classOf[BasicFileAttributes])
    if (attributes.isOther) throw new IOException("The path is a device, a pipe or a socket, and not a file")
    attributes
  }

  def open(path: Path): InputStream = {
    requireRegular(path)
    Files.newInputStream(path)
  }

  /** Reads a whole file within size limits. @param name the path as in the metadata, for messages */
  def read(name: String, path: Path, bounds: ReadBounds): Array[Byte] = {
    bounds.checkLength(name, requireRegular(path).size)
    val in = Files.newInputStream(path)
    try bounds.read(name, in)
    finally in.close()
  }

  /** Reads a range of a file. Returns fewer bytes if the file ends before the end of the range. */
  def readRange(path: Path, offset: Long, length: Int): Array[Byte] = {
    requireRegular(path)
    val channel = FileChannel.open(path, READ)
    try {
      val available = math.max(0L, math.min(length.toLong, channel.size - offset)).toInt
      val buffer = ByteBuffer.allocate(available)
      while (buffer.hasRemaining && channel.read(buffer, offset + buffer.position()) >= 0) {}
      if (buffer.hasRemaining) java.util.Arrays.copyOf(buffer.array, buffer.position()) else buffer.array
    } finally channel.close()
  }

  /**
   * Writes a new file. If the write fails, the incomplete file is removed.
   *
   * @param sync whether to wait until the file is on the device
   */
  def write(path: Path, contents: Array[Byte], sync: Boolean): Unit = writeNew(path, contents, sync)

  /**
   * Creates a file exclusively. The content is written to a temporary file, and a hard link gives the file its name.
   * Creating a hard link fails if the name exists, whereas a rename would replace the existing file.
   *
   * @param sync whether the content is synced to the device before the name is created, and the name is synced before
   *   this method returns
   */
  def createExclusively(path: Path, contents: Array[Byte], sync: Boolean): Boolean = {
    val temporary = temporarySibling(path)
    writeNew(temporary, contents, sync)
    val linked =
      try link(temporary, path)
      finally StorageErrors.quietly(Files.deleteIfExists(temporary))
    if (linked && sync) StorageErrors.quietly(forceDirectory(path))
    linked
  }

  /** Creates a hard link `path` to a written file. Returns false if `path` exists. */
  def link(written: Path, path: Path): Boolean =
    try {
      Files.createLink(path, written)
      // If an older file with the same name has left a checksum file, Hadoop would report the new file as damaged.
      StorageErrors.quietly(Files.deleteIfExists(checksumOf(path)))
      true
    } catch {
      case _: FileAlreadyExistsException => false
      case _: UnsupportedOperationException =>
        throw Unsupported(
          s"committing to $path, whose file system has no hard links",
          "Move the warehouse to a file system with hard links, or use a JDBC catalog"
        )
    }

  /** Replaces a file atomically. Readers see either the old or the new content, and the file always exists. */
  def replace(path: Path, contents: Array[Byte]): Unit = {
    val temporary = temporarySibling(path)
    writeNew(temporary, contents, sync = false)
    moveOver(temporary, path)
  }

  /** Replaces a file atomically if its directory exists, and otherwise does nothing. */
  def replaceInDirectory(path: Path, contents: Array[Byte]): Unit =
    try {
      val temporary = temporarySibling(path)
      writeAll(temporary, FileChannel.open(temporary, CREATE_NEW, WRITE), contents, sync = false)
      moveOver(temporary, path)
    } catch { case _: NoSuchFileException => () }

  /** Renames a written file. If the new name exists, the existing file is replaced. */
  def moveOver(written: Path, path: Path): Unit =
    try {
      // Hadoop would check the new content against an old checksum file. The checksum file is therefore deleted before
      // the move.
      Files.deleteIfExists(checksumOf(path))
      Files.move(written, path, ATOMIC_MOVE, REPLACE_EXISTING)
      StorageErrors.quietly(Files.deleteIfExists(checksumOf(written)))
    } catch {
      case NonFatal(e) =>
        StorageErrors.quietly(delete(written))
        throw e
    }

  def delete(path: Path): Unit = {
    Files.deleteIfExists(path)
    StorageErrors.quietly(Files.deleteIfExists(checksumOf(path)))
  }

  /** Lists a directory. As in Hadoop's own listings, Hadoop's checksum files are omitted. */
  def list(directory: Path): Vector[FileInfo] =
    try {
      val children = Files.newDirectoryStream(directory)
      // A file may be deleted after the directory was listed and before `info` is called.
      try children.asScala.filterNot(isChecksum).flatMap(child => info(child)).toVector
      finally children.close()
    } catch { case NonFatal(e) if StorageErrors.isMissing(e) => Vector.empty }

  /**
   * Deletes a directory. Also deletes files that other processes create in the directory at the same time, such as a
   * delayed version hint.
   */
  def deleteDirectory(directory: Path): Unit = {
    @tailrec
    def deleteTree(attemptsLeft: Int): Unit = {
      val isDeleted =
        try {
          Files.walkFileTree(directory, Deletion)
          true
        } catch {
          case _: NoSuchFileException => true
          case _: DirectoryNotEmptyException if attemptsLeft > 0 => false
        }
      if (!isDeleted) deleteTree(attemptsLeft - 1)
    }
    deleteTree(MaxAttempts)
  }

  /** Moves a directory. The move fails if the target exists, because the option `REPLACE_EXISTING` is not set. */
  def renameDirectory(from: Path, to: Path): Unit = {
    parentOf(to).foreach(parent => Files.createDirectories(parent))
    Files.move(from, to)
  }

  /**
   * Returns a name for a temporary file. The file is hidden, and no pattern for the names of metadata files matches the
   * name.
   */
  def temporaryName(name: String): String = s".$name.${UUID.randomUUID}.tmp"

  def checksumOf(path: Path): Path = path.resolveSibling(s".${path.getFileName}.crc")

  private def temporarySibling(path: Path): Path = path.resolveSibling(temporaryName(path.getFileName.toString))

  private def isChecksum(path: Path): Boolean = {
    val name = path.getFileName.toString
    name.startsWith(".") && name.endsWith(".crc")
  }

  private def parentOf(path: Path): Option[Path] = Option(path.toAbsolutePath.getParent)

  private def writeNew(path: Path, contents: Array[Byte], sync: Boolean): Unit =
    writeAll(path, openNew(path), contents, sync)

  private def writeAll(path: Path, channel: FileChannel, contents: Array[Byte], sync: Boolean): Unit =
    try {
      val buffer = ByteBuffer.wrap(contents)
      while (buffer.hasRemaining) channel.write(buffer)
      if (sync) channel.force(false)
      channel.close()
    } catch {
      case e: Throwable =>
        StorageErrors.quietly(channel.close())
        StorageErrors.quietly(Files.deleteIfExists(path))
        throw e
    }

  /** Opens a new file. The directory nearly always exists, so it is created only if opening the file fails. */
  private def openNew(path: Path): FileChannel =
    try FileChannel.open(path, CREATE_NEW, WRITE)
    catch {
      case _: NoSuchFileException =>
        parentOf(path).foreach(parent => Files.createDirectories(parent))
        FileChannel.open(path, CREATE_NEW, WRITE)
    }

  /**
   * Syncs the directory of a file, which makes the file's name durable. The caller ignores errors, because some
   * operating systems cannot open a directory. On such a system, the name may not be durable.
   */
  private def forceDirectory(path: Path): Unit = parentOf(path).foreach { parent =>
    val channel = FileChannel.open(parent, READ)
    try channel.force(true)
    finally channel.close()
  }

  /** A file visitor that deletes all files and directories that it visits. */
  private object Deletion extends SimpleFileVisitor[Path] {
    override def visitFile(file: Path, attributes: BasicFileAttributes): FileVisitResult = {
      Files.deleteIfExists(file)
      FileVisitResult.CONTINUE
    }

    override def postVisitDirectory(directory: Path, e: IOException): FileVisitResult =
      Option(e) match {
        case Some(failure) => throw failure
        case None =>
          Files.deleteIfExists(directory)
          FileVisitResult.CONTINUE
      }
  }
}
