package iceberglite.scan

import iceberglite.spec.{Content, ManifestEntry, ManifestFile, PartitionSpec, PartitionTuple}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.tree.{InParallel, MetadataTree}

/**
 * Finds the delete files that speak of a plan's files (spec: "Scan Planning"). This release does not apply them, so it
 * refuses to read the files rather than bring deleted rows back.
 */
final private[scan] class RowDeletes(table: String, specs: Map[Int, PartitionSpec], tree: MetadataTree) {

  /** @throws Unsupported where a delete file applies to a planned file */
  def refuse(tasks: Vector[FileScanTask], deletes: Vector[ManifestFile]): Unit = {
    val targets = new Targets(tasks)
    val count = InParallel.map(deletes)(m => tree.entries(m).count(e => e.isLive && targets.areTouched(e))).sum
    if (count > 0) throw Unsupported(
      s"row-level deletes: $count of the delete files of $table apply to files that this query reads",
      "Rewrite the table with an engine that applies them (rewrite_data_files), then read it again"
    )
  }

  /** The oldest planned data of each partition: a delete file applies to data that is older than it is. */
  final private class Targets(tasks: Vector[FileScanTask]) {
    private val oldest: Map[(Int, PartitionTuple), Long] =
      tasks.groupBy(t => (t.spec.specId, t.file.partition)).mapValues(_.map(_.dataSequenceNumber).min).map(identity)
    private val oldestOfAll: Long = tasks.map(_.dataSequenceNumber).min
    private lazy val paths: Map[String, Long] = tasks.map(t => t.file.path -> t.dataSequenceNumber).toMap

    def areTouched(e: ManifestEntry): Boolean = {
      val number = e.sequenceNumber.getOrElse(0L)
      val inPartition = oldest.get((e.file.specId, e.file.partition))
      e.file.content match {
        // One of an unpartitioned spec applies to all partitions.
        case Content.EqualityDeletes if specs.get(e.file.specId).forall(!_.isPartitioned) => oldestOfAll < number
        case Content.EqualityDeletes => inPartition.exists(_ < number)
        case Content.PositionDeletes =>
          e.file.referencedDataFile.fold(inPartition.exists(_ <= number))(paths.get(_).exists(_ <= number))
        case Content.Data => false
      }
    }
  }
}
