package iceberglite.storage

import java.io.{BufferedOutputStream, ByteArrayOutputStream, IOException, OutputStream}
import java.nio.channels.{Channels, FileChannel}
import java.nio.file.{Files, NoSuchFileException, Path => LocalPath}
import java.nio.file.StandardOpenOption.{CREATE_NEW, WRITE}

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.{OutputFile, PositionOutputStream}

import iceberglite.storage.StorageErrors.wrapErrors

/**
 * Creates new data files as streams. Local files bypass Hadoop under the same conditions as in [[HadoopFileIO]]. The
 * reason is that Hadoop's local file system forks a `chmod` and writes a checksum file for each file.
 */
object DataOutput {

  /**
   * Returns a new file to write. The file is complete when its stream is closed. Missing directories are created.
   */
  def of(io: FileIO, path: String): OutputFile = io match {
    case hadoop: HadoopFileIO =>
      hadoop.local(path).fold[OutputFile](new HadoopOutput(hadoop, path))(new LocalOutput(path, _, hadoop.syncs))
    case encrypted: EncryptedFileIO => encrypted.output(path)
    case table: EncryptedTableIO => table.output(path)
    case other => new WholeOutput(other, path)
  }

  /** A file that is created once and never overwritten. */
  abstract private class NewFile(path: String) extends OutputFile {
    protected def open(blockSizeHint: Long): PositionOutputStream

    final override def create(blockSizeHint: Long): PositionOutputStream =
      new NamedStream(path, wrapErrors("create", path)(open(blockSizeHint)))
    final override def createOrOverwrite(blockSizeHint: Long): PositionOutputStream = create(blockSizeHint)
    override def supportsBlockSize: Boolean = false
    override def defaultBlockSize: Long = 0
    override def getPath: String = path
  }

  final private class HadoopOutput(io: HadoopFileIO, path: String) extends NewFile(path) {
    private lazy val file = HadoopOutputFile.fromPath(new Path(path), io.configuration)

    override def supportsBlockSize: Boolean = file.supportsBlockSize
    override def defaultBlockSize: Long = file.defaultBlockSize
    override protected def open(blockSizeHint: Long): PositionOutputStream = file.create(blockSizeHint)
  }

  final private class LocalOutput(path: String, local: LocalPath, sync: Boolean) extends NewFile(path) {
    override protected def open(blockSizeHint: Long): PositionOutputStream = {
      val channel = openNew()
      new CountedStream(new BufferedOutputStream(Channels.newOutputStream(channel), LocalOutput.BufferSize)) {
        override def close(): Unit = {
          if (sync && channel.isOpen) {
            flush()
            channel.force(false)
          }
          super.close()
        }
      }
    }

    /** Opens the file. The directory nearly always exists, so it is created only if opening the file fails. */
    private def openNew(): FileChannel =
      try FileChannel.open(local, CREATE_NEW, WRITE)
      catch {
        case _: NoSuchFileException =>
          Files.createDirectories(local.toAbsolutePath.getParent)
          FileChannel.open(local, CREATE_NEW, WRITE)
      }
  }

  private object LocalOutput {
    val BufferSize: Int = 64 << 10
  }

  /**
   * A file on storage that can only write whole files. The content is collected in memory until the file is closed.
   */
  final private class WholeOutput(io: FileIO, path: String) extends NewFile(path) {
    override protected def open(blockSizeHint: Long): PositionOutputStream = {
      val bytes = new ByteArrayOutputStream
      new CountedStream(bytes) {
        private var written = false

        override def close(): Unit = if (!written) {
          written = true
          io.write(path, bytes.toByteArray)
        }
      }
    }
  }

  /**
   * A stream whose exceptions name the file. The exceptions of the storage, which the writer of a file format would
   * otherwise throw, may not contain the path.
   */
  final private class NamedStream(path: String, out: PositionOutputStream) extends PositionOutputStream {
    override def getPos: Long = out.getPos

    override def write(b: Int): Unit =
      try out.write(b)
      catch { case e: IOException => throw StorageErrors.storageFailed("write", path, e) }

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit =
      try out.write(bytes, offset, length)
      catch { case e: IOException => throw StorageErrors.storageFailed("write", path, e) }

    override def flush(): Unit = wrapErrors("write", path)(out.flush())

    override def close(): Unit = wrapErrors("close", path)(out.close())
  }

  private class CountedStream(out: OutputStream) extends PositionOutputStream {
    private var position = 0L

    override def getPos: Long = position

    override def write(b: Int): Unit = {
      out.write(b)
      position += 1
    }

    override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = {
      out.write(bytes, offset, length)
      position += length
    }

    override def flush(): Unit = out.flush()

    override def close(): Unit = out.close()
  }
}
