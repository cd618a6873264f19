package iceberglite.spark.read.avro

import org.apache.spark.sql.execution.vectorized.{OnHeapColumnVector, WritableColumnVector}
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.avro.{AvroInput, AvroPart}
import iceberglite.data.{DataSource, FileFaults, Projection}
import iceberglite.data.avro.AvroRowIterator
import iceberglite.spark.read.deletes.LiveBatch
import iceberglite.spark.read.files.{FileBatches, FileTask}
import iceberglite.spark.read.formats.{BatchFormat, FileReadParameters}
import iceberglite.spark.read.vector.PositionsVector
import iceberglite.spec.file.FileFormat

/**
 * The batches of one split of an Avro file. The rows of the file are decoded one by one, and their values are appended
 * to vectors.
 *
 * @param vectors the vectors to which the values of the file are appended
 */
final private[read] class AvroBatches(
    path: String,
    rows: AvroRowIterator[ColumnVector, Unit],
    vectors: Array[WritableColumnVector],
    positions: PositionsVector,
    allRows: ColumnarBatch,
    liveBatch: Option[LiveBatch],
    capacity: Int
) extends FileBatches {
  override def batch: ColumnarBatch = liveBatch.fold(allRows)(_.batch)

  override def next(): Boolean = FileFaults.wrapReadErrors(path) {
    var hasRows = false
    var count = fill()
    while (!hasRows && count > 0) {
      allRows.setNumRows(count)
      hasRows = liveBatch.forall(_.select(count))
      if (!hasRows) count = fill()
    }
    hasRows
  }

  private def fill(): Int = {
    vectors.foreach(_.reset())
    var count = 0
    var bytes = 0L
    while (count < capacity && bytes < AvroBatches.MaxBytes && rows.hasNext) {
      if (count == 0) positions.first = rows.position
      val consumedBefore = rows.consumed
      rows.next()
      bytes += rows.consumed - consumedBefore
      count += 1
    }
    count
  }

  override def close(): Unit = {
    rows.close()
    vectors.foreach(_.close())
  }
}

private[read] object AvroBatches extends BatchFormat {

  /**
   * The number of encoded bytes, including list elements that take no bytes, after which a batch gets no more rows. It
   * is far below 2 GB, the capacity of a vector.
   */
  private val MaxBytes = 1L << 24

  override def format: FileFormat = FileFormat.Avro

  override def open(task: FileTask, read: FileReadParameters): AvroBatches = {
    val columns = read.columns
    val capacity = read.settings.rows
    val positions = new PositionsVector
    val source = DataSource(read.io, task.path, task.fileLength, columns.mapping, key = task.key)
    val part = AvroPart(task.start, task.length, columns.needsPositions(task))
    val projection = new Projection(task.path, columns.replacement(task, positions))
    val expected = columns.stored(task)
    var opened = Option.empty[(RequestedAvroFields, Array[WritableColumnVector])]
    val rows = AvroRowIterator.open(source, part, expected, projection) { struct =>
      val fields = new AvroColumnConverter(positions, capacity, read.settings.variants).of(struct, expected.fields)
      val vectors: Array[WritableColumnVector] = OnHeapColumnVector.allocateColumns(capacity, fields.stored).toArray
      opened = Some((fields, vectors))
      (in: AvroInput) => fields.appender.append(in, vectors(_))
    }
    try {
      val (fields, vectors) = opened.get
      val allRows = new ColumnarBatch(columns.of(task, fields.columns(vectors(_)), positions).toArray)
      val liveBatch = read.deletes.map(_.liveBatch(allRows, capacity))
      new AvroBatches(task.path, rows, vectors, positions, allRows, liveBatch, capacity)
    } catch {
      case e: Throwable =>
        rows.close()
        throw e
    }
  }
}
