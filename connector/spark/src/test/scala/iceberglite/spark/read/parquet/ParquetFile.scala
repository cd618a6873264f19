package iceberglite.spark.read.parquet

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.CatalystTypeConverters

import iceberglite.spark.convert.{SparkTypes, VariantForm}
import iceberglite.spark.read.files.{BatchSettings, FileBatches, FileTask, FileValues}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.types.NestedField

/** A Parquet data file, which can have any Parquet schema, and which tests scan. */
final class ParquetFile(val path: String) {
  import ParquetFile._

  /** Returns the rows of the file for these columns, in file order. */
  def read(columns: NestedField*): Seq[Row] = read(Scan(columns.toVector))

  /**
   * Returns the rows of the scan, after checking that reading the file row by row returns the same rows. Reading row by
   * row does not skip pages, so with a filter it can return additional rows.
   */
  def read(scan: Scan): Seq[Row] = {
    val rows = rowsOf(scan, ParquetBatches.open(_, _, _, _))
    val byRows = rowsOf(
      scan,
      (task, projections, jobs, settings) =>
        ParquetBatches.openRowByRow(ParquetBatches.prepareRead(task, projections, jobs, None), settings, None)
    )
    val (actual, expected) = (comparable(rows), comparable(byRows))
    if (scan.task(wholeFile(path)).filter == AlwaysTrue)
      assert(actual == expected, s"rows read as vectors: $actual; rows read one by one: $expected")
    else
      assert(actual.diff(expected).isEmpty, s"some rows read as vectors ($actual) are not read one by one: $expected")
    rows
  }

  /** Whether the file is read row by row, because Spark's vectorized reader does not support one of the columns. */
  def isReadByRows(columns: NestedField*): Boolean = {
    var byRows = false
    rowsOf(
      Scan(columns.toVector),
      (task, projections, jobs, settings) => {
        val batches = ParquetBatches.open(task, projections, jobs, settings)
        byRows = batches.decodesRowByRow
        batches
      }
    )
    byRows
  }

  private def rowsOf(scan: Scan, open: Open): Seq[Row] = {
    val toScala = CatalystTypeConverters.createToScalaConverter(SparkTypes.toSpark(scan.columns))
    val values = new FileValues(scan.specs, scan.metadataIds, scan.batchRows)
    val projections = new FileProjections(scan.columns, scan.mapping, values, "lite.db.t", VariantForm.Json)
    val jobs = new ReadJobs(ParquetBatches.prepare(new Configuration(defaults)))
    val settings = BatchSettings(columnar = true, scan.batchRows, offHeap = false)
    val batches = open(scan.task(wholeFile(path)), projections, jobs, settings)
    val rows = Seq.newBuilder[Row]
    try while (batches.next()) batches.batch.rowIterator().forEachRemaining(r => rows += toScala(r).asInstanceOf[Row])
    finally batches.close()
    rows.result()
  }
}

object ParquetFile {

  /** Hadoop's defaults, loaded once, because loading them takes longer than reading a small file. */
  private val defaults = {
    val loaded = new Configuration()
    loaded.size()
    loaded
  }
  private type Open = (FileTask, FileProjections, ReadJobs, BatchSettings) => FileBatches

  final case class Scan(
      columns: Vector[NestedField],
      mapping: Option[NameMapping] = None,
      specs: Map[Int, PartitionSpec] = Map.empty,
      metadataIds: Set[Int] = Set.empty,
      batchRows: Int = 4,
      task: FileTask => FileTask = identity
  ) {
    def withFilter(filter: Expression, withoutNan: Set[Int] = Set.empty): Scan =
      copy(task = t => task(t).copy(filter = filter, withoutNan = withoutNan))
  }

  def wholeFile(path: String): FileTask = FileTask(
    path,
    start = 0,
    length = new java.io.File(path).length,
    specId = 0,
    partition = PartitionTuple.Empty,
    filter = AlwaysTrue,
    withoutNan = Set.empty,
    firstRowId = None,
    dataSequenceNumber = 0,
    format = FileFormat.Parquet
  )

  /** @param schema in Parquet's notation: `message m { optional int32 a = 1; }` */
  def write(schema: String)(rows: (Group => Any)*): ParquetFile =
    write(MessageTypeParser.parseMessageType(schema))(rows: _*)

  /**
   * Writes a file.
   *
   * @param rowGroupRows approximate number of rows in a row group
   * @param pageRows number of rows in a page
   * @param bloomFilterColumn a column that gets a bloom filter and no dictionary
   */
  def write(
      schema: MessageType,
      rowGroupRows: Int = 1000000,
      pageRows: Int = 1000000,
      bloomFilterColumn: Option[String] = None
  )(rows: (Group => Any)*): ParquetFile = {
    val path = newPath()
    val builder = ExampleParquetWriter.builder(new HadoopPath(path))
    bloomFilterColumn.foreach { column =>
      builder.withBloomFilterEnabled(column, true).withDictionaryEncoding(column, false)
    }
    val writer = builder
      .withType(schema)
      .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
      .withPageRowCountLimit(pageRows)
      .withRowGroupSize(if (rowGroupRows < 1000000) rowGroupRows * 8L else 1L << 27)
      .withMinRowCountForPageSizeCheck(math.min(pageRows, 100))
      .withMaxRowCountForPageSizeCheck(math.min(pageRows, 100))
      .build()
    val factory = new SimpleGroupFactory(schema)
    try rows.foreach { fill =>
        val group = factory.newGroup()
        fill(group)
        writer.write(group)
      }
    finally writer.close()
    new ParquetFile(path)
  }

  /** Converts rows so that `==` compares byte arrays by their contents, and floating point values by their bits. */
  def comparable(rows: Seq[Row]): Seq[Any] = rows.map(toComparable)

  private def toComparable(value: Any): Any = value match {
    case row: Row => row.toSeq.map(toComparable)
    case values: Seq[_] => values.map(toComparable)
    case map: collection.Map[_, _] => map.map { case (k, v) => toComparable(k) -> toComparable(v) }
    case bytes: Array[Byte] => bytes.toSeq
    case f: Float => java.lang.Float.floatToRawIntBits(f)
    case d: Double => java.lang.Double.doubleToRawLongBits(d)
    case other => other
  }

  /** Returns a path for a new file. */
  def newPath(): String = directory.resolve(s"${counter.incrementAndGet()}.parquet").toString

  private val counter = new java.util.concurrent.atomic.AtomicInteger
  private lazy val directory: Path = {
    val created = Files.createTempDirectory("iceberg-lite-parquet")
    sys.addShutdownHook {
      Option(created.toFile.listFiles).toSeq.flatten.foreach(_.delete())
      created.toFile.delete()
    }
    created
  }
}
