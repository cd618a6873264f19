package iceberglite.maintenance.compact

import iceberglite.maintenance.{PositionDeletesToWrite, ReadPositions}
import iceberglite.puffin.{DeletedRows, DeletionVector}
import iceberglite.scan.{DeleteCacheAccess, DeleteFile, DeleteReader, FileScanTask}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{DataLocations, Environment, Table}
import iceberglite.table.action.{DeletedPositions, DeleteCarrier}

/** Finds rows of replaced data files in the new files of a rewrite that has changed the order of the rows. */
trait RowFinder {

  /**
   * Returns the positions of rows in new files.
   *
   * @param rows replaced data files that have a first row id, with positions of rows
   */
  def find(rows: Vector[(ContentFile, DeletionVector)]): Vector[(ContentFile, DeletionVector)]
}

/**
 * Deletes rows, which other commits have deleted from the replaced files of a rewrite, from the new files.
 *
 * @param table the table at the version that the rewrite has read
 * @param packed the replaced and the new files whose rows have the same order; rows are found by their positions
 * @param finder finds rows of other replaced files by their row ids (spec, version 3: "Row Lineage"); rows of files
 *   without row ids are not found
 */
final class MovedDeletes(
    table: Table,
    packed: Vector[PackedFiles],
    finder: RowFinder,
    environment: Environment = Environment.system
) extends DeleteCarrier {
  private val packedByReplaced = packed.flatMap(files => files.read.map(_.file.path -> files)).toMap
  private val nameMapping = table.nameMapping
  private val cacheAccess = DeleteCacheAccess.toNewCache
  private var deletedBefore = Map.empty[String, DeletionVector]

  override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] = {
    val (inOrder, others) = deleted.partition(d => packedByReplaced.contains(d.dataFile.path))
    others.find(_.dataFile.firstRowId.isEmpty).foreach(fail)
    val reader = new DeleteReader(table.io, base.specsById, nameMapping, cacheAccess)
    def positions(d: DeletedPositions): DeletionVector = reader.of(
      d.dataFile.path,
      d.deletes.map(e => DeleteFile(e.file, e.sequenceNumber.getOrElse(0L), Vector.empty))
    ).positions
    val packedRows = inOrder.map(d => d.dataFile.path -> positions(d)).toMap
    val found = packedRows.keys.map(packedByReplaced).toVector.distinct.flatMap(_.find(packedRows, deletedAtStart)) ++
      (if (others.isEmpty) Vector.empty else finder.find(others.map(d => (d.dataFile, positions(d)))))
    val rows = found.map { case (file, vector) => DeletedRows(file.path, file.specId, file.partition, vector) }
    val output = PositionDeletesToWrite.of(table.io, base)
    output.write(rows, () => newPath(rows.head, output.extension, base))
  }

  private def fail(deleted: DeletedPositions): Nothing = throw ValidationFailed(
    s"Cannot rewrite ${deleted.dataFile.path} of ${table.name}: another commit has deleted rows of this file in " +
      s"${deleted.deletes.head.file.path}. These rows cannot be found in the new files, because the rewrite has sorted " +
      "them or changed their partition spec, and they have no row ids. Run the rewrite again"
  )

  private def newPath(rows: DeletedRows, extension: String, base: TableMetadata): String = {
    val name = s"${environment.uuid()}-carried$extension"
    DataLocations.of(base.location, base.properties).path(base.specsById(rows.specId), rows.partition, name)
  }

  /** Returns the rows that the rewrite has not written. Later attempts of the commit reuse them. */
  private def deletedAtStart(task: FileScanTask): DeletionVector =
    if (task.deletes.isEmpty) DeletionVector.Empty
    else deletedBefore.getOrElse(
      task.file.path, {
        val positions =
          new ReadPositions(table.io, table.metadata.specsById, nameMapping, table.schema, cacheAccess).deleted(task)
        deletedBefore += task.file.path -> positions
        positions
      }
    )
}
