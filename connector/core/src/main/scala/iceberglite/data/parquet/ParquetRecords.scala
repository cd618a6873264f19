package iceberglite.data.parquet

import java.io.Closeable

import scala.collection.JavaConverters._

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.FileMetaData
import org.apache.parquet.io.{ColumnIOFactory, InputFile, MessageColumnIO, RecordReader}

import iceberglite.data.{DataSource, FileFaults, Record}
import iceberglite.parquet.{ParquetEncryption, ParquetInput}
import iceberglite.spec.IcebergError
import iceberglite.spec.types.Type.StructType

/**
 * Reads the records of a Parquet file, one row group after the other.
 *
 * @param open opens the file
 */
final private[parquet] class ParquetRecords(source: DataSource, expected: StructType, open: => OpenParquet)
    extends ParquetMetadataFiles.MetadataRecords {
  import ParquetRecords._

  private val file: OpenParquet = convertErrors(open)
  private val plan: FileReadPlan =
    closingOnFailure(FileReadPlan.of(file.metadata.getSchema, source, expected))
  private val groups: Iterator[GroupRecords] = closingOnFailure(file.groups(plan))

  private var group: GroupRecords = _
  private var rowsLeft = 0L
  private var position = 0L

  override def keyValues: Map[String, String] = file.metadata.getKeyValueMetaData.asScala.toMap

  override def hasNext: Boolean = {
    if (rowsLeft == 0) convertErrors(nextGroup())
    rowsLeft > 0
  }

  override def next(): Record = {
    if (!hasNext) throw new NoSuchElementException(s"${source.path} has only $position rows")
    val record = convertErrors(group.read())
    val positions = plan.positions
    var i = 0
    while (i < positions.length) {
      record.values(positions(i)) = Long.box(position)
      i += 1
    }
    position += 1
    rowsLeft -= 1
    record
  }

  private def nextGroup(): Unit = if (groups.hasNext) {
    group = groups.next()
    rowsLeft = group.count
  }

  override def close(): Unit = file.close()

  private def closingOnFailure[A](body: => A): A =
    try convertErrors(body)
    catch {
      case e: Throwable =>
        close()
        throw e
    }

  /** Converts Parquet's exceptions for a damaged file to an error that names the file. */
  private def convertErrors[A](body: => A): A =
    try body
    catch { case e: Throwable => throw icebergError(e).getOrElse(FileFaults.unreadable(source.path, e)) }
}

private object ParquetRecords {
  private val MaxCauses = 10

  /**
   * Returns the `IcebergError` among the causes of an exception, because Parquet wraps the exceptions of converters.
   */
  private def icebergError(e: Throwable): Option[IcebergError] =
    Iterator.iterate(Option(e))(_.flatMap(c => Option(c.getCause))).take(MaxCauses).takeWhile(_.isDefined).flatten
      .collectFirst { case i: IcebergError => i }
}

/** An open Parquet file. */
private[parquet] trait OpenParquet extends Closeable {
  def metadata: FileMetaData

  /** Returns the row groups that have rows, in the order of the file. Must be called only once. */
  def groups(plan: FileReadPlan): Iterator[GroupRecords]
}

/** The rows of a row group. */
private[parquet] trait GroupRecords {
  def count: Long

  /** Returns the next row. Must be called at most [[count]] times. */
  def read(): Record
}

/** An open file whose row groups are read from storage one after the other. */
final private[parquet] class StreamedParquet(source: DataSource, file: InputFile) extends OpenParquet {
  private val codecs = new GuardedPages.Codecs(source.path)
  private val reader: ParquetFileReader =
    try ParquetFileReader.open(file, options)
    catch {
      case e: Throwable =>
        codecs.release()
        throw e
    }

  override def metadata: FileMetaData = reader.getFileMetaData

  override def groups(plan: FileReadPlan): Iterator[GroupRecords] = {
    reader.setRequestedSchema(plan.requested)
    val columns = new ColumnIOFactory().getColumnIO(plan.requested)
    reader.getRowGroups.asScala.iterator.flatMap { group =>
      GuardedPages.check(group, file.getLength)
      // Some writers produce empty row groups, which Parquet's reader rejects.
      if (group.getRowCount > 0) Some(rows(plan, columns))
      else {
        reader.skipNextRowGroup()
        None
      }
    }
  }

  private def rows(plan: FileReadPlan, columns: MessageColumnIO): GroupRecords = {
    val pages = GuardedPages.of(reader.readNextRowGroup())
    val records: RecordReader[Record] = columns.getRecordReader(pages, plan.records)
    new GroupRecords {
      override def count: Long = pages.getRowCount
      override def read(): Record = records.read()
    }
  }

  override def close(): Unit =
    try reader.close()
    finally codecs.release()

  /**
   * Returns read options with checksum verification, because a damaged delete file would silently restore deleted rows.
   */
  private def options: ParquetReadOptions =
    ParquetEncryption.withKey(ParquetReadOptions.builder(), source.key).withCodecFactory(codecs)
      .usePageChecksumVerification(true).build()
}

private[parquet] object StreamedParquet {

  /** Opens a file. @throws iceberglite.spec.IcebergError.UnreadableFile if it is not a Parquet file, or is damaged */
  def open(source: DataSource): StreamedParquet =
    new StreamedParquet(source, ParquetInput.of(source.io, source.path, source.key))
}
