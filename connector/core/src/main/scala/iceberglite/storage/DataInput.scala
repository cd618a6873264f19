package iceberglite.storage

import java.io.ByteArrayInputStream
import java.nio.channels.{Channels, FileChannel}
import java.nio.file.StandardOpenOption.READ
import java.nio.file.{Path => LocalPath}

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import iceberglite.storage.StorageErrors.wrapReadErrors

/** Opens data files on any storage for reading. [[DataOutput]] creates data files. */
object DataInput {

  /** Returns a file to read. @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist */
  def of(io: FileIO, path: String): InputFile = wrapReadErrors(path) {
    io match {
      case table: EncryptedTableIO => table.reject(path)
      case hadoop: HadoopFileIO => hadoop.local(path)
          .fold[InputFile](HadoopInputFile.fromPath(new Path(path), hadoop.configuration))(new LocalInput(_))
      case encrypted: EncryptedFileIO => encrypted.input(path)
      case other => new WholeInput(other.read(path))
    }
  }

  /**
   * Returns a file whose content is read by one request and kept in memory.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file does not exist, or exceeds the limits
   */
  private[iceberglite] def whole(io: FileIO, path: String, bounds: ReadBounds): InputFile =
    wrapReadErrors(path)(new WholeInput(io.read(path, bounds)))

  final private class LocalInput(path: LocalPath) extends InputFile {
    override val getLength: Long = LocalFiles.requireRegular(path).size

    override def newStream(): SeekableInputStream = {
      val channel = FileChannel.open(path, READ)
      new DelegatingSeekableInputStream(Channels.newInputStream(channel)) {
        override def getPos: Long = channel.position
        override def seek(position: Long): Unit = {
          channel.position(position)
          ()
        }
      }
    }
  }

  /** A file whose whole content is in memory. */
  final private class WholeInput(bytes: Array[Byte]) extends InputFile {
    override def getLength: Long = bytes.length.toLong

    override def newStream(): SeekableInputStream = {
      val stream = new SeekableBytes(bytes)
      new DelegatingSeekableInputStream(stream) {
        override def getPos: Long = stream.position
        override def seek(position: Long): Unit = stream.seek(position)
      }
    }
  }

  final private class SeekableBytes(bytes: Array[Byte]) extends ByteArrayInputStream(bytes) {
    def position: Long = pos.toLong
    def seek(position: Long): Unit = pos = math.min(position, count.toLong).toInt
  }
}
