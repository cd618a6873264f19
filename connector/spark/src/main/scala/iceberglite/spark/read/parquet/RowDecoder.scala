package iceberglite.spark.read.parquet

import scala.annotation.nowarn

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.{ColumnIOFactory, MessageColumnIO, RecordReader}
import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.data.parquet.GuardedPages

/**
 * Decodes row by row with Parquet's own reader, which supports encodings that Spark's reader does not support. The
 * vectors have the same content as the vectors of Spark's reader.
 *
 * @param capacity maximum number of rows in a batch
 */
final private[parquet] class RowDecoder(reader: ParquetFileReader, projection: FileProjection, capacity: Int)
    extends ColumnDecoder {
  private val vectors: Array[WritableColumnVector] =
    OnHeapColumnVector.allocateColumns(capacity, projection.readSchema).toArray
  private val rows = new RecordVectors(projection.requested, vectors)
  private val columnIO: MessageColumnIO =
    new ColumnIOFactory(reader.getFileMetaData.getCreatedBy).getColumnIO(projection.requested)

  private var groupReader: RecordReader[Int] = _
  private var rowsLeft = 0L

  override val columns: ColumnarBatch = new ColumnarBatch(vectors.toArray[ColumnVector])

  override def next(): Boolean = {
    vectors.foreach(_.reset())
    rows.reset()
    if (rowsLeft == 0) nextGroup()
    val count = math.min(rowsLeft, capacity.toLong).toInt
    var row = 0
    while (row < count) {
      groupReader.read()
      row += 1
    }
    rowsLeft -= count
    columns.setNumRows(count)
    count > 0
  }

  private def nextGroup(): Unit = Option(reader.readNextRowGroup()).foreach { pages =>
    groupReader = columnIO.getRecordReader(GuardedPages.of(pages), rows)
    rowsLeft = pages.getRowCount
  }

  override def close(): Unit = {
    columns.close()
    reader.close()
  }
}

private[parquet] object RowDecoder {

  /**
   * Opens the file.
   *
   * @param footer the footer, with only the row groups to read
   * @return the decoder, and the footer with the row groups that the filter of the job does not skip
   */
  def open(
      path: Path,
      footer: ParquetMetadata,
      projection: FileProjection,
      job: ReadJob,
      capacity: Int
  ): (RowDecoder, ParquetMetadata) = {
    val reader = openReader(path, footer, job)
    try {
      reader.setRequestedSchema(projection.requested)
      val read = new ParquetMetadata(footer.getFileMetaData, reader.getRowGroups)
      (new RowDecoder(reader, projection, capacity), read)
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  /** Calls a deprecated constructor, because no other constructor accepts a footer that was already read. */
  @nowarn("cat=deprecation")
  private def openReader(path: Path, footer: ParquetMetadata, job: ReadJob): ParquetFileReader =
    new ParquetFileReader(job, path, footer)
}
