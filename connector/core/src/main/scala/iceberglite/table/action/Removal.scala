package iceberglite.table.action

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec._
import iceberglite.table.{CommitContext, ConflictFilter, DeleteApplicability}
import iceberglite.tree.{FileSelector, WrittenTree}

/**
 * Takes files out of a snapshot. The deletes that then speak of nothing go by themselves: the tree sees to it.
 *
 * @param concern finds the parts that may list such files
 * @param removesData whether a data file goes
 * @param removesDeletes whether a delete file goes, whatever data files do
 */
final private[action] class Removal(
    concern: ConflictFilter,
    removesData: ManifestEntry => Boolean,
    removesDeletes: ManifestEntry => Boolean
) extends FileSelector {

  override def mightMatch(part: PartSummary): Boolean = part.hasLiveFiles && concern.mightMatch(part)

  override def removes(entry: ManifestEntry): Boolean =
    if (entry.file.content == Content.Data) removesData(entry) else removesDeletes(entry)
}

private[action] object Removal {

  /** Spec, "Snapshots": what a snapshot that may add and may remove is called. */
  def operation(tree: WrittenTree): Operation =
    if (tree.removed.isEmpty && tree.added.forall(_.content == Content.Data)) Operation.Append
    else if (tree.added.isEmpty) Operation.Delete
    else Operation.Overwrite

  /**
   * The files all of whose rows match.
   *
   * @param verb of messages: `delete`
   */
  def matching(rows: RowFilter, verb: String, context: CommitContext): FileSelector = {
    def removesData(entry: ManifestEntry): Boolean = rows.matches(entry) match {
      case Match.All => true
      case Match.None => false
      case Match.Some => throw ValidationFailed(
          s"Cannot $verb rows of ${context.table} ${rows.description}: file ${entry.file.path} may also have rows " +
            "that do not match. Delete single rows with DELETE, or use a condition that whole files satisfy, such as one " +
            "on the columns that the table is partitioned by"
        )
    }
    new Removal(rows, removesData, rows.matches(_) == Match.All)
  }

  /** The files of certain partitions. */
  def of(replaced: ReplacedPartitions): FileSelector = new Removal(replaced, replaced.holds, replaced.holds)
}

/** The partitions that new files take the place of; a spec without partitions stands for the whole table. */
final private[action] class ReplacedPartitions(files: Vector[ContentFile], base: TableMetadata) extends ConflictFilter {
  private val partitions = new Partitions(files, base)

  /** Whether they are all there are. */
  val areAll: Boolean = files.exists(f => !base.specsById(f.specId).isPartitioned)

  /** Whether the file goes. */
  def holds(entry: ManifestEntry): Boolean = areAll || partitions.holds(entry.file)

  override def mightMatch(part: PartSummary): Boolean =
    areAll || partitions.mightMatch(part) || DeleteApplicability.mayBeGlobal(part, base)

  /** Equality deletes of a spec without partitions may delete rows of any partition, and stay when one is replaced. */
  override def mightMatch(entry: ManifestEntry): Boolean =
    holds(entry) || DeleteApplicability.isGlobal(entry.file, base)

  override def description: String = "in the partitions that are replaced"
}
