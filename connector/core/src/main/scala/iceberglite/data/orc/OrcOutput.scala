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
import iceberglite.io.{FileIO, MetricsModes}
import iceberglite.spec.MetricsMode.NoMetrics
import iceberglite.spec.{NestedField, PrimitiveType, Schema}

/**
 * What the ORC files of a task have in common.
 *
 * @param decimals how those of up to 18 digits stand in a batch
 */
final private[iceberglite] class OrcShape(
    val schema: TypeDescription,
    val settings: OrcSettings,
    val keyValues: Map[String, String],
    val decimals: RowBatchVersion
) {
  private var memory = 0L
  private var written = 0L

  /** Notes how long a stripe became that took so much memory before it was complete. */
  private[orc] def learn(inMemory: Long, inFile: Long): Unit = if (inMemory > 0) {
    memory += inMemory
    written += inFile
  }

  /** About how much of what a stripe takes in memory it takes in the file. */
  private[orc] def share: Double = if (memory == 0) OrcShape.ShareAtFirst else math.min(1.0, written.toDouble / memory)
}

private[orc] object OrcShape {

  /** As Apache Iceberg guesses: short stripes are buffers with little in them. */
  private val ShareAtFirst = 0.2
}

/** An ORC file in the making: rows are put into the batch, and that goes to the library when it is full. */
final private[iceberglite] class OrcOutput private (
    path: String,
    shape: OrcShape,
    storage: OrcStorage,
    writer: Writer,
    ends: StripeEnds
) {
  val batch: VectorizedRowBatch = shape.schema.createRowBatch(shape.decimals, shape.settings.batchSize)

  /** Arrays for bytes are made by this. */
  batch.reset()

  /** Bytes of the stripe, and of the rows in the batch. */
  private var inMemory = 0L
  private var inBatch = 0L
  private var written = storage.position
  private var share = shape.share

  /**
   * The place in the batch for one more row, to be filled before [[endRow]]. A batch that is full goes to the library
   * only now, so that there are rows in it whenever a stripe is to end.
   */
  def beginRow(): Int = {
    if (batch.size == batch.getMaxSize || inBatch > OrcOutput.MaxBatchBytes) push()
    batch.size
  }

  /** @param bytes of the row, about; 0 where that is not known */
  def endRow(bytes: Int): Unit = {
    batch.size += 1
    inBatch += bytes
  }

  private def push(): Unit = FileFaults.writing(path) {
    writer.addRowBatch(batch)
    batch.reset()
    if (storage.position > written) {
      shape.learn(inMemory + inBatch, storage.position - written)
      share = shape.share
      written = storage.position
    }
    inMemory = writer.estimateMemory
    inBatch = 0L
  }

  /** Bytes so far, those in memory as they will be in the file, about. */
  def length: Long = written + (buffered * share).toLong

  /** Bytes in memory. */
  def buffered: Long = inMemory + inBatch

  /** Ends the stripe, if there are rows in it. */
  def flush(): Unit = if (batch.size > 0) {
    ends.now = true
    push()
  }

  /** Completes the file. */
  def finish(): FinishedOrc = FileFaults.writing(path) {
    if (batch.size > 0) push()
    writer.close()
    shape.learn(inMemory, storage.position - written)
    FinishedOrc(storage.position, writer.getStripes.asScala.map(_.getOffset).toVector)
  }

  /** Of the columns of a complete file that are no structs, lists or maps; a variant has the bytes of its parts. */
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

  /** Gives up; the file is to be deleted. The library's writer holds nothing but memory. */
  def abandon(): Unit = {
    Try(storage.endOutput())
    ()
  }
}

private[iceberglite] object OrcOutput {

  /** A batch of long values is not filled. */
  private val MaxBatchBytes = 16L << 20

  /** Makes an empty file. */
  def open(io: FileIO, path: String, shape: OrcShape): OrcOutput = {
    val storage = OrcStorage.toWrite(io, path)
    FileFaults.writing(path) {
      val conf = new Configuration(storage.getConf)
      // The memory is looked at after each batch.
      OrcConf.ROWS_BETWEEN_CHECKS.setLong(conf, 1L)
      val ends = new StripeEnds
      val options = OrcFile.writerOptions(shape.settings.properties, conf).setSchema(shape.schema).fileSystem(storage)
        .useUTCTimestamp(true).memory(ends)
      val writer = OrcFile.createWriter(new Path(path), options)
      shape.keyValues.toVector.sorted.foreach { case (key, value) =>
        writer.addUserMetadata(key, ByteBuffer.wrap(value.getBytes(UTF_8)))
      }
      new OrcOutput(path, shape, storage, writer, ends)
    }
  }
}

/**
 * @param length of the file in bytes
 * @param stripes where they start, ascending
 */
final private[iceberglite] case class FinishedOrc(length: Long, stripes: Vector[Long])

/**
 * Tells the library when the stripe of one file ends. Its own manager shares memory out among all writers of a process,
 * so that the stripes of a file would depend on who else writes.
 */
final private class StripeEnds extends MemoryManager {

  /** Whether the stripe ends with the next batch, however short it is. */
  var now = false

  override def checkMemory(previous: Long, writer: MemoryManager.Callback): Long = {
    writer.checkMemory(if (now) 0.0 else 1.0)
    now = false
    previous
  }

  override def addWriter(path: Path, requestedAllocation: Long, callback: MemoryManager.Callback): Unit = ()
  override def removeWriter(path: Path): Unit = ()
  override def addedRow(rows: Int): Unit = ()
}
