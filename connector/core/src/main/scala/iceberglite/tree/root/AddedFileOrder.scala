package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.types.{Literal, SingleValue}
import iceberglite.tree.PartitionOrdering

/**
 * The order of the files that a commit adds in several leaves. Each leaf then lists files with similar values, so that
 * scans skip more leaves.
 *
 * @param sortOrder the sort order of the table
 */
final private[root] class AddedFileOrder(columns: StatsColumns, sortOrder: SortOrder) {
  import AddedFileOrder._

  /**
   * Returns files of one partition spec by partition and, within a partition, by their lower bounds of a column. This
   * is the first column whose values divide the files: the ranges of most files do not overlap with that of the next
   * file. Columns of the sort order come first. If there is no such column, the files of a partition keep their order,
   * which may be that of a column without statistics.
   */
  def sort(entries: Vector[ManifestEntry]): Vector[ManifestEntry] = {
    val order = new PartitionOrdering(entries.head.file.partition.values.indices.toVector)
    val byPartition = entries.groupBy(_.file.partition)
    val groups = entries.map(_.file.partition).distinct.sorted(order).map(byPartition)
    columnOf(groups).fold(groups)(column => groups.map(sortedBy(column))).flatten
  }

  private def columnOf(groups: Vector[Vector[ManifestEntry]]): Option[StatsColumn] = {
    val identities = columns.identities(groups.head.head.file.specId)
    val candidates = columns.all.filter(c => c.isColumn && c.boundType.isDefined && !identities(c.id))
    val sample = sampleOf(groups)
    val sorted = sortOrder.fields.filter(_.transform.preservesOrder).flatMap(f => candidates.find(_.id == f.sourceId))
    (sorted ++ candidates).find(divides(_, sample))
  }

  /** Returns some files of each of the first partitions, so that the choice of a column takes little time. */
  private def sampleOf(groups: Vector[Vector[ManifestEntry]]): Vector[Vector[ManifestEntry]] =
    groups.take(SampledPartitions).map { group =>
      val step = math.max(1, group.size / SampledFiles)
      group.indices.by(step).map(group).toVector
    }

  private def divides(column: StatsColumn, groups: Vector[Vector[ManifestEntry]]): Boolean = {
    val pairs = groups.flatMap { group =>
      val sorted = sortedBy(column)(group)
      sorted.zip(sorted.drop(1))
    }
    val divided = pairs.count { case (a, b) =>
      (for (end <- upper(column)(a); start <- lower(column)(b)) yield Literal.ordering.lt(end, start)).contains(true)
    }
    2 * divided > pairs.size
  }

  private def sortedBy(column: StatsColumn)(group: Vector[ManifestEntry]): Vector[ManifestEntry] =
    group.map(e => lower(column)(e) -> e).sortBy(_._1)(PartitionOrdering.Values).map(_._2)

  private def lower(column: StatsColumn)(e: ManifestEntry): Option[Literal] =
    decode(column, e.file.metrics.lowerBound(column.id))

  private def upper(column: StatsColumn)(e: ManifestEntry): Option[Literal] =
    decode(column, e.file.metrics.upperBound(column.id))

  private def decode(column: StatsColumn, bound: Option[ByteBuffer]): Option[Literal] =
    for (t <- column.boundType; bytes <- bound; value <- SingleValue.decodeValid(t, bytes)) yield value
}

private object AddedFileOrder {
  private val SampledPartitions = 20
  private val SampledFiles = 50
}
