package iceberglite.bench

import iceberglite.bench.version4.{BenchTable, MeasuredIO, SyntheticFiles}
import iceberglite.maintenance.{ComputeBloomIndex, ComputeTableStatistics, FileFilterJob, FileFilters}
import iceberglite.puffin.{BloomFilter, ValueForm}
import iceberglite.scan.{FileScanTask, TableScan}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.Metrics
import iceberglite.spec.property.BloomIndexProperty
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.Type.LongType
import iceberglite.table.Table
import iceberglite.table.action.MergeAppend

/**
 * Counts the files that a point query opens with and without a Bloom index, and the requests and bytes of its planning.
 * The data files exist only in metadata, and have no bounds. Each file has the same number of distinct keys, which no
 * other file has.
 *
 * The arguments are the number of files (by default 1,000,000) and the number of keys in a file (by default 100).
 */
object BloomIndexBench {
  private val Column = "column_3"
  private val FilesPerCommit = 50000
  private val Queries = 5

  def main(args: Array[String]): Unit = {
    val files = args.headOption.fold(1000000)(_.toInt)
    val keys = args.lift(1).fold(100)(_.toInt)
    val storage = new MemoryIO
    val table = created(new MeasuredIO(storage, 0), files)
    println("index,query,files opened,requests,bytes,ms")
    measure(table, storage, "none", files.toLong * keys)
    val blobs = ComputeBloomIndex(table, table.currentSnapshot.get, new SyntheticKeys(keys))
    val (indexed, file) =
      ComputeTableStatistics.register(table, table.currentSnapshot.get, Vector.empty, others = blobs)
    measure(indexed, storage, "Bloom", files.toLong * keys)
    println(s"The index has ${file.fileSizeInBytes} bytes, ${file.fileSizeInBytes / files} bytes for each file")
  }

  private def created(io: MeasuredIO, files: Int): Table = {
    val data = new SyntheticFiles(3, files)
    val empty = BenchTable.create(io, FormatVersion.V2, data, Map(BloomIndexProperty.Columns.key -> Column))
    (0 until files by FilesPerCommit).foldLeft(empty) { (table, from) =>
      val added = data.range(from, math.min(files, from + FilesPerCommit)).map(_.copy(metrics = Metrics.Empty))
      BenchTable.commit(table, new MergeAppend(added))
    }
  }

  /** Plans queries for keys that one file has, and for keys that no file has, with an empty cache of manifests. */
  private def measure(table: Table, storage: MemoryIO, index: String, keys: Long): Unit =
    for (
      query <- 0 until Queries; (kind, key) <- Seq("present" -> keys / Queries * query, "absent" -> (keys + query))
    ) {
      val io = new MeasuredIO(storage, 0)
      val start = System.nanoTime()
      val plan = TableScan(
        table.tree().copy(io = io),
        table.currentSnapshot,
        Equal(Named(Column), LongLiteral(key)),
        caseSensitive = true
      ).plan()
      val ms = (System.nanoTime() - start) / 1000000
      println(s"$index,$kind,${plan.tasks.size},${io.requests.reads},${io.requests.readBytes},$ms")
    }
}

/**
 * Creates Bloom filters without reading the data files.
 *
 * @param keys the number of keys in each file. The keys of a file are consecutive, from the number of the file times
 *   `keys`
 */
final private class SyntheticKeys(keys: Int) extends FileFilterJob {
  private val form = ValueForm.of(LongType).get

  /** The number of a file is the second number in its name. */
  private val Number = """.*/\d+-(\d+)-.*""".r

  override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] =
    tasks.map { task =>
      val Number(number) = task.file.path
      val builder = new BloomFilter.Builder(1L << 20)
      (0 until keys).foreach(i => builder += form.hash(LongLiteral(number.toLong * keys + i)))
      Vector(builder.result())
    }
}
