package iceberglite.maintenance

import org.slf4j.LoggerFactory

import iceberglite.puffin.{NewBlob, PuffinCodec, PuffinFile, PuffinWriter, ThetaSketch}
import iceberglite.scan.BloomIndex
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, InvalidArgument, NotFound}
import iceberglite.spec.{ObjectKind, Spelling}
import iceberglite.spec.metadata.{BlobType, Snapshot, StatisticsFile, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType}
import iceberglite.table.{Cleanup, Environment, Table, TableLocations}
import iceberglite.table.action.SetStatistics

/** Statistics of the columns of a snapshot: their approximate numbers of distinct values (spec: "Table Statistics"). */
object ComputeTableStatistics {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.ComputeTableStatistics")

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
   * Returns the sketches in the file of [[fileOf]], for a new statistics file whose sketches are not computed. The
   * blobs keep the id of the snapshot that they describe. Sketches that cannot be read are omitted.
   */
  def existingSketches(table: Table, snapshot: Snapshot): Vector[NewBlob] =
    fileOf(table.metadata, snapshot).filter(_.keyMetadata.isEmpty).fold(Vector.empty[NewBlob]) { statistics =>
      try {
        val file = PuffinFile.open(table.io, statistics.statisticsPath, Some(statistics.fileSizeInBytes))
        file.blobs.filter(_.metadata.blobType == BlobType.ThetaSketch)
          .map(blob => NewBlob(blob.metadata, file.read(blob), PuffinCodec.ZStandard))
      } catch {
        case e: IcebergError =>
          log.warn(s"The numbers of distinct values of ${table.name} are not copied: ${e.getMessage}")
          Vector.empty
      }
    }

  /**
   * Writes sketches of columns to a statistics file, and registers the file in the table's metadata. An earlier
   * statistics file of the snapshot is replaced.
   *
   * @param sketches the sketches by field id
   * @param summary entries of the snapshot summary that describe the compute engine
   * @param others the other blobs of the file, such as those of [[ComputeBloomIndex]]
   * @return the table with the statistics, and the statistics file
   */
  def register(
      table: Table,
      snapshot: Snapshot,
      sketches: Vector[(Int, ThetaSketch)],
      summary: Map[String, String] = Map.empty,
      environment: Environment = Environment.system,
      others: Vector[NewBlob] = Vector.empty
  ): (Table, StatisticsFile) = {
    val indexed = others.filter(_.metadata.blobType == BlobType.BloomIndex).flatMap(_.metadata.fields)
    val name = s"${snapshot.snapshotId}-${environment.uuid()}${BloomIndex.namePart(indexed)}.stats"
    val path = TableLocations.inside(TableLocations.metadata(table.metadata), name)
    val blobs = sketches.iterator.map { case (id, sketch) => sketch.blob(id, snapshot) } ++ others
    val file = PuffinWriter.write(table.io, path, blobs).statistics(snapshot.snapshotId)
    try {
      (table.transaction(summary, environment).add(new SetStatistics(file)).commit(), file)
    } catch {
      case unknown: CommitStateUnknown => throw unknown
      case failed: IcebergError =>
        Cleanup.delete(table.io, Vector(path))
        throw failed
    }
  }
}
