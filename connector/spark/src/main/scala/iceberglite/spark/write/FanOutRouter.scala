package iceberglite.spark.write

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spark.write.partition.{PartitionKey, Partitioner}

/**
 * The limits for the open files of a task.
 *
 * @param files maximum number of open files
 * @param bytes approximate maximum number of bytes that the open files buffer in memory
 */
final private[write] case class FanOutBounds(files: Int, bytes: Long)

private[write] object FanOutBounds {

  /**
   * The maximum number of open files of a task. With one task per core, the number of open files on an executor remains
   * below the usual limit for a process.
   */
  private val MaxFiles = 64
  private val HeapDivisor = 4L

  /**
   * Returns the limits. Together, the tasks of an executor may buffer a quarter of the heap, but each task may buffer
   * at least one row group, stripe or block.
   *
   * @param unitSize the size of a row group, stripe or block, in bytes
   */
  def of(unitSize: Long): FanOutBounds = {
    val runtime = Runtime.getRuntime
    FanOutBounds(MaxFiles, math.max(unitSize, runtime.maxMemory / HeapDivisor / runtime.availableProcessors))
  }
}

/**
 * Routes rows that come in any order: one file is open for each partition. If there are more partitions than
 * [[FanOutBounds.files]], the rows of the further partitions are sorted with Spark's external sorter, and written at
 * the end, one partition after the other. Therefore, each task writes only one file for each partition, unless the file
 * reaches its target size. The memory of a task is limited to the buffers of the open files and to one sort.
 */
final private[write] class FanOutRouter(
    files: TaskFiles,
    partitioner: Partitioner,
    bounds: FanOutBounds,
    newOverflow: () => RowOverflow
) extends RowRouter {

  final private class OpenPartition(val key: PartitionKey, val partition: TaskFiles#PartitionFiles) {
    var buffered = 0L
  }

  private val openPartitions = new util.HashMap[PartitionKey, OpenPartition]
  private val nextKey = partitioner.newKey()

  /** The open partition of the previous row; null before the first row. */
  private var current: OpenPartition = _
  private var buffered = 0L
  private var overflow: Option[Overflow] = None

  override def put(row: InternalRow): Unit = {
    partitioner.read(row, nextKey)
    if (current != null && nextKey == current.key) write(current, row) else switchTo(row)
  }

  /** Writes a row whose partition differs from the partition of the previous row. */
  private def switchTo(row: InternalRow): Unit = openPartitions.get(nextKey) match {
    case null if openPartitions.size >= bounds.files => getOrCreateOverflow.put(nextKey, row)
    case null =>
      val key = nextKey.retained
      current = new OpenPartition(key, files.partition(partitioner.tuple(key)))
      openPartitions.put(key, current)
      write(current, row)
    case existing =>
      current = existing
      write(existing, row)
  }

  private def write(entry: OpenPartition, row: InternalRow): Unit = {
    entry.partition.write(row)
    val bufferedBytes = entry.partition.buffered
    if (bufferedBytes != entry.buffered) {
      buffered += bufferedBytes - entry.buffered
      entry.buffered = bufferedBytes
      if (buffered > bounds.bytes) flushLargest()
    }
  }

  private def flushLargest(): Unit = {
    val largest = openPartitions.values.asScala.maxBy(_.buffered)
    largest.partition.flush()
    buffered -= largest.buffered
    largest.buffered = 0
  }

  private def getOrCreateOverflow: Overflow = overflow.getOrElse {
    val newRows = new Overflow(newOverflow())
    overflow = Some(newRows)
    newRows
  }

  override def finish(): Unit = {
    openPartitions.values.asScala.foreach(_.partition.finish())
    openPartitions.clear()
    current = null
    overflow.foreach(_.drain())
  }

  override def close(): Unit = overflow.foreach(_.rows.close())

  /** The rows of partitions without an open file. */
  final private class Overflow(val rows: RowOverflow) {
    private val ordinals = new util.HashMap[PartitionKey, Integer]

    def put(key: PartitionKey, row: InternalRow): Unit = {
      val ordinal = ordinals.get(key) match {
        case null =>
          val newOrdinal: Integer = ordinals.size
          ordinals.put(key.retained, newOrdinal)
          newOrdinal
        case existing => existing
      }
      rows.put(ordinal.longValue, row)
    }

    def drain(): Unit = {
      val clustered = new ClusteredRouter(files, partitioner)
      rows.sorted.foreach(clustered.put)
      clustered.finish()
    }
  }
}
