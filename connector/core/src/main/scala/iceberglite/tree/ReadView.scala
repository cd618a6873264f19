package iceberglite.tree

import java.util.HashMap

import iceberglite.spec.{Content, ManifestEntry, PartitionTuple}

/** Lets the files of one partition share one tuple. */
final private[tree] class SharedTuples {
  private val tuples = new HashMap[PartitionTuple, PartitionTuple]

  def in(entry: ManifestEntry): ManifestEntry = {
    val own = entry.file.partition
    val first = tuples.computeIfAbsent(own, _ => own)
    if (first eq own) entry else entry.copy(file = entry.file.copy(partition = first))
  }
}

/** Gives the files of a manifest their first row ids, in its order (adopted version 3: "Row lineage"). */
final private[tree] class RowIds(first: Option[Long]) {
  private var next = first

  def in(e: ManifestEntry): ManifestEntry =
    if (e.file.content != Content.Data || !e.isLive || e.file.firstRowId.isDefined || !e.file.hasRecordCount) e
    else {
      val given = e.copy(file = e.file.copy(firstRowId = next))
      next = next.map(_ + e.file.recordCount)
      given
    }
}
