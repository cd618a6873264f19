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
import iceberglite.spark.read.{BatchSettings, FileTask, FileValues}
import iceberglite.spec._
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue

/** Data files made by hand, of any schema that Parquet has, and what a scan reads of them. */
final class ParquetFile(val path: String) {
  import ParquetFile._

  /** The rows of the file for these columns, in the file's order. */
  def read(wanted: NestedField*): Seq[Row] = read(Scan(wanted.toVector))

  def read(scan: Scan): Seq[Row] = {
    val task = scan.task(whole(path))
    val toScala = CatalystTypeConverters.createToScalaConverter(SparkTypes.toSpark(scan.wanted))
    val values = new FileValues(scan.specs, scan.metadataIds, scan.batchRows)
    val projections = new FileProjections(scan.wanted, scan.mapping, values, "lite.db.t")
    val conf = ParquetBatches.prepare(new Configuration())
    val settings = BatchSettings(columnar = true, scan.batchRows, offHeap = false)
    val batches = ParquetBatches.open(task, projections, conf, settings)
    val rows = Seq.newBuilder[Row]
    try while (batches.next()) batches.batch.rowIterator().forEachRemaining(r => rows += toScala(r).asInstanceOf[Row])
    finally batches.close()
    rows.result()
  }
}

object ParquetFile {

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

  /** @param schema as Parquet prints it: `message m { optional int32 a = 1; }` */
  def write(schema: String)(rows: (Group => Any)*): ParquetFile =
    write(MessageTypeParser.parseMessageType(schema))(rows: _*)

  /** @param bloomed a column with a bloom filter and no dictionary */
  def write(
      schema: MessageType,
      rowGroupRows: Int = 1000000,
      pageRows: Int = 1000000,
      bloomed: Option[String] = None
  )(rows: (Group => Any)*): ParquetFile = {
    val path = directory.resolve(s"${counter.incrementAndGet()}.parquet")
    val builder = ExampleParquetWriter.builder(new HadoopPath(path.toUri))
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
    new ParquetFile(path.toString)
  }

  private val counter = new java.util.concurrent.atomic.AtomicInteger
  private lazy val directory: Path = {
    val made = Files.createTempDirectory("iceberg-lite-parquet")
    sys.addShutdownHook {
      Option(made.toFile.listFiles).toSeq.flatten.foreach(_.delete())
      made.toFile.delete()
    }
    made
  }
}
