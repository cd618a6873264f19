package iceberglite.maintenance.compact

import scala.collection.mutable

import iceberglite.scan.FileFilter
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry, Metrics}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.Table
import iceberglite.tree.{FilePart, MetadataPool, MetadataTree}

/**
 * Position delete files of one partition that are rewritten together.
 *
 * @param specId the partition spec of the files and of the new files
 * @param partition the partition of the files and of the new files
 * @param deletes position delete files without metrics; none of them is a deletion vector
 */
final case class PositionDeleteGroup(
    specId: Int,
    partition: PartitionTuple,
    deletes: Vector[DeleteFile],
    override val reason: String
) extends RewriteGroup {

  override def files: Int = deletes.size

  override def bytes: Long = deletes.iterator.map(_.file.fileSizeInBytes).sum

  /** The number of deleted positions. A position that several files contain is counted several times. */
  def positions: Long = deletes.iterator.map(_.file.recordCountOrZero).sum
}

/** Chooses the position delete files to rewrite, by the rules of Apache Iceberg. */
object PositionDeleteGroup {

  /**
   * Returns the groups of a snapshot's position delete files that are worth rewriting. The delete manifests are read
   * once; memory use depends on the number of position delete files and not on the number of data files.
   *
   * In format version 3 and later, all position delete files of a partition form one group, regardless of their sizes:
   * the deletion vector of a data file must contain the deletes of all position delete files (spec version 3: "Deletion
   * vectors").
   *
   * @param where a condition: only delete files of partitions that may have a matching row are chosen
   */
  def plan(
      table: Table,
      snapshot: Snapshot,
      where: Expression,
      options: GroupOptions,
      caseSensitive: Boolean = true
  ): Vector[PositionDeleteGroup] = {
    val tree = MetadataTree.at(snapshot, table.tree())
    val filter = new FileFilter(Bind(where, table.schema, caseSensitive), table.tree().specs)
    val parts =
      tree.parts.filter(p => p.content == ManifestContent.Deletes && p.hasLiveFiles && filter.mightMatch(p))
    val becomeVectors = table.metadata.formatVersion >= FormatVersion.V3
    val isChosen: ContentFile => Boolean = file => becomeVectors || options.isChosen(file.fileSizeInBytes)
    val limits =
      if (becomeVectors) options.copy(maxGroupSize = Long.MaxValue, maxGroupFiles = Long.MaxValue) else options
    val found = MetadataPool.map(parts)(part => inPartitions(part, tree.entries(part), filter, isChosen)).flatten
    val byPartition =
      mutable.LinkedHashMap.empty[(Int, PartitionTuple), mutable.Builder[DeleteFile, Vector[DeleteFile]]]
    found.foreach { delete =>
      byPartition.getOrElseUpdate((delete.file.specId, delete.file.partition), Vector.newBuilder) += delete
    }
    options.sorted(byPartition.iterator.flatMap { case ((specId, partition), deletes) =>
      limits.divide(deletes.result())(_.file.fileSizeInBytes).flatMap { group =>
        limits.reasonFor(group.size.toLong, group.iterator.map(_.file.fileSizeInBytes).sum)
          .map(PositionDeleteGroup(specId, partition, group, _))
      }
    }.toVector)
  }

  private def inPartitions(
      part: FilePart,
      entries: Iterator[ManifestEntry],
      filter: FileFilter,
      isChosen: ContentFile => Boolean
  ): Vector[DeleteFile] = {
    val partitions = filter.of(part).byPartition
    entries.filter { e =>
      e.isLive && e.file.content == Content.PositionDeletes && !e.file.isDeletionVector && isChosen(e.file) &&
      !partitions.of(e.file.partition).isEmpty
    }.map(e => DeleteFile(e.file.copy(metrics = Metrics.Empty), e.sequenceNumber.getOrElse(0L), Vector.empty)).toVector
  }
}
