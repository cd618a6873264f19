package iceberglite.spark.read.deletes

import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.puffin.DeletionVector
import iceberglite.data.ReadColumns
import iceberglite.scan.deletes.RowDeletes
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spark.read.vector.{DeletedMarksVector, RowCompactor, SelectedVector, StructView}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.StructType

/**
 * Removes the deleted rows of one file from its batches. If `_deleted` is requested, the deleted rows are kept and
 * marked.
 *
 * @param expected the columns that the scan returns
 * @param deletesOfChangedRows for a changelog: deletes of a commit. If present, only the rows that these deletes remove
 *   are returned, without the rows that `deletes` already removes
 * @param deletedRows counts the rows that are removed from batches
 */
final private[read] class FileDeletes(
    expected: ScanColumns,
    deletes: RowDeletes,
    deletesOfChangedRows: Option[RowDeletes] = None,
    deletedRows: RemovedRowCounter = new RemovedRowCounter
) {
  def isEmpty: Boolean = deletes.isEmpty && deletesOfChangedRows.isEmpty

  /**
   * Whether the delete files show that a changelog has no row of the file, so that the file need not be opened. For
   * other scans, the result is always false.
   */
  def hasNoLiveRow: Boolean = candidatePositions.exists(_.isSubsetOf(deletes.positions))

  /** The positions of all rows that may be returned; absent if a row at any position may be returned. */
  def candidatePositions: Option[DeletionVector] =
    deletesOfChangedRows.filter(_.keys.forall(_.isEmpty)).map(_.positions)

  private val marksRows: Boolean = expected.metadataIds.contains(MetadataColumns.Deleted.id)
  private val hasPositionDeletes: Boolean = (deletes +: deletesOfChangedRows.toVector).exists(!_.positions.isEmpty)

  /** The columns to read: first the columns of `expected` in their order, then columns that only the deletes need. */
  val columns: ScanColumns =
    if (isEmpty) expected
    else {
      val withKeys = ReadColumns.merge(expected.fields, (deletes +: deletesOfChangedRows.toVector).flatMap(_.columns))
      if (!hasPositionDeletes) expected.copy(fields = withKeys)
      else ScanColumns(
        ReadColumns.merge(withKeys, Vector(MetadataColumns.Position)),
        expected.metadataIds + MetadataColumns.Position.id
      )
    }

  /**
   * Returns a converter from each batch of the file to a batch without deleted rows.
   *
   * @param read the batch that the reader refills; it has the columns of [[columns]]
   * @param capacity maximum number of rows in a batch
   * @param compactor moves remaining rows to the front of `read`; absent if the vectors of `read` are not writable
   */
  def liveBatch(read: ColumnarBatch, capacity: Int, compactor: Option[RowCompactor] = None): LiveBatch = {
    val vectors = Array.tabulate(read.numCols)(read.column)
    val live = liveRows(deletes, vectors, capacity)
    val rows = deletesOfChangedRows.fold[RowSelection](live) { changed =>
      new NewlyDeleted(live, liveRows(changed, vectors, capacity), capacity)
    }
    val outputColumns = expected.fields.zip(columns.fields).zip(vectors).map { case ((field, asRead), vector) =>
      if (field.id == MetadataColumns.Deleted.id && marksRows) new DeletedMarksVector(vector, rows.isDeleted)
      else withoutDeleteFields(field.fieldType, asRead.fieldType, vector)
    }
    // In a changelog, the rows that are not selected include live rows, which must not be counted as deleted.
    val removed = if (deletesOfChangedRows.isEmpty) deletedRows else new RemovedRowCounter
    new LiveBatch(rows, outputColumns.toArray, marksRows, compactor, removed)
  }

  private def liveRows(rowDeletes: RowDeletes, vectors: Array[ColumnVector], capacity: Int): LiveRows = {
    val keys = rowDeletes.keys.filterNot(_.isEmpty).map(KeyTest.of(_, columns.fields, vectors)).toArray
    val positionIndex = columns.fields.indexWhere(_.id == MetadataColumns.Position.id)
    val positions = if (rowDeletes.positions.isEmpty) None else Some(vectors(positionIndex))
    new LiveRows(rowDeletes.positions, positions, keys, capacity)
  }

  /** Removes the struct fields that only the deletes need. These are the last fields of each struct. */
  private def withoutDeleteFields(expected: Type, read: Type, vector: ColumnVector): ColumnVector =
    (expected, read) match {
      case (struct @ StructType(fields), StructType(all)) if expected != read && vector != null =>
        val children = fields.zip(all).zipWithIndex.map { case ((f, r), i) => child(f, r, vector.getChild(i)) }
        new StructView(vector, children.toArray, SparkTypes.toSpark(struct.fields))
      case _ => vector
    }

  private def child(expected: NestedField, read: NestedField, vector: ColumnVector): ColumnVector =
    withoutDeleteFields(expected.fieldType, read.fieldType, vector)
}

/**
 * Converts each batch of a file to a batch of its remaining rows. If deleted rows are marked instead of removed, the
 * batch keeps all rows.
 */
final private[read] class LiveBatch(
    rows: RowSelection,
    outputColumns: Array[ColumnVector],
    marksRows: Boolean,
    compactor: Option[RowCompactor],
    deletedRows: RemovedRowCounter
) {
  private val allRows = new ColumnarBatch(outputColumns)

  /**
   * The batch of remaining rows. If there is a compactor, the compactor moves these rows to the front of the vectors.
   * Otherwise, [[SelectedVector]] maps the index of each remaining row to its index in the read batch.
   */
  private val selectedRows =
    if (compactor.isDefined) allRows else new ColumnarBatch(outputColumns.map(new SelectedVector(_, rows.rowIndexes)))

  /** The batch of the last call of [[select]]. The next call overwrites it. */
  var batch: ColumnarBatch = allRows

  /**
   * Selects the rows of the batch that was read last.
   *
   * @param count number of rows of the read batch
   * @return whether [[batch]] has a row
   */
  def select(count: Int): Boolean = {
    val live = rows.select(count)
    if (live == count || marksRows) {
      batch = allRows
      batch.setNumRows(count)
    } else {
      deletedRows.count += (count - live).toLong
      compactor.foreach(_.moveToFront(rows.rowIndexes, live))
      batch = selectedRows
      batch.setNumRows(live)
    }
    batch.numRows > 0
  }
}

/** The number of rows that deletes removed from the batches of a Spark task. Not thread-safe. */
final private[read] class RemovedRowCounter {
  var count: Long = 0L
}
