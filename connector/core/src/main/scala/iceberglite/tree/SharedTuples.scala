package iceberglite.tree

import java.util.HashMap

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.PartitionTuple

/** Replaces equal partition tuples with a shared instance. */
final private[tree] class SharedTuples {
  private val tuples = new HashMap[PartitionTuple, PartitionTuple]

  def share(entry: ManifestEntry): ManifestEntry = {
    val tuple = entry.file.partition
    val first = tuples.computeIfAbsent(tuple, _ => tuple)
    if (first eq tuple) entry else entry.copy(file = entry.file.copy(partition = first))
  }
}
