package iceberglite.tree

import java.util.HashMap

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.PartitionTuple

/** Replaces equal partition tuples with a shared instance. */
final private[tree] class SharedTuples {
  private val tuples = new HashMap[PartitionTuple, PartitionTuple]

  def share(entry: ManifestEntry): ManifestEntry = {
    val first = share(entry.file.partition)
    if (first eq entry.file.partition) entry else entry.copy(file = entry.file.copy(partition = first))
  }

  def share(tuple: PartitionTuple): PartitionTuple = {
    val first = tuples.putIfAbsent(tuple, tuple)
    if (first eq null) tuple else first
  }
}
