package iceberglite.scan

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.concurrent.atomic.AtomicLong

import iceberglite.catalog.FileIOWrapper
import iceberglite.data.{DataFileOf, DataTarget, Record}
import iceberglite.maintenance.{ComputeBloomIndex, ComputeTableStatistics, FileFilterJob, FileFilters}
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.BloomFilter
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.file.{ContentFile, FileFormat, Metrics}
import iceberglite.spec.metadata.{Snapshot, StatisticsFile}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._
import iceberglite.storage.FileIO
import iceberglite.table.{Actions, Environment, Table, TableCreation}
import iceberglite.tree.{ManifestCache, TreeTable}

/** Tables with a Bloom index in memory. */
trait BloomIndexFixture {
  protected val columns = "iceberg-lite.bloom-index.columns"
  protected val id = NestedField.optional(1, "id", LongType)
  protected val name = NestedField.optional(2, "name", StringType)

  /** A table with an index, and the number of data files that were read for the index. */
  protected class Indexed(
      fields: Vector[NestedField],
      indexed: String,
      version: FormatVersion = FormatVersion.V2
  ) extends FileFilterJob {
    val read = new AtomicLong
    private val paths = Iterator.from(1)
    val actions = new Actions(
      TableCreation(Schema(0, fields), properties = Map(columns -> indexed, "format-version" -> version.toString))
    )

    def table: Table = actions.table

    /** Writes a data file without bounds. */
    def write(
        rows: Seq[Record],
        format: FileFormat = FileFormat.Parquet,
        properties: Map[String, String] = Map.empty
    ): ContentFile = {
      val path = s"mem://t/data/f${paths.next()}"
      val target = DataTarget(actions.store, path, table.schema, properties, MetricsModes(Map.empty))
      DataFileOf(target, format, 0, PartitionTuple.Empty, rows).copy(metrics = Metrics.Empty)
    }

    /** Writes a data file without field ids: their keys in the file are replaced by unknown keys of the same length. */
    def writeWithoutIds(rows: Seq[Record], format: FileFormat): ContentFile = {
      val file = write(rows, format, Map("write.orc.compression-codec" -> "none"))
      val text = new String(actions.store.read(file.path), ISO_8859_1)
      val changed = text.replace("iceberg.id", "xceberg.id").replace("field-id", "xield-id")
      assert(changed != text)
      actions.store.delete(file.path)
      actions.store.write(file.path, changed.getBytes(ISO_8859_1))
      file
    }

    def ids(values: Long*): ContentFile = write(values.map(v => Record.of(v, s"n$v")))

    override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] = {
      read.addAndGet(tasks.size.toLong)
      FileFilterJob.Local.compute(filters, tasks)
    }

    /** Writes the index of a snapshot, and returns its file. */
    def index(snapshot: Table => Snapshot = _.currentSnapshot.get): StatisticsFile = {
      val base = table
      val blobs = ComputeBloomIndex(base, snapshot(base), this)
      ComputeTableStatistics.register(
        base,
        snapshot(base),
        Vector.empty,
        environment = Environment.system,
        others = blobs
      )._2
    }

    def plan(
        filter: Expression,
        snapshot: Option[Snapshot] = table.currentSnapshot,
        io: FileIO = actions.store
    ): Vector[String] =
      TableScan(
        TreeTable("t", io, table.metadata),
        snapshot,
        filter,
        caseSensitive = true,
        ManifestCache.Disabled
      ).plan().tasks.map(_.file.path)
  }

  protected def equal(value: Long): Expression = Equal(Term.Named("id"), LongLiteral(value))

  /** Returns filters of one value for each file, without reading the files. */
  protected class Numbered extends FileFilterJob {
    val sizes = Vector.newBuilder[Int]

    override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] = {
      sizes += tasks.size
      tasks.map(_ => Vector(new BloomFilter.Builder(1 << 20).result()))
    }
  }
}

/** Counts range reads of statistics files and their bytes. */
final private[scan] class CountingRanges(files: FileIO) extends FileIOWrapper(files) {
  val ranges = new AtomicLong
  val bytes = new AtomicLong

  override def readRange(path: String, offset: Long, length: Int): Array[Byte] = {
    if (path.endsWith(".stats")) {
      ranges.incrementAndGet()
      bytes.addAndGet(length.toLong)
    }
    super.readRange(path, offset, length)
  }
}
