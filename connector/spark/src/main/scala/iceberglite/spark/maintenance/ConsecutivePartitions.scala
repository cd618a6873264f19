package iceberglite.spark.maintenance

import org.apache.spark.rdd.{PartitionCoalescer, PartitionGroup, RDD}

/**
 * Combines consecutive partitions of an RDD, in their order, so that each new partition has about the same number of
 * old partitions.
 */
private[maintenance] object ConsecutivePartitions extends PartitionCoalescer with Serializable {
  override def coalesce(maxPartitions: Int, parent: RDD[_]): Array[PartitionGroup] = {
    val partitions = parent.partitions
    val count = math.max(1, math.min(maxPartitions, partitions.length))
    Array.tabulate(count) { i =>
      val group = new PartitionGroup()
      val (start, end) = (i.toLong * partitions.length / count, (i + 1L) * partitions.length / count)
      group.partitions ++= partitions.slice(start.toInt, end.toInt)
      group
    }
  }
}
