package iceberglite.spark.write

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.{LongType => SparkLong, StructType}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.WrittenFile
import iceberglite.data.FileToCopy
import iceberglite.spark.write.files.{DataFileCopies, DataFileFormat, DataFileWriter, InputColumns, NewDataFiles}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.file.{FileFormat, MetricMaps}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, SortOrder}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{DataFileNames, DataLocations}

/** Checks to which files a task writes rows, whether or not they are clustered by partition. */
class FanOutRouterSuite extends AnyFunSuite {
  import FanOutRouterSuite._

  test("the number of open files is limited, and each partition gets one file") {
    val run = new Run(FanOutBounds(3, Long.MaxValue))
    (0 until 100).foreach(i => run.router.put(row(i, i % 10)))
    assert(run.format.open == 3 && run.format.files.size == 3)
    run.router.finish()
    assert(run.format.files.size == 10 && run.format.maxOpen == 3 && run.format.open == 0)
    assert(run.format.files.forall(_.rows == 10))
  }

  test("rows of partitions without an open file are buffered and written in their original order") {
    val run = new Run(FanOutBounds(1, Long.MaxValue))
    (0 until 30).foreach(i => run.router.put(row(i, i % 3)))
    run.router.finish()
    assert(run.format.files.map(_.ids.toList) == (0 to 2).map(p => (p until 30 by 3).toList))
  }

  test("if files use more memory than allowed, the file with the most memory is flushed") {
    val run = new Run(FanOutBounds(10, 1000))
    (0 until 9).foreach(_ => run.router.put(row(1, 1)))
    run.router.put(row(2, 2))
    assert(run.format.files.forall(_.flushes == 0))
    run.router.put(row(2, 2))
    assert(run.format.files.map(_.flushes) == Seq(1, 0))
  }

  test("when a file of a partition has the target size, a new file of the partition is opened") {
    val run = new Run(FanOutBounds(10, Long.MaxValue), targetSize = 500)
    (0 until 12).foreach(i => run.router.put(row(i, 1)))
    run.router.finish()
    assert(run.format.files.map(_.rows) == Seq(5, 5, 2))
  }

  test("clustered rows need one open file, and a partition that occurs again later gets a second file") {
    val run = new Run(FanOutBounds(1, Long.MaxValue))
    val router = new ClusteredRouter(run.files, run.partitioner)
    Seq(1, 1, 2, 2, 2, 1).foreach(p => router.put(row(0, p)))
    router.finish()
    assert(run.format.files.map(_.rows) == Seq(2, 3, 1) && run.format.maxOpen == 1)
    assert(run.files.written.length == 3)
  }
}

private object FanOutRouterSuite {
  private def row(id: Int, part: Int): InternalRow = new GenericInternalRow(Array[Any](id.toLong, part.toLong))

  final private class Run(bounds: FanOutBounds, targetSize: Long = Long.MaxValue) {
    private val schema =
      Schema(0, Vector(NestedField.optional(1, "id", LongType), NestedField.optional(2, "part", LongType)))
    private val spec = PartitionSpec(0, Vector(PartitionField(2, 1000, "part", Identity)))
    private val columns = new StructType().add("id", SparkLong).add("part", SparkLong)

    val format = new CountingFormat
    val partitioner: Partitioner = Partitioner.of(spec, new InputColumns("t", schema, true, true).of(columns))
    val files = new TaskFiles(
      FilesToWrite(
        spec,
        spec.partitionType(schema),
        SortOrder.Unsorted,
        format,
        DataLocations.of("/table", Map.empty),
        targetSize
      ),
      new DataFileNames(0, 0, "op", ".test"),
      SortOrder.Unsorted,
      new HadoopFileIO(new Configuration(false)),
      table = "t"
    )
    val router = new FanOutRouter(files, partitioner, bounds, () => new ListOverflow)
  }

  /** Buffers rows in memory, and sorts them by number with a stable sort, as Spark's radix sort does. */
  final private class ListOverflow extends RowOverflow {
    private val numberedRows = mutable.ArrayBuffer.empty[(Long, InternalRow)]
    override def put(number: Long, row: InternalRow): Unit = numberedRows += number -> row.copy()
    override def sorted: Iterator[InternalRow] = numberedRows.sortBy(_._1).iterator.map(_._2)
    override def close(): Unit = ()
  }

  /** A format that writes no files, but counts open files, flushes and rows, with one hundred bytes per row. */
  final private class CountingFormat extends DataFileFormat {
    val files = mutable.ArrayBuffer.empty[CountingFile]
    var open = 0
    var maxOpen = 0

    override def format: FileFormat = FileFormat.Parquet
    override def unitSize: Long = 100L
    override def acceptsVectors: Boolean = false

    override def newFiles(): NewDataFiles = new NewDataFiles {
      override def open(path: String): DataFileWriter = {
        val file = new CountingFile(CountingFormat.this)
        files += file
        CountingFormat.this.open += 1
        maxOpen = math.max(maxOpen, CountingFormat.this.open)
        file
      }
      override def copies(files: Vector[FileToCopy], targetSize: Long): Option[DataFileCopies] = None
      override def close(): Unit = ()
    }
  }

  final private class CountingFile(format: CountingFormat) extends DataFileWriter {
    val ids = mutable.ArrayBuffer.empty[Long]
    var flushes = 0
    private var inMemory = 0L

    def rows: Int = ids.size
    override def write(row: InternalRow): Unit = {
      ids += row.getLong(0)
      inMemory += 100
    }
    override def length: Long = rows * 100L
    override def buffered: Long = inMemory
    override def flush(): Unit = {
      flushes += 1
      inMemory = 0
    }
    override def finish(): WrittenFile = {
      format.open -= 1
      WrittenFile("f", FileFormat.Parquet, rows.toLong, length, MetricMaps(), Vector.empty)
    }
    override def abandon(): Unit = format.open -= 1
  }
}
