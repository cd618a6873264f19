package iceberglite.data.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.BlockMetaData
import org.apache.parquet.io.{ColumnIOFactory, InputFile, MessageColumnIO, RecordReader}

import iceberglite.data.{DataSource, FileFaults, Record}
import iceberglite.parquet.ParquetEncryption
import iceberglite.spec.IcebergError
import iceberglite.spec.types.Type.StructType

/**
 * Reads the records of a Parquet file, one row group after the other.
 *
 * @param file the opened file
 */
final private[parquet] class ParquetRecords(source: DataSource, expected: StructType, file: InputFile)
    extends ParquetMetadataFiles.MetadataRecords {
  import ParquetRecords._

  private val codecs = new GuardedPages.Codecs(source.path)
  private val reader: ParquetFileReader = openReader()
  private val plan: FileReadPlan = closingOnFailure {
    val plan = FileReadPlan.of(reader.getFileMetaData.getSchema, source, expected)
    reader.setRequestedSchema(plan.requested)
    plan
  }
  private val columns: MessageColumnIO = new ColumnIOFactory().getColumnIO(plan.requested)
  private val groups: Iterator[BlockMetaData] = reader.getRowGroups.asScala.iterator

  private var records: RecordReader[Record] = _
  private var rowsLeft = 0L
  private var position = 0L

  override def keyValues: Map[String, String] = reader.getFileMetaData.getKeyValueMetaData.asScala.toMap

  override def hasNext: Boolean = {
    if (rowsLeft == 0) convertErrors(nextGroup())
    rowsLeft > 0
  }

  override def next(): Record = {
    if (!hasNext) throw new NoSuchElementException(s"${source.path} has only $position rows")
    val record = convertErrors(records.read())
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

  private def nextGroup(): Unit = while (rowsLeft == 0 && groups.hasNext) {
    val group = groups.next()
    GuardedPages.check(group, file.getLength)
    // Some writers produce empty row groups, which Parquet's reader rejects.
    if (group.getRowCount == 0) reader.skipNextRowGroup()
    else {
      val pages = GuardedPages.of(reader.readNextRowGroup())
      records = columns.getRecordReader(pages, plan.records)
      rowsLeft = pages.getRowCount
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

  private def openReader(): ParquetFileReader = convertErrors {
    try ParquetFileReader.open(file, options)
    catch {
      case e: Throwable =>
        codecs.release()
        throw e
    }
  }

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
