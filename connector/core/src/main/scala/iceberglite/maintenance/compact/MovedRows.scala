package iceberglite.maintenance.compact

import iceberglite.maintenance.{PositionDeletesToWrite, ReadPositions}
import iceberglite.puffin.{DeletedRows, DeletionVector}
import iceberglite.scan.FileScanTask
import iceberglite.scan.deletes.{DeleteCacheAccess, DeleteFile, DeleteReader}
import iceberglite.spec.file.{ContentFile, ManifestEntry}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{DataLocations, Environment, Table}

/** Finds rows of replaced data files in the new files of a rewrite that has changed the order of the rows. */
trait RowFinder {

  /** Returns the positions of rows in new files. The arguments and the result are those of [[RowMoves.find]]. */
  def find(
      rows: Vector[(ContentFile, DeletionVector)],
      taken: Map[String, DeletionVector]
  ): Vector[(ContentFile, DeletionVector)]
}

/**
 * The rows that a rewrite has moved from the replaced files to the new files.
 *
 * @param table the table at the version that the rewrite has read
 * @param packed the replaced and the new files whose rows have the same order; rows are found by their positions
 * @param finder finds rows of the replaced files that are not in `packed`
 */
final class MovedRows(
    table: Table,
    packed: Vector[PackedFiles],
    finder: RowFinder,
    environment: Environment = Environment.system
) extends RowMoves {
  private val packedByReplaced = packed.flatMap(files => files.read.map(_.file.path -> files)).toMap
  private val nameMapping = table.nameMapping
  private val cacheAccess = DeleteCacheAccess.toNewCache
  private var deletedBefore = Map.empty[String, DeletionVector]

  override def positions(
      dataFile: ContentFile,
      deletes: Vector[ManifestEntry],
      base: TableMetadata
  ): DeletionVector = {
    val reader = new DeleteReader(table.io, base.specsById, nameMapping, cacheAccess)
    val files = deletes.map(e => DeleteFile(e.file, e.sequenceNumber.getOrElse(0L), Vector.empty))
    reader.of(dataFile.path, files).positions
  }

  override def find(
      rows: Vector[(ContentFile, DeletionVector)],
      taken: Map[String, DeletionVector]
  ): Vector[(ContentFile, DeletionVector)] = {
    val (inOrder, others) = rows.partition { case (file, _) => packedByReplaced.contains(file.path) }
    val packedRows = inOrder.map { case (file, positions) => file.path -> positions }.toMap
    packedRows.keys.map(packedByReplaced).toVector.distinct.flatMap(_.find(packedRows, deletedAtStart)) ++
      (if (others.isEmpty) Vector.empty else finder.find(others, taken))
  }

  override def write(rows: Vector[DeletedRows], base: TableMetadata): Vector[ContentFile] = {
    val output = PositionDeletesToWrite.of(table.io, base)
    output.write(rows, () => newPath(rows.head, output.extension, base))
  }

  private def newPath(rows: DeletedRows, extension: String, base: TableMetadata): String = {
    val name = s"${environment.uuid()}-carried$extension"
    DataLocations.of(base.location, base.properties).path(base.specsById(rows.specId), rows.partition, name)
  }

  /**
   * Returns the positions of the rows that the rewrite has not written, because they were already deleted. Later
   * attempts of the commit reuse the result.
   */
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
