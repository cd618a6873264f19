package iceberglite.table.action

import iceberglite.spec.IcebergError.{Unsupported, ValidationFailed}
import iceberglite.spec.file.{ContentFile, ManifestContent}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.GeneratedColumn
import iceberglite.storage.{FileIO, StoragePath}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.table.conflict.BranchHistory
import iceberglite.tree.{FileChanges, PartFilter, WrittenTree}

/**
 * Adds data files that another program wrote, for example files of a Hive table. Unlike the files of a write, these
 * files are never deleted if the commit fails. A concurrent change conflicts only if it adds a CHECK constraint or a
 * generated column or, if `checksDuplicates` is true, the same files.
 *
 * @param checksDuplicates whether the commit fails if a file is already in the branch
 */
final class AddExistingFiles(
    added: Vector[ContentFile],
    checksDuplicates: Boolean,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    rejectUncheckedRows(base, context)
    if (checksDuplicates) checkDuplicates(base, parent, context)
    FileChanges(added)
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Append

  /** The rows of the files are not read, so that constraints and generated columns cannot be checked. */
  private def rejectUncheckedRows(base: TableMetadata, context: CommitContext): Unit = {
    GeneratedColumn.of(base.schema, base.properties).headOption.foreach { column =>
      throw Unsupported(
        s"adding files to ${context.table}, which has the generated column $column",
        "The rows of added files are not checked: insert the rows"
      )
    }
    CheckConstraint.of(base.properties).headOption.foreach { constraint =>
      throw Unsupported(
        s"adding files to ${context.table}, which has the CHECK constraint $constraint",
        "The rows of added files are not checked: insert the rows, or drop the constraint and add it again afterwards"
      )
    }
  }

  /** Every commit attempt checks the whole branch, so that files of concurrent commits are also found. */
  private def checkDuplicates(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): Unit = {
    val files = new PathSet(context.io, added.map(_.path))
    files.duplicates.headOption.foreach(path => fail(context, s"The file $path would be added more than once"))
    val found = new BranchHistory(base, parent, context)
      .liveEntries(ManifestContent.Data, PartFilter.All)(entry => files.contains(entry.file.path)).map(_.file.path)
    if (found.nonEmpty) {
      val examples = found.distinct.sorted.take(AddExistingFiles.MaxPaths).mkString(", ")
      fail(context, s"${found.size} of the files are already in the table, for example $examples")
    }
  }

  private def fail(context: CommitContext, reason: String): Nothing = throw ValidationFailed(
    s"Cannot add files to ${context.table}: $reason. Their rows would be in the table more than once. To add them " +
      "anyway, set check_duplicate_files to false"
  )
}

private object AddExistingFiles {
  private[action] val MaxPaths = 5
}

/** A set of paths. Paths that spell the same location differently are equal. */
final private class PathSet(io: FileIO, paths: Vector[String]) {
  private val names = paths.iterator.map(nameOf).toSet
  private val locations = paths.iterator.map(locationOf).toSet

  /** The paths that are in the set more than once. */
  def duplicates: Vector[String] =
    if (locations.size == paths.size) Vector.empty
    else paths.groupBy(locationOf).values.filter(_.size > 1).map(_.head).toVector.sorted

  /**
   * Returns whether the set contains a path. The file name is compared first, because parsing every path of a large
   * table would be slow.
   */
  def contains(path: String): Boolean = names(nameOf(path)) && locations(locationOf(path))

  private def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)

  private def locationOf(path: String): Any = StoragePath.of(path, io.defaultFileSystem).getOrElse(path)
}
