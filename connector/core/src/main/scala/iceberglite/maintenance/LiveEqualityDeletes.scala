package iceberglite.maintenance

import iceberglite.puffin.DeletedRows
import iceberglite.scan.{FileScanTask, TableScan}
import iceberglite.scan.deletes.DeleteCacheAccess
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.storage.FileIO
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.ConvertDeletes
import iceberglite.tree.{MetadataPool, MetadataTree}

/**
 * The equality deletes of a snapshot, and the data files that they apply to. The equality deletes can be converted to
 * deletion vectors or, in tables of format version 2, to position delete files.
 *
 * @param files all live equality delete files, including those that do not apply to any data file
 * @param tasks the data files that at least one of `files` applies to, each as a whole file with all of its deletes
 */
final class LiveEqualityDeletes private (
    table: Table,
    snapshot: Snapshot,
    val files: Vector[ContentFile],
    val tasks: Vector[FileScanTask],
    to: SnapshotTarget
) {

  /** Returns the conversion to position deletes. */
  val conversion: DeleteConversion = DeleteConversion.of(table)

  /**
   * Returns `tasks` with the deletes that the new delete files contain. A new deletion vector contains all deleted rows
   * of its data file, including those of earlier delete files.
   */
  def converted: Vector[FileScanTask] =
    if (conversion.files.usesVectors) tasks else tasks.map(t => t.copy(deletes = t.deletes.filter(_.isEquality)))

  /**
   * Returns the action that commits the conversion.
   *
   * @param added the new delete files; data files without deleted rows have none
   */
  def action(added: Vector[ContentFile]): ConvertDeletes = {
    val byPath = tasks.map(t => t.file.path -> t).toMap
    val changed = added.flatMap(_.referencedDataFile).map(byPath)
    val replaced = changed.flatMap(_.deletes).filter(_.isVector).map(_.file)
    new ConvertDeletes(files, replaced, added, changed.map(_.file), snapshot.snapshotId, to)
  }
}

object LiveEqualityDeletes {

  /**
   * Returns the equality deletes at the head of a branch; absent if there are none.
   *
   * @throws ValidationFailed if the table lists a data file twice, with different deletes
   */
  def of(table: Table, to: SnapshotTarget): Option[LiveEqualityDeletes] = to.head(table.metadata).flatMap { snapshot =>
    val files = live(table, snapshot)
    if (files.isEmpty) None
    else {
      val plan = TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true).plan()
      val tasks = FileScanTask.onePerFile(plan.tasks).getOrElse(throw ValidationFailed(
        s"Cannot convert the equality deletes of ${table.name}: it lists a data file twice, with different deletes, " +
          "and the converted deletes would apply to both. Rewrite the file with rewrite_data_files first"
      ))
      Some(new LiveEqualityDeletes(table, snapshot, files, tasks.filter(_.deletes.exists(_.isEquality)), to))
    }
  }

  private def live(table: Table, snapshot: Snapshot): Vector[ContentFile] = {
    val tree = MetadataTree.at(snapshot, table.tree())
    MetadataPool.map(tree.parts.filter(p => p.content == ManifestContent.Deletes && p.hasLiveFiles)) { part =>
      tree.entries(part).filter(e => e.isLive && e.file.content == Content.EqualityDeletes).map(_.file).toVector
    }.flatten
  }
}

/**
 * Finds the deleted rows of data files and writes their positions to new delete files. The class is serializable, so
 * that Spark tasks can run the conversion.
 *
 * @param schema schema of the table
 * @param files writes the new delete files
 */
final case class DeleteConversion(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema,
    files: PositionDeletesToWrite
) {

  /** Returns the suffix of the names of the written files. */
  def extension: String = files.extension

  /**
   * Writes a single file of deletion vectors, or a position delete file for each data file. Data files in which the
   * equality deletes delete no further row are omitted. On failure, the written files are deleted.
   *
   * @param tasks the data files with the deletes that the new delete files contain
   * @param cacheAccess cache of decoded delete files
   * @param newPath returns a new path for each file
   */
  def write(tasks: Vector[FileScanTask], cacheAccess: DeleteCacheAccess, newPath: () => String): Vector[ContentFile] = {
    val positions = new ReadPositions(io, specs, nameMapping, schema, cacheAccess)
    val deletedRows = tasks.flatMap { task =>
      val deleted = positions.deleted(task)
      val before = positions.deleted(task.copy(deletes = task.deletes.filterNot(_.isEquality)))
      if (deleted.cardinality == before.cardinality) None
      else Some(DeletedRows(task.file.path, task.file.specId, task.file.partition, deleted))
    }
    files.write(deletedRows, newPath)
  }
}

object DeleteConversion {

  /** Returns the conversion for the current version of a table. */
  def of(table: Table): DeleteConversion = DeleteConversion(
    table.io,
    table.metadata.specsById,
    table.nameMapping,
    table.schema,
    PositionDeletesToWrite.of(table.io, table.metadata)
  )
}
