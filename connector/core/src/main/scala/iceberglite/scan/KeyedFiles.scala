package iceberglite.scan

import iceberglite.spec.expr.{Bind, Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, GreaterThanOrEqual, IsNull, LessThanOrEqual}
import iceberglite.spec.file.{ColumnExtent, ColumnExtents, ContentFile, ManifestContent}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.tree.{MetadataTree, TreeTable}
import iceberglite.scan.deletes.DeleteIndex

/**
 * Finds the data files of a snapshot that may contain rows with given keys.
 *
 * @param snapshot the snapshot; absent for a table without snapshots, which has no files
 * @param keys equality delete files, not yet committed, whose rows are the keys. They apply to all data files of the
 *   snapshot or, if their partition spec is partitioned, to the data files in the same partition
 */
final class KeyedFiles(table: TreeTable, snapshot: Option[Snapshot], keys: Vector[ContentFile]) {

  /** A condition that all rows with one of the keys satisfy, according to the bounds of the keys. */
  val filter: Expression = {
    val ids = keys.flatMap(_.equalityIds).toSet
    val columns = table.schema.fields.filter(f => ids(f.id) && keys.forall(_.equalityIds.contains(f.id)))
      .filter(ColumnExtents.hasBounds)
    val extents = new ColumnExtents(columns)
    val ofFiles = keys.map(extents.of)
    columns.zipWithIndex.map { case (column, i) => KeyedFiles.range(column, ofFiles.map(_(i))) }
      .foldLeft[Expression](AlwaysTrue)(Expression.and)
  }

  /**
   * Returns the files, each once and with its position deletes, and with those of `keys` that may match its rows. Stops
   * reading the parts of the metadata tree (manifests in format versions 1 to 3) when the files found so far exceed the
   * limit.
   *
   * @return absent if the limit is exceeded, or if the table lists a file twice with different deletes
   */
  def tasks(limit: KeyedFiles.Limit): Option[Vector[FileScanTask]] = {
    val bound = Bind(filter, table.schema, caseSensitive = true)
    val reader = new PartReader(table, bound, AlwaysTrue, StatsToKeep.All)
    val (data, deletes) = snapshot.toVector.flatMap(MetadataTree.at(_, table).parts)
      .filter(p => p.hasLiveFiles && reader.mightMatch(p)).partition(_.content == ManifestContent.Data)
    // Planning reads the deletes that are not older than the data files.
    val parts = data ++ deletes.filter(p => data.exists(_.minSequenceNumber <= p.sequenceNumber))
    val listed = parts.iterator.map(_.liveFiles.getOrElse(Long.MaxValue / parts.size)).sum
    if (listed > limit.planned) None
    else {
      val entries = keys.map(PartReader.entry(_, Long.MaxValue))
      val keysOf = DeleteIndex.of(entries, table.metadata.specsById, reader.keys).lookup
      def sizeOf(task: FileScanTask) =
        if (keysOf(task.file, task.dataSequenceNumber).isEmpty) 0L else limit.sizeOf(task)
      // Planning with a target can stop early, but reads fewer manifests in parallel. Therefore, a target is set only
      // if the listed files could exceed the limit.
      val target = Some(PlanTarget(limit.bytes + 1, sizeOf)).filter(_ => listed > limit.maxFiles)
      val scan = TableScan(table, snapshot, bound, caseSensitive = true)
      val tasks = scan.copy(wholeFiles = true, statsToKeep = StatsToKeep.Of(keys.flatMap(_.equalityIds).toSet))
        .planUntil(target).tasks
      if (tasks.iterator.map(sizeOf).sum > limit.bytes) None
      else FileScanTask.onePerFile(tasks.flatMap { task =>
        val found = keysOf(task.file, task.dataSequenceNumber)
        if (found.isEmpty) None else Some(task.copy(deletes = task.deletes.filterNot(_.isEquality) ++ found))
      })
    }
  }
}

object KeyedFiles {

  /**
   * The limit of a search.
   *
   * @param planned the maximum number of data and delete files in the parts of the metadata tree that must be read
   * @param bytes the maximum size of the found files
   * @param openCost the size that a smaller file counts as. It represents the cost of opening a file
   */
  final case class Limit(planned: Long, bytes: Long, openCost: Long) {
    def sizeOf(task: FileScanTask): Long = math.max(task.length, openCost)

    /** The maximum number of found files. */
    def maxFiles: Long = bytes / openCost
  }

  /** Returns the condition that a value is within the bounds of all key files together, or null if a key can be. */
  private def range(column: NestedField, extents: Vector[ColumnExtent]): Expression = {
    val term = Term.Bound(column, column.name)
    val (lower, upper) = (extents.map(_.lower), extents.map(_.upper))
    val atLeast =
      if (lower.forall(_.isDefined)) GreaterThanOrEqual(term, lower.flatten.min(Literal.ordering)) else AlwaysTrue
    val atMost =
      if (upper.forall(_.isDefined)) LessThanOrEqual(term, upper.flatten.max(Literal.ordering)) else AlwaysTrue
    val between = Expression.and(atLeast, atMost)
    if (extents.exists(_.mayBeNull)) Expression.or(between, IsNull(term)) else between
  }
}
