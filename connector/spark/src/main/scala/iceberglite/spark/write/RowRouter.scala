package iceberglite.spark.write

import org.apache.spark.sql.catalyst.InternalRow

import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.partition.PartitionTuple

/** Routes each row to its file. */
private[write] trait RowRouter extends AutoCloseable {

  /** Writes a row to the file of its partition. */
  def put(row: InternalRow): Unit

  /** Completes the open files. */
  def finish(): Unit

  /** Releases resources other than files. */
  override def close(): Unit = ()
}

/** The router of an unpartitioned table. */
final private[write] class SingleRouter(files: TaskFiles) extends RowRouter {
  private val partition = files.partition(PartitionTuple.Empty)

  override def put(row: InternalRow): Unit = partition.write(row)

  override def finish(): Unit = partition.finish()
}

/**
 * The router for rows that are clustered by partition. If the rows of a partition are not consecutive, several files
 * are created for the partition, which is also correct.
 */
final private[write] class ClusteredRouter(files: TaskFiles, partitioner: Partitioner) extends RowRouter {
  private val nextKey = partitioner.newKey()
  private var currentKey = nextKey
  private var current: Option[TaskFiles#PartitionFiles] = None

  override def put(row: InternalRow): Unit = {
    partitioner.read(row, nextKey)
    current match {
      case Some(partition) if nextKey == currentKey => partition.write(row)
      case _ =>
        finish()
        currentKey = nextKey.retained
        val partition = files.partition(partitioner.tuple(currentKey))
        current = Some(partition)
        partition.write(row)
    }
  }

  override def finish(): Unit = {
    current.foreach(_.finish())
    current = None
  }
}
