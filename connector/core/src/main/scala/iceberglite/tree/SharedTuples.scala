package iceberglite.tree

import java.util.HashMap

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.PartitionTuple

/** Makes the files of one partition share one tuple. */
final private[tree] class SharedTuples {
  private val tuples = new HashMap[PartitionTuple, PartitionTuple]

  def in(entry: ManifestEntry): ManifestEntry = {
    val own = entry.file.partition
    val first = tuples.computeIfAbsent(own, _ => own)
    if (first eq own) entry else entry.copy(file = entry.file.copy(partition = first))
  }
}
