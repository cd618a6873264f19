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

import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.files.{BatchSettings, FileBatches, FileTask, FileValues}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.NameMapping
import iceberglite.spec.types.NestedField

/** A data file with any Parquet schema, written by Parquet's own writer, and the rows that a scan reads from it. */
final class ParquetFile(val path: String) {
  import ParquetFile._

  /** Returns the rows of the file for these columns, in file order. */
  def read(wanted: NestedField*): Seq[Row] = read(Scan(wanted.toVector))

  /** Reads the file, and checks the rows against those of the reader for single rows, which does not skip pages. */
  def read(scan: Scan): Seq[Row] = {
    val rows = rowsOf(scan, ParquetBatches.open(_, _, _, _))
    val byRows = rowsOf(
      scan,
      (task, projections, conf, settings) =>
        ParquetBatches.openRowByRow(ParquetBatches.prepareRead(task, projections, conf, None), settings, None)
    )
    val (found, expected) = (comparable(rows), comparable(byRows))
    if (scan.task(whole(path)).filter == AlwaysTrue) assert(found == expected, s"$found by vectors, $expected by rows")
    else assert(found.diff(expected).isEmpty, s"$found by vectors, and not all by rows: $expected")
    rows
  }

  /** Whether the columns cannot be read with Spark's vectorized reader. */
  def isReadByRows(wanted: NestedField*): Boolean = {
    var byRows = false
    rowsOf(
      Scan(wanted.toVector),
      (task, projections, conf, settings) => {
        val batches = ParquetBatches.open(task, projections, conf, settings)
        byRows = batches.decodesRowByRow
        batches
      }
    )
    byRows
  }

  private def rowsOf(scan: Scan, open: Open): Seq[Row] = {
    val toScala = CatalystTypeConverters.createToScalaConverter(SparkTypes.toSpark(scan.wanted))
    val values = new FileValues(scan.specs, scan.metadataIds, scan.batchRows)
    val projections = new FileProjections(scan.wanted, scan.mapping, values, "lite.db.t")
    val conf = ParquetBatches.prepare(new Configuration())
    val settings = BatchSettings(columnar = true, scan.batchRows, offHeap = false)
    val batches = open(scan.task(whole(path)), projections, conf, settings)
    val rows = Seq.newBuilder[Row]
    try while (batches.next()) batches.batch.rowIterator().forEachRemaining(r => rows += toScala(r).asInstanceOf[Row])
    finally batches.close()
    rows.result()
  }
}

object ParquetFile {
  private type Open = (FileTask, FileProjections, Configuration, BatchSettings) => FileBatches

  final case class Scan(
      wanted: Vector[NestedField],
      mapping: Option[NameMapping] = None,
      specs: Map[Int, PartitionSpec] = Map.empty,
      metadataIds: Set[Int] = Set.empty,
      batchRows: Int = 4,
      task: FileTask => FileTask = identity
  ) {
    def filtered(filter: Expression, withoutNan: Set[Int] = Set.empty): Scan =
      copy(task = t => task(t).copy(filter = filter, withoutNan = withoutNan))
  }

  def whole(path: String): FileTask = FileTask(
    path,
    start = 0,
    length = new java.io.File(path).length,
    specId = 0,
    partition = PartitionTuple.Empty,
    filter = AlwaysTrue,
    withoutNan = Set.empty,
    firstRowId = None,
    dataSequenceNumber = 0
  )

  /** @param schema in Parquet's notation: `message m { optional int32 a = 1; }` */
  def write(schema: String)(rows: (Group => Any)*): ParquetFile =
    write(MessageTypeParser.parseMessageType(schema))(rows: _*)

  /** @param bloomed a column with a bloom filter and no dictionary */
  def write(
      schema: MessageType,
      rowGroupRows: Int = 1000000,
      pageRows: Int = 1000000,
      bloomed: Option[String] = None
  )(rows: (Group => Any)*): ParquetFile = {
    val path = newPath()
    val builder = ExampleParquetWriter.builder(new HadoopPath(path))
    bloomed.foreach(column => builder.withBloomFilterEnabled(column, true).withDictionaryEncoding(column, false))
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

  /** Converts rows so that identical values are equal. */
  def comparable(rows: Seq[Row]): Seq[Any] = rows.map(plain)

  private def plain(value: Any): Any = value match {
    case row: Row => row.toSeq.map(plain)
    case values: Seq[_] => values.map(plain)
    case map: collection.Map[_, _] => map.map { case (k, v) => plain(k) -> plain(v) }
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
