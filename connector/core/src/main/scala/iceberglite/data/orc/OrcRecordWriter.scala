package iceberglite.data.orc

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{Locale, Properties}

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch
import org.apache.orc.{OrcConf, OrcFile, TypeDescription, Writer}

import iceberglite.data._
import iceberglite.spec.{FileFormat, NestedField, PrimitiveType, TableProperty}
import iceberglite.spec.MetricsMode.NoMetrics

/** Rows of one new file, collected into batches. */
final private[orc] class OrcRecordWriter private (
    target: DataTarget,
    storage: OrcStorage,
    writer: Writer,
    batch: VectorizedRowBatch
) extends RecordWriter {
  private val fields = new OrcSinks.Fields(target.schema.asStruct, Vector.empty)
  private val metrics = new RecordMetrics(target.schema, target.modes)

  /** What is in memory takes so much less in the file, as Apache Iceberg guesses. */
  private val MemoryShare = 0.2

  override def write(record: Record): Unit = {
    fields.put(batch.cols, batch.size, record)
    metrics.add(record)
    batch.size += 1
    if (batch.size == batch.getMaxSize) flush()
  }

  private def flush(): Unit = FileFaults.writing(target.path) {
    writer.addRowBatch(batch)
    batch.reset()
  }

  override def length: Long = storage.position + (writer.estimateMemory * MemoryShare).toLong

  override def close(): WrittenFile = FileFaults.writing(target.path) {
    if (batch.size > 0) flush()
    writer.close()
    WrittenFile(
      target.path,
      FileFormat.Orc,
      metrics.recordCount,
      storage.position,
      metrics.metrics(Some(columnSizes)),
      writer.getStripes.asScala.map(_.getOffset).toVector
    )
  }

  /** Of columns that are no structs, lists or maps; a variant has the bytes of its parts. */
  private def columnSizes: Map[Int, Long] = {
    val statistics = writer.getStatistics
    def sizes(t: TypeDescription): Seq[(Int, Long)] = OrcSchemas.idOf(t).flatMap(target.schema.byId.get) match {
      case Some(NestedField(id, _, _: PrimitiveType, _, _, _, _)) =>
        if (target.modes.of(id) == NoMetrics) Seq.empty
        else Seq(id -> (t.getId to t.getMaximumId).map(statistics(_).getBytesOnDisk).sum)
      case _ => Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(sizes)
    }
    sizes(writer.getSchema).toMap
  }

  override def abort(): Unit = {
    try writer.close()
    catch { case NonFatal(_) => () } // The file goes, whatever became of it.
    target.io.delete(target.path)
  }
}

private[orc] object OrcRecordWriter {
  def open(target: DataTarget): OrcRecordWriter = {
    val schema = OrcSchemas.of(target.schema)
    val batchSize = TableProperty.of(TableProperty.OrcBatchSize, target.properties)
    val storage = OrcStorage.toWrite(target.io, target.path)
    FileFaults.writing(target.path) {
      val options = OrcFile.writerOptions(settings(target.properties), storage.getConf).setSchema(schema)
        .fileSystem(storage).useUTCTimestamp(true)
      val writer = OrcFile.createWriter(new Path(target.path), options)
      target.keyValues.toVector.sorted.foreach { case (key, value) =>
        writer.addUserMetadata(key, ByteBuffer.wrap(value.getBytes(UTF_8)))
      }
      new OrcRecordWriter(target, storage, writer, schema.createRowBatch(batchSize))
    }
  }

  /** The table's properties in the library's words. @throws iceberglite.spec.IcebergError.InvalidArgument */
  private def settings(properties: Map[String, String]): Properties = {
    def of[A](property: TableProperty[A]): A = TableProperty.of(property, properties)
    val all = Seq(
      OrcConf.STRIPE_SIZE -> of(TableProperty.OrcStripeSize).toString,
      OrcConf.BLOCK_SIZE -> of(TableProperty.OrcBlockSize).toString,
      OrcConf.COMPRESS -> of(TableProperty.OrcCodec).toUpperCase(Locale.ROOT),
      OrcConf.COMPRESSION_STRATEGY -> of(TableProperty.OrcCompressionStrategy).toUpperCase(Locale.ROOT),
      OrcConf.BLOOM_FILTER_COLUMNS -> of(TableProperty.OrcBloomFilterColumns).getOrElse(""),
      OrcConf.BLOOM_FILTER_FPP -> of(TableProperty.OrcBloomFilterFpp).toString
    )
    val settings = new Properties
    all.foreach { case (key, value) => settings.setProperty(key.getAttribute, value) }
    settings
  }
}
