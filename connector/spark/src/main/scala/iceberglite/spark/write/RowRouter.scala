package iceberglite.spark.write

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.PartitionTuple

/** Sends each row to the file that it belongs in. */
private[write] trait RowRouter extends AutoCloseable {
  def put(row: InternalRow): Unit

  /** Completes the files that are open. */
  def finish(): Unit

  /** Gives back what it holds besides files. */
  override def close(): Unit = ()
}

/** Of a spec without partitions. */
final private[write] class SingleRouter(files: TaskFiles) extends RowRouter {
  private val all = files.partition(PartitionTuple.Empty)

  override def put(row: InternalRow): Unit = all.write(row)

  override def finish(): Unit = all.finish()
}

/**
 * For rows that come partition by partition. Where a partition comes again after another one it gets another file,
 * which is right all the same.
 */
final private[write] class ClusteredRouter(files: TaskFiles, partitioner: Partitioner) extends RowRouter {
  private val next = partitioner.newKey()
  private var key = next
  private var current: Option[TaskFiles#PartitionFiles] = None

  override def put(row: InternalRow): Unit = {
    partitioner.read(row, next)
    current match {
      case Some(partition) if next == key => partition.write(row)
      case _ =>
        finish()
        key = next.retained
        val partition = files.partition(partitioner.tuple(key))
        current = Some(partition)
        partition.write(row)
    }
  }

  override def finish(): Unit = {
    current.foreach(_.finish())
    current = None
  }
}
