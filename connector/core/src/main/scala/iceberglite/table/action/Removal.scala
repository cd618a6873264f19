package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.{Operation, TableMetadata}
import iceberglite.table.CommitContext
import iceberglite.table.conflict.{ConflictFilter, DeleteApplicability}
import iceberglite.tree.{FileSelector, FilePartitions, WrittenTree}

/**
 * Selects the files that a commit removes from a snapshot. The metadata tree also removes delete files that become
 * obsolete because of these removals.
 *
 * @param filter accepts the parts of the metadata tree (manifests in format versions 1 to 3) that may list files to
 *   remove
 * @param removesData returns whether to remove a data file
 * @param removesDeletes returns whether to remove a delete file, regardless of the data files that it applies to
 */
final private[action] class Removal(
    filter: ConflictFilter,
    removesData: ManifestEntry => Boolean,
    removesDeletes: ManifestEntry => Boolean
) extends FileSelector {

  override def mightMatch(part: PartSummary): Boolean = part.hasLiveFiles && filter.mightMatch(part)

  override def removes(entry: ManifestEntry): Boolean =
    if (entry.file.content == Content.Data) removesData(entry) else removesDeletes(entry)
}

private[action] object Removal {

  /** Returns the operation of a snapshot that may add and remove files (spec: "Snapshots"). */
  def operation(tree: WrittenTree): Operation =
    if (tree.removed.isEmpty && tree.added.forall(_.content == Content.Data)) Operation.Append
    else if (tree.added.isEmpty) Operation.Delete
    else Operation.Overwrite

  /**
   * Selects the files in which all rows match. The selection fails if, according to its partition and metrics, a data
   * file may contain both rows that match and rows that do not.
   *
   * @param verb the operation on the rows, for messages, such as `delete`
   */
  def matching(rows: RowFilter, verb: String, context: CommitContext): FileSelector = {
    def removesData(entry: ManifestEntry): Boolean = rows.matches(entry) match {
      case RowMatch.AllRows => true
      case RowMatch.NoRows => false
      case RowMatch.SomeRows => throw ValidationFailed(
          s"Cannot $verb rows of ${context.table} ${rows.description}: file ${entry.file.path} may also have rows " +
            "that do not match. Delete single rows with DELETE, or use a condition that all rows of each file " +
            "satisfy, such as a condition on the columns that the table is partitioned by"
        )
    }
    new Removal(rows, removesData, rows.matches(_) == RowMatch.AllRows)
  }

  /** Selects the files of the replaced partitions. */
  def of(replaced: ReplacedPartitions): FileSelector = new Removal(replaced, replaced.contains, replaced.contains)
}

/** The partitions that new files replace. If a new file has an unpartitioned spec, the whole table is replaced. */
final private[action] class ReplacedPartitions(files: Vector[ContentFile], base: TableMetadata) extends ConflictFilter {
  private val partitions = new FilePartitions(files, base)

  /** Whether the whole table is replaced. */
  val isWholeTable: Boolean = files.exists(f => !base.specsById(f.specId).isPartitioned)

  /** Returns whether the file is removed. */
  def contains(entry: ManifestEntry): Boolean = isWholeTable || partitions.contains(entry.file)

  override def mightMatch(part: PartSummary): Boolean =
    isWholeTable || partitions.mightMatch(part) || DeleteApplicability.mayBeGlobal(part, base)

  /**
   * Returns whether a file is removed, or has equality deletes of an unpartitioned spec. Such equality deletes are not
   * removed when a partition is replaced, but they may delete rows of any partition.
   */
  override def mightMatch(entry: ManifestEntry): Boolean =
    contains(entry) || DeleteApplicability.isGlobal(entry.file, base)

  override def description: String = "in the partitions that are replaced"
}
