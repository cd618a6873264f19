package iceberglite.spark.write

import java.nio.ByteBuffer

import org.apache.spark.sql.connector.write.WriterCommitMessage

import iceberglite.spark.write.files.FinishedFile
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition.{PartitionTuple, SortOrder}
import iceberglite.spec.types.{PrimitiveType, SingleValue, Type}

/** The result of a task for the driver: its files, and the counts of changed rows, if available. */
final private[iceberglite] class WrittenFiles(val files: Array[WrittenFile], val counts: RowCounts)
    extends WriterCommitMessage

/**
 * A data file, in a form that is sent to the driver. Bytes are arrays, because `ByteBuffer` is not serializable.
 *
 * @param partition the values of the tuple as in Appendix D of the specification; null for null
 */
final private[iceberglite] case class WrittenFile(
    path: String,
    partition: Array[Array[Byte]],
    recordCount: Long,
    length: Long,
    splitOffsets: Array[Long],
    counts: Array[WrittenFile.Counts],
    lowerBounds: WrittenFile.Bounds,
    upperBounds: WrittenFile.Bounds,
    sorted: Boolean
) extends Serializable {

  /**
   * Returns the metadata of the file.
   *
   * @param partitionType of the spec, for the types of its values
   * @param sortOrderId the order of the files of a sorted write
   */
  def contentFile(
      format: FileFormat,
      specId: Int,
      partitionType: Type.StructType,
      sortOrderId: Int
  ): ContentFile = {
    val tuple = partition.toVector.zip(partitionType.fields).map { case (bytes, field) =>
      (Option(bytes), field.fieldType) match {
        case (Some(b), t: PrimitiveType) => Some(SingleValue.decode(t, ByteBuffer.wrap(b)))
        case _ => None
      }
    }
    ContentFile(
      content = Content.Data,
      path = path,
      format = format,
      specId = specId,
      partition = PartitionTuple(tuple),
      recordCount = recordCount,
      fileSizeInBytes = length,
      metrics = metrics,
      splitOffsets = splitOffsets.toVector,
      sortOrderId = Some(if (sorted) sortOrderId else SortOrder.Unsorted.orderId)
    )
  }

  private[iceberglite] def metrics: Metrics = {
    val Array(sizes, values, nulls, nans) = counts.map(_.toMap)
    MetricMaps(sizes, values, nulls, nans, lowerBounds.toMap, upperBounds.toMap)
  }
}

private[iceberglite] object WrittenFile {

  /** A map of a file's metrics, which may be absent as a whole. */
  final case class Counts(present: Boolean, ids: Array[Int], numbers: Array[Long]) {
    def toMap: Option[Map[Int, Long]] = if (present) Some(ids.zip(numbers).toMap) else None
  }

  final case class Bounds(present: Boolean, ids: Array[Int], values: Array[Array[Byte]]) {
    def toMap: Option[Map[Int, ByteBuffer]] =
      if (present) Some(ids.zip(values.map(ByteBuffer.wrap)).toMap) else None
  }

  def of(path: String, partition: PartitionTuple, file: FinishedFile, sorted: Boolean): WrittenFile = {
    val m = file.metrics
    WrittenFile(
      path,
      partition.values.map(_.map(v => bytes(SingleValue.encode(v))).orNull).toArray,
      file.recordCount,
      file.length,
      file.splitOffsets.toArray,
      Array(m.columnSizes, m.valueCounts, m.nullValueCounts, m.nanValueCounts).map(counts),
      bounds(m.lowerBounds),
      bounds(m.upperBounds),
      sorted
    )
  }

  private def counts(map: Option[Map[Int, Long]]): Counts = {
    val entries = map.fold(Array.empty[(Int, Long)])(_.toArray)
    Counts(map.isDefined, entries.map(_._1), entries.map(_._2))
  }

  private def bounds(map: Option[Map[Int, ByteBuffer]]): Bounds = {
    val entries = map.fold(Array.empty[(Int, ByteBuffer)])(_.toArray)
    Bounds(map.isDefined, entries.map(_._1), entries.map(e => bytes(e._2)))
  }

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(copy)
    copy
  }
}
