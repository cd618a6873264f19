package iceberglite.maintenance.compact

import scala.collection.mutable

import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, In, IsNull}
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestContent}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{Identity, PartitionField, PartitionTuple}
import iceberglite.spec.types.Literal
import iceberglite.table.Table
import iceberglite.tree.{MetadataPool, MetadataTree, PartFilter, FilePartitions, SnapshotFiles}

/** The partitions of the current partition spec to which a snapshot has added files and which have many small files. */
final class PartitionsWithSmallFiles private (table: Table, val tuples: Set[PartitionTuple]) {

  /** Returns whether the files of a group are in one of the partitions. */
  def contains(group: FileGroup): Boolean = group.partition.exists(tuples)

  /**
   * A condition that all rows of the partitions satisfy. The condition limits the manifests that scan planning reads.
   */
  def where: Expression = table.spec.fields.zipWithIndex.map { case (field, i) =>
    conditionOf(field, tuples.map(_.values(i)))
  }.foldLeft[Expression](AlwaysTrue)(Expression.and)

  private def conditionOf(partitionField: PartitionField, values: Set[Option[Literal]]): Expression =
    table.schema.byId.get(partitionField.sourceId).filter(_ => partitionField.transform == Identity) match {
      case Some(field) if values.flatten.forall(v => v.dataType == field.fieldType && !isNan(v)) =>
        val term = Term.Bound(field, field.name)
        val isNull = if (values.contains(None)) IsNull(term) else AlwaysFalse
        val ordinary = values.flatten
        Expression.or(if (ordinary.nonEmpty) In(term, ordinary) else AlwaysFalse, isNull)
      case _ => AlwaysTrue
    }

  private def isNan(value: Literal): Boolean = value match {
    case Literal.FloatLiteral(v) => v.isNaN
    case Literal.DoubleLiteral(v) => v.isNaN
    case _ => false
  }
}

object PartitionsWithSmallFiles {

  /**
   * The maximum number of partitions. It limits the memory and the time that are needed after a write to very many
   * partitions.
   */
  private val MaxPartitions = 1000

  /**
   * Returns the partitions with at least `min-input-files` small files, and with at least two even if this option is 1.
   * If the snapshot has added files to very many partitions, only some of these partitions are examined.
   *
   * @param snapshot the head of a branch
   * @param options the options of a rewrite whose output partition spec is the current partition spec
   */
  def of(table: Table, snapshot: Snapshot, options: RewriteOptions): PartitionsWithSmallFiles = {
    val tree = MetadataTree.at(snapshot, table.tree())
    val touched = mutable.LinkedHashMap.empty[PartitionTuple, ContentFile]
    tree.changes(PartFilter.All)
      .filter(entry => entry.status == EntryStatus.Added && entry.file.specId == options.outputSpecId)
      .takeWhile(_ => touched.size < MaxPartitions).foreach { entry =>
        touched.getOrElseUpdate(entry.file.partition, entry.file)
      }
    val counts = smallFiles(table, tree, touched.toMap, options)
    new PartitionsWithSmallFiles(table, counts.filter(_._2 >= math.max(2, options.group.minInputFiles)).keySet)
  }

  /** Returns the number of live small files in each of the partitions. */
  private def smallFiles(
      table: Table,
      tree: SnapshotFiles,
      touched: Map[PartitionTuple, ContentFile],
      options: RewriteOptions
  ): Map[PartitionTuple, Int] = {
    val partitions = new FilePartitions(touched.values.toVector, table.metadata)
    val parts = tree.parts.filter(p => p.content == ManifestContent.Data && p.hasLiveFiles && partitions.mightMatch(p))
    MetadataPool.map(parts) { part =>
      val counts = mutable.HashMap.empty[PartitionTuple, Int]
      tree.entries(part).filter(e => e.isLive && e.file.fileSizeInBytes < options.group.minFileSize).foreach { entry =>
        val tuple = entry.file.partition
        if (entry.file.specId == options.outputSpecId && touched.contains(tuple))
          counts(tuple) = counts.getOrElse(tuple, 0) + 1
      }
      counts
    }.flatten.groupBy(_._1).map { case (tuple, ofParts) => tuple -> ofParts.map(_._2).sum }
  }
}
