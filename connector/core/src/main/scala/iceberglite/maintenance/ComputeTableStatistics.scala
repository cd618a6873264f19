package iceberglite.maintenance

import scala.annotation.tailrec

import org.slf4j.LoggerFactory

import iceberglite.encryption.FileKey
import iceberglite.puffin.{NewBlob, PuffinCodec, PuffinWriter, ThetaSketch}
import iceberglite.scan.BloomIndex
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.{ObjectKind, Spelling}
import iceberglite.spec.metadata.{BlobType, Encryption, Snapshot, StatisticsFile, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType}
import iceberglite.storage.EncryptedFileIO
import iceberglite.table.{Cleanup, Environment, Table, TableLocations}
import iceberglite.table.action.SetStatistics

/** Statistics of the columns of a snapshot: their approximate numbers of distinct values (spec: "Table Statistics"). */
object ComputeTableStatistics {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.ComputeTableStatistics")

  /** The maximum number of files that are written because other commits replace the statistics of the snapshot. */
  private val MaxAttempts = 4

  /**
   * Returns the columns whose statistics are computed.
   *
   * @param names names of top-level columns; empty for all top-level columns with primitive types
   * @throws NotFound if the schema has no such column
   * @throws InvalidArgument if the type of a column is not primitive
   */
  def columns(schema: Schema, names: Seq[String], caseSensitive: Boolean): Vector[NestedField] =
    if (names.isEmpty) schema.fields.filter(_.fieldType.isInstanceOf[PrimitiveType])
    else names.toVector.distinct.map { name =>
      val column = schema.fields.find(f => if (caseSensitive) f.name == name else f.name.equalsIgnoreCase(name))
      val field = column.getOrElse(
        throw NotFound(
          ObjectKind.Column,
          name,
          Spelling.closest(name, schema.fields.map(_.name)).fold("")(near => s"Did you mean $near? ") +
            s"The columns are ${schema.fields.map(_.name).mkString(", ")}"
        )
      )
      field.fieldType match {
        case _: PrimitiveType => field
        case other: NestedType =>
          throw InvalidArgument("argument columns", name, s"The column has the type $other; choose other columns")
      }
    }

  /**
   * Returns the statistics file with numbers of distinct values of a snapshot or of its nearest ancestor that has such
   * a file.
   */
  def fileOf(metadata: TableMetadata, snapshot: Snapshot): Option[StatisticsFile] = {
    val files = metadata.statistics.filter(_.blobMetadata.exists(_.blobType == BlobType.ThetaSketch))
    val bySnapshot = files.map(file => file.snapshotId -> file).toMap
    if (files.isEmpty) None
    else metadata.ancestors(snapshot).flatMap(s => bySnapshot.get(s.snapshotId)).find(_ => true)
  }

  /**
   * Returns the blobs to copy to a new statistics file of the snapshot if only its Bloom indexes are computed. If the
   * snapshot has a statistics file, which the new file replaces, all blobs except Bloom indexes are copied from the
   * existing file. If [[fileOf]] returns the file of an ancestor, the sketches in this file are copied too. The blobs
   * keep the id of the snapshot that they describe. Sketches of an ancestor that cannot be read are omitted, because
   * the ancestor's file remains. In an encrypted table, files without a key are omitted, because their content is not
   * authentic.
   *
   * @throws ValidationFailed if the file that is replaced cannot be read, so that its blobs would be lost
   */
  def existingBlobs(table: Table, snapshot: Snapshot): Vector[NewBlob] = {
    val replaced = replacedBy(table, snapshot)
    val own = replaced.filter(isAuthentic(table, _)).fold(Vector.empty[NewBlob])(blobsOfReplaced(table, _))
    val inherited = fileOf(table.metadata, snapshot).filterNot(replaced.contains).filter(isAuthentic(table, _))
    own ++ inherited.fold(Vector.empty[NewBlob]) { file =>
      try blobsOf(table, file)(_ == BlobType.ThetaSketch)
      catch {
        case e: IcebergError =>
          log.warn(s"The numbers of distinct values of ${table.name} are not copied: ${e.getMessage}")
          Vector.empty
      }
    }
  }

  private def blobsOfReplaced(table: Table, file: StatisticsFile): Vector[NewBlob] =
    try blobsOf(table, file)(_ != BlobType.BloomIndex)
    catch {
      // The metadata lists all blobs except Bloom indexes, which are computed again.
      case e: IcebergError if file.blobMetadata.nonEmpty =>
        val lost = ValidationFailed(s"Cannot copy the statistics of ${table.name}: ${e.getMessage}. Call " +
          "compute_table_stats without bloom_index_only to replace all statistics")
        lost.addSuppressed(e)
        throw lost
      case e: IcebergError =>
        log.warn(s"A damaged statistics file of ${table.name} without numbers of distinct values is replaced: " +
          e.getMessage)
        Vector.empty
    }

  private def isAuthentic(table: Table, file: StatisticsFile): Boolean = {
    val isReadable = Encryption.isReadable(table.metadata, file)
    if (!isReadable) log.warn(
      s"${file.statisticsPath} is not copied to the new statistics of the encrypted table ${table.name}, because the " +
        "table metadata contains no key for the file. Call compute_table_stats to compute its values again"
    )
    isReadable
  }

  private def replacedBy(table: Table, snapshot: Snapshot): Option[StatisticsFile] =
    table.metadata.statistics.find(_.snapshotId == snapshot.snapshotId)

  private def blobsOf(table: Table, statistics: StatisticsFile)(isCopied: String => Boolean): Vector[NewBlob] = {
    val file = table.tree().openStatistics(statistics)
    file.blobs.filter(blob => isCopied(blob.metadata.blobType)).map { blob =>
      val codec = if (blob.compressionCodec.isEmpty) PuffinCodec.Uncompressed else PuffinCodec.ZStandard
      NewBlob(blob.metadata, file.read(blob), codec)
    }
  }

  /**
   * Writes sketches of columns to a statistics file, and registers the file in the table's metadata. An earlier
   * statistics file of the snapshot is replaced. If another commit replaces it first, the new file is written again.
   *
   * @param sketches the sketches by field id
   * @param summary entries of the snapshot summary that describe the compute engine
   * @param others the other blobs of the file, such as those of [[ComputeBloomIndex]]
   * @param copied returns the blobs that are copied from existing files of the newest version of the table
   * @return the table with the statistics, and the statistics file
   */
  def register(
      table: Table,
      snapshot: Snapshot,
      sketches: Vector[(Int, ThetaSketch)],
      summary: Map[String, String] = Map.empty,
      environment: Environment = Environment.system,
      others: Vector[NewBlob] = Vector.empty,
      copied: Table => Vector[NewBlob] = _ => Vector.empty
  ): (Table, StatisticsFile) = {
    val computed = sketches.map { case (id, sketch) => sketch.blob(id, snapshot) } ++ others
    @tailrec
    def attempt(base: Table, attempts: Int): (Table, StatisticsFile) =
      registerOnce(base, snapshot, computed ++ copied(base), summary, environment) match {
        case Right(registered) => registered
        case Left(conflict) =>
          val newest = base.refresh()
          if (attempts > 1 && replacedBy(newest, snapshot) != replacedBy(base, snapshot)) attempt(newest, attempts - 1)
          else throw conflict
      }
    // A REST server does not check which file is replaced, so the time in which it may be replaced is kept short.
    attempt(table.refresh(), MaxAttempts)
  }

  private def registerOnce(
      table: Table,
      snapshot: Snapshot,
      blobs: Vector[NewBlob],
      summary: Map[String, String],
      environment: Environment
  ): Either[CommitConflict, (Table, StatisticsFile)] = {
    val name = s"${snapshot.snapshotId}-${environment.uuid()}${BloomIndex.namePart(blobs.map(_.metadata))}.stats"
    val path = TableLocations.inside(TableLocations.metadata(table.metadata), name)
    val (file, key) = write(table, path, blobs, snapshot)
    val action = new SetStatistics(file, Some(replacedBy(table, snapshot).map(_.statisticsPath)), key)
    try {
      val committed = table.transaction(summary, environment).add(action).commit()
      Right((committed, committed.metadata.statistics.find(_.statisticsPath == path).getOrElse(file)))
    } catch {
      case unknown: CommitStateUnknown => throw unknown
      case failed: IcebergError =>
        Cleanup.delete(table.io, Vector(path))
        failed match {
          case conflict: CommitConflict => Left(conflict)
          case other => throw other
        }
    }
  }

  /** Writes a statistics file. @return the file, and its key if the table is encrypted */
  private def write(
      table: Table,
      path: String,
      blobs: Vector[NewBlob],
      snapshot: Snapshot
  ): (StatisticsFile, Option[FileKey]) = {
    val key = table.tree().keys.map(_.newFileKeys.next())
    val written = PuffinWriter.write(key.fold(table.io)(EncryptedFileIO(table.io, path, _)), path, blobs.iterator)
    val file = written.statistics(snapshot.snapshotId)
    val stored = key.fold(file.fileSizeInBytes)(_ => EncryptedFileIO.storedLength(file.fileSizeInBytes))
    (file.copy(fileSizeInBytes = stored), key.map(_.withLength(stored)))
  }
}
