package iceberglite.spark.read.files

import org.apache.spark.sql.vectorized.ColumnVector

import iceberglite.spark.read.vector.{LongOrDefault, DerivedRowId, StoredOrDerivedRowId}
import iceberglite.spec.schema.{MetadataColumns, NameMapping}
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/**
 * Maps the columns of a scan to the columns of an Avro or ORC file. Determines which columns the file may contain, and
 * replaces the columns that the file does not contain.
 *
 * @param expected columns of the table and metadata columns, in the order of the result
 * @param mapping the table's name mapping, for files without field ids
 * @param values provides the values that are in the table's metadata instead of the file
 */
final private[iceberglite] class FileColumns(
    expected: Vector[NestedField],
    val mapping: Option[NameMapping],
    values: FileValues
) {
  private val (metadata, data) = expected.partition(f => values.isMetadata(f.id))

  /**
   * Returns the columns that a file may contain: the columns of the table and, if the file has a first row id, the
   * requested row lineage columns (spec, version 3: "Row Lineage").
   */
  def stored(task: FileTask): StructType =
    StructType(data ++ metadata.filter(f => FileColumns.isLineage(f.id) && task.firstRowId.isDefined))

  /** Whether the positions of rows in the file are needed. */
  def needsPositions(task: FileTask): Boolean = metadata.exists(f =>
    f.id == MetadataColumns.Position.id || f.id == MetadataColumns.RowId.id && task.firstRowId.isDefined
  )

  /**
   * Returns the column that replaces a [[stored]] column if the file does not contain it.
   *
   * @return Left if a required field has no value. Left contains the path of that field, beginning with the name of the
   *   column
   */
  def replacement(task: FileTask, positions: ColumnVector)(field: NestedField): Either[Vector[String], ColumnVector] =
    (field.id, task.firstRowId) match {
      case (MetadataColumns.RowId.id, Some(first)) => Right(new DerivedRowId(positions, first))
      case (MetadataColumns.LastUpdatedSequenceNumber.id, _) => Right(values.metadata(field, task))
      case _ => values.replacement(field, task)
    }

  /**
   * Returns the columns of the scan, in order.
   *
   * @param storedColumns one column for each field of [[stored]]: read from the file, or its [[replacement]]
   */
  def of(task: FileTask, storedColumns: Vector[ColumnVector], positions: ColumnVector): Vector[ColumnVector] = {
    val inFile = stored(task).fields.map(_.id).zip(storedColumns).toMap
    expected.map { f =>
      (f.id, task.firstRowId) match {
        case (id, _) if !values.isMetadata(id) => inFile(id)
        case (MetadataColumns.Position.id, _) => positions
        case (MetadataColumns.RowId.id, Some(first)) => rowId(inFile(f.id), positions, first)
        case (MetadataColumns.LastUpdatedSequenceNumber.id, Some(_)) =>
          new LongOrDefault(inFile(f.id), task.dataSequenceNumber)
        case _ => values.metadata(f, task)
      }
    }
  }

  private def rowId(column: ColumnVector, positions: ColumnVector, first: Long): ColumnVector = column match {
    case byPosition: DerivedRowId => byPosition
    case inFile => new StoredOrDerivedRowId(inFile, positions, first)
  }
}

private[iceberglite] object FileColumns {
  def isLineage(id: Int): Boolean =
    id == MetadataColumns.RowId.id || id == MetadataColumns.LastUpdatedSequenceNumber.id
}
