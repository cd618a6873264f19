package iceberglite.table.action

import iceberglite.spec._
import iceberglite.table.{CommitContext, Destination, Isolation, SnapshotSummary}
import iceberglite.tree.{FileChanges, WrittenTree}

/**
 * Puts new files in the place of all files of the partitions that they are in (INSERT OVERWRITE with
 * `partitionOverwriteMode=dynamic`). Files of another partition spec stay, as with Apache Iceberg; in a table without
 * partitions everything is replaced. Where there are no new files, nothing is committed.
 */
final class ReplacePartitions(
    added: Vector[ContentFile],
    isolation: Option[Isolation] = None,
    to: Destination = Destination.Main
) extends SnapshotAction(to) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val partitions = new ReplacedPartitions(added, base)
    isolation.foreach(_.check(base, parent, context, partitions))
    FileChanges(added, Removal.of(partitions))
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Overwrite

  override protected def summary: Map[String, String] = Map(SnapshotSummary.ReplacePartitions -> "true")

  override protected def commitsEmpty: Boolean = false
}
