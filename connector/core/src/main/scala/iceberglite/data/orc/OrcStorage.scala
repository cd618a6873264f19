package iceberglite.data.orc

import java.io.{InputStream, OutputStream}
import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.util.Progressable
import org.apache.parquet.io.{InputFile, PositionOutputStream, SeekableInputStream}

import iceberglite.storage.{DataInput, DataOutput, FileIO, HadoopFileIO}

/**
 * A Hadoop file system that contains a single file of a [[FileIO]]. The ORC library requires a Hadoop file system, but
 * only creates the file, opens it, or gets its length.
 */
final private[orc] class OrcStorage private (path: String, input: => InputFile, output: Long => PositionOutputStream)
    extends FileSystem {
  private lazy val file = input
  private var written = Option.empty[PositionOutputStream]

  /** Size in bytes of the file that is read. */
  def size: Long = file.getLength

  /** Bytes written so far. */
  def position: Long = written.fold(0L)(_.getPos)

  def openRaw(): SeekableInputStream = file.newStream()

  /** Closes the file that is being written, even if the file is not complete. */
  def endOutput(): Unit = written.foreach(_.close())

  override def open(f: Path, bufferSize: Int): FSDataInputStream =
    new FSDataInputStream(new OrcStorage.Seeking(path, openRaw()))

  override def getFileStatus(f: Path): FileStatus = new FileStatus(size, false, 1, size, 0L, f)

  override def create(
      f: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    val stream = output(blockSize)
    written = Some(stream)
    new FSDataOutputStream(stream: OutputStream, OrcStorage.NoStatistics)
  }

  override def getUri: URI = URI.create("iceberg-lite:///")
  override def getWorkingDirectory: Path = new Path("/")
  override def setWorkingDirectory(directory: Path): Unit = ()
  override def append(f: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream = refuse("append to")
  override def rename(from: Path, to: Path): Boolean = refuse("rename")
  override def delete(f: Path, recursive: Boolean): Boolean = refuse("delete")
  override def listStatus(f: Path): Array[FileStatus] = refuse("list")
  override def mkdirs(f: Path, permission: FsPermission): Boolean = refuse("make directories for")

  private def refuse(operation: String): Nothing =
    throw new UnsupportedOperationException(s"The ORC library does not $operation $path")
}

private[orc] object OrcStorage {

  /** The object with which Hadoop counts bytes; null disables the counting. */
  private val NoStatistics: FileSystem.Statistics = null

  def toRead(io: FileIO, path: String): OrcStorage =
    configured(io, new OrcStorage(path, DataInput.of(io, path), _ => refuse(path)))

  def toWrite(io: FileIO, path: String): OrcStorage =
    configured(io, new OrcStorage(path, refuse(path), DataOutput.of(io, path).create(_)))

  private def refuse(path: String): Nothing =
    throw new UnsupportedOperationException(s"$path is open for reading or for writing, not for both")

  private def configured(io: FileIO, storage: OrcStorage): OrcStorage = {
    storage.setConf(configuration(io))
    storage
  }

  def configuration(io: FileIO): Configuration = io.unguarded match {
    case hadoop: HadoopFileIO => hadoop.configuration
    case _ => new Configuration(false)
  }

  /** A stream with positioned reads, as the library requires. It is not thread-safe. */
  final private class Seeking(path: String, stream: SeekableInputStream)
      extends InputStream
      with Seekable
      with PositionedReadable {
    override def read(): Int = stream.read()
    override def read(bytes: Array[Byte], offset: Int, length: Int): Int = stream.read(bytes, offset, length)
    override def seek(position: Long): Unit =
      if (position < 0) throw new java.io.EOFException(s"Cannot seek to the negative position $position in $path")
      else stream.seek(position)
    override def getPos: Long = stream.getPos
    override def seekToNewSource(target: Long): Boolean = false
    override def close(): Unit = stream.close()

    override def read(position: Long, bytes: Array[Byte], offset: Int, length: Int): Int = {
      seek(position)
      stream.read(bytes, offset, length)
    }
    override def readFully(position: Long, bytes: Array[Byte], offset: Int, length: Int): Unit = {
      seek(position)
      stream.readFully(bytes, offset, length)
    }
    override def readFully(position: Long, bytes: Array[Byte]): Unit = readFully(position, bytes, 0, bytes.length)
  }
}
