package iceberglite.maintenance

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import iceberglite.data.PositionDeleteFiles
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.{DeleteSharing, FileScanTask, TableRows, TableScan}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestContent, MetricMaps, Metrics}
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.{DeleteFileProperties, RowLevelProperty, TableProperty}
import iceberglite.spec.schema.{MetadataColumns, NameMapping, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, SnapshotTarget, Table}
import iceberglite.table.action.ConvertDeletes
import iceberglite.tree.{MetadataPool, MetadataTree}

/**
 * The equality deletes of a snapshot, and the data files that they apply to. They can be converted to deletion vectors
 * or, before version 3, to position delete files.
 *
 * @param files all live equality delete files, including those that apply to no data file
 * @param tasks the data files that some of them apply to, each as a whole file with all of its deletes
 */
final class EqualityDeletes private (
    table: Table,
    snapshot: Snapshot,
    val files: Vector[ContentFile],
    val tasks: Vector[FileScanTask],
    to: SnapshotTarget
) {

  /** Returns the conversion that finds the deleted rows; it can run on any machine. */
  def conversion: DeleteConversion = DeleteConversion(
    table.io,
    table.metadata.specsById,
    TableProperty.of(TableProperty.NameMappingDefault, table.properties)
      .map(NameMappingJson.parse(TableProperty.NameMappingDefault.key, _)),
    table.schema,
    table.metadata.formatVersion >= FormatVersion.V3,
    RowLevelProperty.deleteFormat(table.properties),
    DeleteFileProperties.of(table.properties)
  )

  /** Returns the commit action. @param found the deletes of the tasks; a data file without deleted rows needs none */
  def action(found: Vector[FoundDeletes]): ConvertDeletes = {
    val byPath = tasks.map(t => t.file.path -> t).toMap
    val replaced = found.filter(_.isVector).flatMap(f => byPath(f.dataFile).deletes.filter(_.isVector).map(_.file))
    new ConvertDeletes(files, replaced, found.map(f => f.contentFile(byPath(f.dataFile).file)), snapshot.snapshotId, to)
  }
}

object EqualityDeletes {

  /** @return absent if the head of the branch has no equality deletes */
  def of(table: Table, to: SnapshotTarget): Option[EqualityDeletes] = to.head(table.metadata).flatMap { snapshot =>
    val files = live(table, snapshot)
    if (files.isEmpty) None
    else {
      val plan = TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true).plan()
      Some(new EqualityDeletes(table, snapshot, files, plan.tasks.filter(_.deletes.exists(_.isEquality)), to))
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
 * Finds the rows that deletes remove from data files, and writes their positions. Serializable, so that tasks can run
 * it.
 *
 * @param schema schema of the table
 * @param vectors whether to write deletion vectors; these include all earlier deletes of the data files
 * @param format format of position delete files
 * @param properties table properties for position delete files
 */
final case class DeleteConversion(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema,
    vectors: Boolean,
    format: FileFormat,
    properties: Map[String, String]
) {

  /** The file extension of the written files. */
  def extension: String = if (vectors) FileFormat.Puffin.extension else s"-deletes${format.extension}"

  /**
   * Writes a single file of deletion vectors, or a position delete file for each data file. Data files without deleted
   * rows are left out. On failure, no file remains.
   *
   * @param sharing shares decoded delete files with other readers
   * @param newPath returns a new path for each file
   */
  def write(tasks: Vector[FileScanTask], sharing: DeleteSharing, newPath: () => String): Vector[FoundDeletes] = {
    val rows = new TableRows(io, specs, nameMapping, schema, DeleteConversion.Wanted, filtered = false, sharing)
    val found = tasks.map(t => t.file.path -> positions(rows, t)).filterNot(_._2.isEmpty)
    if (found.isEmpty) Vector.empty
    else if (vectors) writeVectors(found, newPath())
    else writePositions(found, newPath)
  }

  private def positions(rows: TableRows, task: FileScanTask): DeletionVector = {
    val builder = DeletionVector.newBuilder
    val asked = if (vectors) task else task.copy(deletes = task.deletes.filter(_.isEquality))
    val all = rows.of(asked)
    try all.foreach { row =>
        if (row(1).asInstanceOf[java.lang.Boolean]) builder += row(0).asInstanceOf[java.lang.Long].longValue
      }
    finally all.close()
    builder.result()
  }

  private def writeVectors(found: Vector[(String, DeletionVector)], path: String): Vector[FoundDeletes] = {
    val rows = found.map { case (file, positions) => DeletedRows(file, 0, PartitionTuple.Empty, positions) }
    DeletionVectorFiles.write(io, path, rows).map { v =>
      val place = for (offset <- v.contentOffset; size <- v.contentSizeInBytes) yield (offset, size)
      FoundDeletes(v.referencedDataFile.mkString, v.path, v.format, v.recordCount, v.fileSizeInBytes, place)
    }
  }

  private def writePositions(found: Vector[(String, DeletionVector)], newPath: () => String): Vector[FoundDeletes] = {
    val files = new PositionDeleteFiles(io, format, properties)
    val written = Vector.newBuilder[FoundDeletes]
    try {
      found.foreach { deleted =>
        val (done, _) = files.write(newPath(), Vector(deleted), Long.MaxValue)
        written += FoundDeletes(deleted._1, done.path, done.format, done.recordCount, done.fileSizeInBytes, None)
      }
      written.result()
    } catch {
      case e: Throwable =>
        Cleanup.delete(io, written.result().map(_.path))
        throw e
    }
  }
}

private object DeleteConversion {
  val Wanted: Vector[NestedField] = Vector(MetadataColumns.Position, MetadataColumns.Deleted)
}

/**
 * The written deletes of one data file, to be sent to the driver.
 *
 * @param place offset and size of a deletion vector in its file; absent for position delete files
 */
final case class FoundDeletes(
    dataFile: String,
    path: String,
    format: FileFormat,
    rows: Long,
    fileSizeInBytes: Long,
    place: Option[(Long, Long)]
) {
  def isVector: Boolean = place.isDefined

  private[maintenance] def contentFile(data: ContentFile): ContentFile = ContentFile(
    content = Content.PositionDeletes,
    path = path,
    format = format,
    specId = data.specId,
    partition = data.partition,
    recordCount = rows,
    fileSizeInBytes = fileSizeInBytes,
    metrics = if (isVector) Metrics.Empty else bounds,
    referencedDataFile = Some(dataFile),
    contentOffset = place.map(_._1),
    contentSizeInBytes = place.map(_._2)
  )

  /** The bounds by which readers of version 2 know that the file applies to one data file only. */
  private def bounds: Metrics = {
    val path = Some(Map(MetadataColumns.DeleteFilePath.id -> ByteBuffer.wrap(dataFile.getBytes(UTF_8))))
    MetricMaps(None, None, None, None, path, path)
  }
}
