package iceberglite.bench.version4

import java.util.concurrent.atomic.AtomicLong

import scala.collection.JavaConverters._

import org.apache.iceberg.{
  BaseMetastoreTableOperations,
  BaseTable,
  DataFile,
  DataFiles,
  Metrics,
  PartitionSpec,
  PartitionSpecParser,
  Schema,
  SchemaParser,
  TableMetadata
}
import org.apache.iceberg.exceptions.CommitFailedException
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.apache.iceberg.io.{FileIO, InputFile, OutputFile, PositionOutputStream, SeekableInputStream}

import iceberglite.bench.Timing
import iceberglite.spec.FormatVersion
import iceberglite.spec.json.{PartitionSpecJson, SchemaJson}

/**
 * The cost of an append of one file in Apache Iceberg, on storage that delays each request.
 *
 * @param reads the number of read requests of an append
 * @param writes the number of files that an append writes, with the table metadata file
 * @param ms the wall time in milliseconds
 * @param treeMs `ms` without the time in which the table metadata was written
 */
final case class PeerAppend(version: FormatVersion, columns: Int, reads: Long, writes: Long, ms: Double, treeMs: Double)

/** Measures appends of Apache Iceberg. The catalog is a pointer in memory, as it is for [[BenchTable]]. */
object PeerAppends {

  /** The number of files of the table. */
  val Files = 1000
  private val WarmUp = 3
  private val Repetitions = 5

  /** Returns the medians of appends to a table that has a thousand files. */
  def of(version: FormatVersion, columns: Int, latencyMs: Long): PeerAppend = {
    val data = new SyntheticFiles(columns, Files)
    val schema = SchemaParser.fromJson(SchemaJson.toJson(data.schema))
    val spec = PartitionSpecParser.fromJson(schema, PartitionSpecJson.toJson(data.spec))
    val io = new DelayedIO(latencyMs)
    val table = new BaseTable(new MemoryOperations(io, version, schema, spec), "db.t")
    val first = table.newAppend()
    (0 until Files).foreach(i => first.appendFile(file(data, spec, i)))
    first.commit()
    val all = (0 until WarmUp + Repetitions).map { i =>
      val added = file(data, spec, Files + i)
      io.reset()
      val (ms, _) = Timing.of(table.newAppend().appendFile(added).commit())
      PeerAppend(version, columns, io.reads.get, io.writes.get, ms, ms - io.tableMetadataNanos.get / 1e6)
    }.drop(WarmUp)
    val typical = all.sortBy(_.ms).apply(Repetitions / 2)
    typical.copy(treeMs = Timing.median(all.map(_.treeMs)))
  }

  private def file(data: SyntheticFiles, spec: PartitionSpec, number: Int): DataFile = {
    val ours = data.file(number)
    val metrics = ours.metrics
    def counts(values: Option[Map[Int, Long]]): java.util.Map[Integer, java.lang.Long] =
      values.map(_.map { case (id, n) => Int.box(id) -> Long.box(n) }.asJava).orNull
    def bounds(values: Option[Map[Int, java.nio.ByteBuffer]]): java.util.Map[Integer, java.nio.ByteBuffer] =
      values.map(_.map { case (id, b) => Int.box(id) -> b }.asJava).orNull
    DataFiles.builder(spec)
      .withPath(ours.path)
      .withFormat("parquet")
      .withPartition(DataFiles.data(spec, s"${SyntheticFiles.Partition}=${data.partition(number)}"))
      .withFileSizeInBytes(ours.fileSizeInBytes)
      .withMetrics(new Metrics(
        Long.box(ours.recordCount),
        counts(metrics.columnSizes),
        counts(metrics.valueCounts),
        counts(metrics.nullValueCounts),
        counts(None),
        bounds(metrics.lowerBounds),
        bounds(metrics.upperBounds)
      ))
      .build()
  }

  /** A table whose pointer to the newest metadata file is in memory. */
  final private class MemoryOperations(io: DelayedIO, version: FormatVersion, schema: Schema, spec: PartitionSpec)
      extends BaseMetastoreTableOperations {
    private var location: Option[String] = None

    commit(
      null,
      TableMetadata.newTableMetadata(
        schema,
        spec,
        SyntheticFiles.Location,
        Map("format-version" -> version.number.toString).asJava
      )
    )

    override def tableName(): String = "db.t"
    override def io(): FileIO = io
    override def doRefresh(): Unit = refreshFromMetadataLocation(location.orNull)

    override def doCommit(base: TableMetadata, metadata: TableMetadata): Unit = {
      val next = writeNewMetadataIfRequired(base == null, metadata)
      if (Option(base).map(_.metadataFileLocation) != location) throw new CommitFailedException("The table has changed")
      location = Some(next)
    }
  }

  /**
   * Files in memory. Each request to read or to write a file is delayed; requests for the length of a file are not,
   * because a storage may have it from elsewhere.
   */
  final private class DelayedIO(latencyMs: Long) extends FileIO {
    private val files = new InMemoryFileIO
    val reads = new AtomicLong
    val writes = new AtomicLong

    /** The time in nanoseconds in which table metadata was written since the last call of [[reset]]. */
    val tableMetadataNanos = new AtomicLong

    def reset(): Unit = Seq(reads, writes, tableMetadataNanos).foreach(_.set(0))

    override def newInputFile(path: String): InputFile = new DelayedInput(files.newInputFile(path))
    override def newOutputFile(path: String): OutputFile = new DelayedOutput(files.newOutputFile(path))
    override def deleteFile(path: String): Unit = files.deleteFile(path)

    final private class DelayedInput(input: InputFile) extends InputFile {
      override def newStream(): SeekableInputStream = {
        reads.incrementAndGet()
        Thread.sleep(latencyMs)
        input.newStream()
      }
      override def getLength: Long = input.getLength
      override def location(): String = input.location
      override def exists(): Boolean = input.exists()
    }

    final private class DelayedOutput(output: OutputFile) extends OutputFile {
      override def create(): PositionOutputStream = new DelayedStream(output.create(), location())
      override def createOrOverwrite(): PositionOutputStream = new DelayedStream(output.createOrOverwrite(), location())
      override def location(): String = output.location
      override def toInputFile: InputFile = new DelayedInput(output.toInputFile)
    }

    /** Sends the whole file in one request when it is closed. */
    final private class DelayedStream(stream: PositionOutputStream, path: String) extends PositionOutputStream {
      private var isOpen = true

      override def getPos: Long = stream.getPos
      override def write(byte: Int): Unit = stream.write(byte)
      override def write(bytes: Array[Byte], offset: Int, length: Int): Unit = stream.write(bytes, offset, length)

      override def close(): Unit = if (isOpen) {
        isOpen = false
        val start = System.nanoTime()
        Thread.sleep(latencyMs)
        stream.close()
        writes.incrementAndGet()
        if (path.endsWith(".metadata.json")) tableMetadataNanos.addAndGet(System.nanoTime() - start)
      }
    }
  }
}
