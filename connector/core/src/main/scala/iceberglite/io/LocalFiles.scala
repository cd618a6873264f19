package iceberglite.io

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
 * Files of this machine by `java.nio`: Hadoop's local file system forks a `chmod` and writes a checksum file for each
 * file, and neither its create nor its rename is exclusive.
 */
private[io] object LocalFiles {

  /** How often a directory is emptied that others still put files into. */
  private val Walks = 10

  /** As Hadoop names the file system's root in a listing. */
  def uri(path: Path): String = "file:" + path.toAbsolutePath.normalize

  def info(path: Path): Option[FileInfo] =
    try Some(info(path, Files.readAttributes(path, classOf[BasicFileAttributes])))
    catch { case NonFatal(e) if StorageErrors.isMissing(e) => None }

  private def info(path: Path, attributes: BasicFileAttributes): FileInfo =
    FileInfo(uri(path), attributes.size, attributes.lastModifiedTime.toMillis, attributes.isDirectory)

  /**
   * Reading from a pipe would wait for a writer, and a device may have no end.
   *
   * @throws IOException it is neither a file nor a directory
   */
  def requireRegular(path: Path): BasicFileAttributes = {
    val attributes = Files.readAttributes(path, classOf[BasicFileAttributes])
    if (attributes.isOther) throw new IOException("It is a device, a pipe or a socket, and not a file")
    attributes
  }

  def open(path: Path): InputStream = {
    requireRegular(path)
    Files.newInputStream(path)
  }

  /** @param name the path as it is in metadata, for messages */
  def read(name: String, path: Path, bounds: ReadBounds): Array[Byte] = {
    bounds.checkLength(name, requireRegular(path).size)
    val in = Files.newInputStream(path)
    try bounds.read(name, in)
    finally in.close()
  }

  /** @return fewer bytes where the file has no more */
  def readRange(path: Path, offset: Long, length: Int): Array[Byte] = {
    requireRegular(path)
    val channel = FileChannel.open(path, READ)
    try {
      val there = math.max(0L, math.min(length.toLong, channel.size - offset)).toInt
      val buffer = ByteBuffer.allocate(there)
      while (buffer.hasRemaining && channel.read(buffer, offset + buffer.position()) >= 0) {}
      if (buffer.hasRemaining) java.util.Arrays.copyOf(buffer.array, buffer.position()) else buffer.array
    } finally channel.close()
  }

  /**
   * Writes a new file; what a failure leaves of it is removed.
   *
   * @param sync waits until the device has it
   */
  def write(path: Path, contents: Array[Byte], sync: Boolean): Unit = writeNew(path, contents, sync)

  /**
   * A hard link fails where the name is taken, which a rename does not.
   *
   * @param sync the device has the contents before they have the name, and the name on return
   */
  def createExclusively(path: Path, contents: Array[Byte], sync: Boolean): Boolean = {
    val temporary = temporaryBeside(path)
    writeNew(temporary, contents, sync)
    val linked =
      try link(temporary, path)
      finally quietly(Files.deleteIfExists(temporary))
    if (linked && sync) quietly(forceDirectory(path))
    linked
  }

  /** Gives a written file a second name. @return false where the name is taken */
  def link(written: Path, path: Path): Boolean =
    try {
      Files.createLink(path, written)
      // A checksum file that an older file of this name has left would make the new one look damaged.
      quietly(Files.deleteIfExists(checksumOf(path)))
      true
    } catch {
      case _: FileAlreadyExistsException => false
      case _: UnsupportedOperationException =>
        throw Unsupported(
          s"committing to $path, whose file system has no hard links",
          "Move the warehouse to one that has them, or use a JDBC catalog"
        )
    }

  /** Readers see the old or the new contents, never none. */
  def replace(path: Path, contents: Array[Byte]): Unit = {
    val temporary = temporaryBeside(path)
    writeNew(temporary, contents, sync = false)
    moveOver(temporary, path)
  }

  /** Renames a written file to a name that may be taken. */
  def moveOver(written: Path, path: Path): Unit =
    try {
      // First the checksums: between the two calls readers of Hadoop's kind see the old contents unchecked.
      Files.deleteIfExists(checksumOf(path))
      Files.move(written, path, ATOMIC_MOVE, REPLACE_EXISTING)
      quietly(Files.deleteIfExists(checksumOf(written)))
    } catch {
      case NonFatal(e) =>
        quietly(delete(written))
        throw e
    }

  def delete(path: Path): Unit = {
    Files.deleteIfExists(path)
    quietly(Files.deleteIfExists(checksumOf(path)))
  }

  /** Without Hadoop's checksum files, which its own listings leave out too. */
  def list(directory: Path): Vector[FileInfo] =
    try {
      val children = Files.newDirectoryStream(directory)
      // A child may go between the listing and the look at it.
      try children.asScala.filterNot(isChecksum).flatMap(child => info(child)).toVector
      finally children.close()
    } catch { case NonFatal(e) if StorageErrors.isMissing(e) => Vector.empty }

  /** Others may still put files into it, such as a late hint, which go too. */
  def deleteDirectory(directory: Path): Unit = {
    @tailrec
    def walk(again: Int): Unit = {
      val done =
        try {
          Files.walkFileTree(directory, Deletion)
          true
        } catch {
          case _: NoSuchFileException => true
          case _: DirectoryNotEmptyException if again > 0 => false
        }
      if (!done) walk(again - 1)
    }
    walk(Walks)
  }

  /** Without the option to replace, the move fails where the target is there. */
  def renameDirectory(from: Path, to: Path): Unit = {
    parentOf(to).foreach(parent => Files.createDirectories(parent))
    Files.move(from, to)
  }

  /** Hidden, and with a name that no pattern of a metadata file matches. */
  def temporaryName(name: String): String = s".$name.${UUID.randomUUID}.tmp"

  def checksumOf(path: Path): Path = path.resolveSibling(s".${path.getFileName}.crc")

  private def temporaryBeside(path: Path): Path = path.resolveSibling(temporaryName(path.getFileName.toString))

  private def isChecksum(path: Path): Boolean = {
    val name = path.getFileName.toString
    name.startsWith(".") && name.endsWith(".crc")
  }

  private def parentOf(path: Path): Option[Path] = Option(path.toAbsolutePath.getParent)

  private def writeNew(path: Path, contents: Array[Byte], sync: Boolean): Unit = {
    val channel = openNew(path)
    try {
      val buffer = ByteBuffer.wrap(contents)
      while (buffer.hasRemaining) channel.write(buffer)
      if (sync) channel.force(false)
      channel.close()
    } catch {
      case e: Throwable =>
        quietly(channel.close())
        quietly(Files.deleteIfExists(path))
        throw e
    }
  }

  /** The directory is there nearly always: it is made when the open fails, and not looked for before. */
  private def openNew(path: Path): FileChannel =
    try FileChannel.open(path, CREATE_NEW, WRITE)
    catch {
      case _: NoSuchFileException =>
        parentOf(path).foreach(parent => Files.createDirectories(parent))
        FileChannel.open(path, CREATE_NEW, WRITE)
    }

  /** A name is durable when its directory is; systems that cannot open a directory keep it anyway, or not. */
  private def forceDirectory(path: Path): Unit = parentOf(path).foreach { parent =>
    val channel = FileChannel.open(parent, READ)
    try channel.force(true)
    finally channel.close()
  }

  private def quietly(tidying: => Any): Unit =
    try {
      tidying
      ()
    } catch { case NonFatal(_) => () }

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
