package iceberglite.tree

import java.util.HashMap

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.PartitionTuple

/**
 * Replaces equal partition tuples with a shared instance. If there are more than [[SharedTuples.MaxTuples]] different
 * tuples, not all equal tuples are shared, so that a manifest of many partitions needs no memory for all of them.
 */
final private[tree] class SharedTuples {
  import SharedTuples._

  private val tuples = new HashMap[PartitionTuple, PartitionTuple]

  def share(entry: ManifestEntry): ManifestEntry = {
    val first = share(entry.file.partition)
    if (first eq entry.file.partition) entry else entry.copy(file = entry.file.copy(partition = first))
  }

  def share(tuple: PartitionTuple): PartitionTuple = {
    if (tuples.size >= MaxTuples) tuples.clear()
    val first = tuples.putIfAbsent(tuple, tuple)
    if (first eq null) tuple else first
  }
}

private[tree] object SharedTuples {
  private val MaxTuples = 10000
}
