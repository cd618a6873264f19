package iceberglite.data.orc

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.TypeDescription.RowBatchVersion
import org.apache.orc.{MemoryManager, OrcConf, OrcFile, TypeDescription, Writer}

import iceberglite.data.FileFaults
import iceberglite.metrics.MetricsModes
import iceberglite.spec.property.MetricsMode.NoMetrics
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.storage.FileIO

/**
 * The properties that the ORC files of a task share.
 *
 * @param decimals how a batch represents decimals with up to 18 digits
 */
final private[iceberglite] class OrcFileSettings(
    val schema: TypeDescription,
    val settings: OrcSettings,
    val keyValues: Map[String, String],
    val decimals: RowBatchVersion
) {
  private var totalInMemory = 0L
  private var totalInFile = 0L

  /** Records the size of a complete stripe in memory and in the file, in bytes. */
  private[orc] def recordSizes(inMemory: Long, inFile: Long): Unit = if (inMemory > 0) {
    totalInMemory += inMemory
    totalInFile += inFile
  }

  /** The estimated ratio of a stripe's size in the file to its size in memory. */
  private[orc] def fileToMemoryRatio: Double =
    if (totalInMemory == 0) OrcFileSettings.InitialRatio else math.min(1.0, totalInFile.toDouble / totalInMemory)
}

private[orc] object OrcFileSettings {

  /**
   * The estimated ratio of file size to memory size before the first stripe is complete, as in Apache Iceberg. The
   * ratio is low, because short stripes consist mostly of partly filled buffers.
   */
  private val InitialRatio = 0.2
}

/** An ORC file that is being written. Rows are added to a batch, which is passed to the library when it is full. */
final private[iceberglite] class OrcOutput private (
    path: String,
    fileSettings: OrcFileSettings,
    storage: OrcStorage,
    writer: Writer,
    stripeEnds: StripeEnds
) {
  val batch: VectorizedRowBatch =
    fileSettings.schema.createRowBatch(fileSettings.decimals, fileSettings.settings.batchSize)

  // `reset` allocates the buffers for bytes.
  batch.reset()

  /** Estimated bytes of the current stripe, without the rows in the batch. */
  private var inMemory = 0L

  /** Estimated bytes of the rows in the batch. */
  private var inBatch = 0L

  /** Bytes of the file when the last batch was passed to the library. */
  private var written = storage.position
  private var fileToMemoryRatio = fileSettings.fileToMemoryRatio

  /**
   * Returns the index in the batch of the next row. The caller fills the row before it calls [[endRow]]. A full batch
   * is passed to the library only when the next row begins, so that the batch always has rows when [[flush]] ends a
   * stripe.
   */
  def beginRow(): Int = {
    if (batch.size == batch.getMaxSize || inBatch > OrcOutput.MaxBatchBytes) push()
    batch.size
  }

  /** Ends the row. @param bytes approximate size of the row in bytes, or [[OrcOutput.UnknownSize]] */
  def endRow(bytes: Int): Unit = {
    batch.size += 1
    inBatch += bytes
  }

  private def push(): Unit = FileFaults.wrapWriteErrors(path) {
    writer.addRowBatch(batch)
    batch.reset()
    if (storage.position > written) {
      fileSettings.recordSizes(inMemory + inBatch, storage.position - written)
      fileToMemoryRatio = fileSettings.fileToMemoryRatio
      written = storage.position
    }
    inMemory = writer.estimateMemory
    inBatch = 0L
  }

  /** Bytes written so far, with an estimate of the file size of buffered data. */
  def length: Long = written + (buffered * fileToMemoryRatio).toLong

  /** Bytes buffered in memory. */
  def buffered: Long = inMemory + inBatch

  /** Passes the rows in the batch to the library and ends the stripe. Does nothing if the batch is empty. */
  def flush(): Unit = if (batch.size > 0) {
    stripeEnds.endsWithNextBatch = true
    push()
  }

  /** Completes the file. */
  def finish(): FinishedOrc = FileFaults.wrapWriteErrors(path) {
    if (batch.size > 0) push()
    writer.close()
    fileSettings.recordSizes(inMemory, storage.position - written)
    FinishedOrc(storage.position, writer.getStripes.asScala.map(_.getOffset).toVector)
  }

  /**
   * Returns the sizes of the primitive and variant columns of a complete file. The size of a variant is the total size
   * of its parts.
   */
  def columnSizes(schema: Schema, modes: MetricsModes): Map[Int, Long] = {
    val statistics = writer.getStatistics
    def sizes(t: TypeDescription): Seq[(Int, Long)] = OrcSchemas.idOf(t).flatMap(schema.byId.get) match {
      case Some(NestedField(id, _, _: PrimitiveType, _, _, _, _)) =>
        if (modes.of(id) == NoMetrics) Seq.empty
        else Seq(id -> (t.getId to t.getMaximumId).map(statistics(_).getBytesOnDisk).sum)
      case _ => Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(sizes)
    }
    sizes(writer.getSchema).toMap
  }

  /**
   * Stops writing. The caller must delete the file. The library's writer need not be closed, because it uses only
   * memory.
   */
  def abandon(): Unit = {
    Try(storage.endOutput())
    ()
  }
}

private[iceberglite] object OrcOutput {

  /** The size of a row whose size is unknown. The row does not count towards the maximum size of a batch in bytes. */
  final val UnknownSize = 0

  /** Maximum size of a batch in bytes. If values are long, a batch has fewer rows than its capacity. */
  private val MaxBatchBytes = 16L << 20

  /** Creates an empty file. */
  def open(io: FileIO, path: String, fileSettings: OrcFileSettings): OrcOutput = {
    val storage = OrcStorage.toWrite(io, path)
    FileFaults.wrapWriteErrors(path) {
      val conf = new Configuration(storage.getConf)
      // Makes the library check the memory after each batch.
      OrcConf.ROWS_BETWEEN_CHECKS.setLong(conf, 1L)
      val stripeEnds = new StripeEnds
      val options =
        OrcFile.writerOptions(fileSettings.settings.properties, conf).setSchema(fileSettings.schema).fileSystem(storage)
          .useUTCTimestamp(true).memory(stripeEnds)
      val writer = OrcFile.createWriter(new Path(path), options)
      fileSettings.keyValues.toVector.sorted.foreach { case (key, value) =>
        writer.addUserMetadata(key, ByteBuffer.wrap(value.getBytes(UTF_8)))
      }
      new OrcOutput(path, fileSettings, storage, writer, stripeEnds)
    }
  }
}

/**
 * A complete file.
 *
 * @param length length of the file in bytes
 * @param stripes offsets of the stripes in the file, ascending
 */
final private[iceberglite] case class FinishedOrc(length: Long, stripes: Vector[Long])

/**
 * Determines when a stripe of one file ends. The library's own memory manager is not used, because it divides memory
 * among all writers of a process. The stripes of a file would then depend on concurrent writers.
 */
final private class StripeEnds extends MemoryManager {

  /** Whether the stripe ends with the next batch, regardless of the size of the stripe. */
  var endsWithNextBatch = false

  override def checkMemory(previous: Long, writer: MemoryManager.Callback): Long = {
    writer.checkMemory(if (endsWithNextBatch) 0.0 else 1.0)
    endsWithNextBatch = false
    previous
  }

  override def addWriter(path: Path, requestedAllocation: Long, callback: MemoryManager.Callback): Unit = ()
  override def removeWriter(path: Path): Unit = ()
  override def addedRow(rows: Int): Unit = ()
}
