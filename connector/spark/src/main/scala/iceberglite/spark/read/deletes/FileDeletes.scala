package iceberglite.spark.read.deletes

import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.puffin.DeletionVector
import iceberglite.scan.{ReadColumns, RowDeletes}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spark.read.vector.{DeletedMarksVector, RowCompactor, SelectedVector, StructView}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.StructType

/**
 * Removes deleted rows of one file from its batches or, if `_deleted` is requested, marks them.
 *
 * @param expected the columns that the scan returns
 * @param laterDeletes if set, only rows are returned that remain after `deletes` and that `laterDeletes` removes
 */
final private[read] class FileDeletes(
    expected: ScanColumns,
    deletes: RowDeletes,
    laterDeletes: Option[RowDeletes] = None
) {
  def isEmpty: Boolean = deletes.isEmpty && laterDeletes.isEmpty

  /** Whether the file certainly has no row to return, so that it need not be opened. */
  def hasNoLiveRow: Boolean = candidatePositions.exists(_.isSubsetOf(deletes.positions))

  /** The only positions at which rows to return can be; absent if they can be at any position. */
  def candidatePositions: Option[DeletionVector] = laterDeletes.filter(_.keys.forall(_.isEmpty)).map(_.positions)

  private val marksRows: Boolean = expected.metadataIds.contains(MetadataColumns.Deleted.id)
  private val byPosition: Boolean = (deletes +: laterDeletes.toVector).exists(!_.positions.isEmpty)

  /** The columns to read: requested columns come first, in order. */
  val columns: ScanColumns =
    if (isEmpty) expected
    else {
      val withKeys = ReadColumns.merge(expected.fields, (deletes +: laterDeletes.toVector).flatMap(_.columns))
      if (!byPosition) expected.copy(fields = withKeys)
      else ScanColumns(
        ReadColumns.merge(withKeys, Vector(MetadataColumns.Position)),
        expected.metadataIds + MetadataColumns.Position.id
      )
    }

  /**
   * Returns the batches without deleted rows.
   *
   * @param read a batch of [[columns]], which the reader reuses
   * @param capacity maximum number of rows in a batch
   * @param compactor moves remaining rows to the front of `read`; absent if its vectors are not writable
   */
  def liveBatch(read: ColumnarBatch, capacity: Int, compactor: Option[RowCompactor] = None): LiveBatch = {
    val vectors = Array.tabulate(read.numCols)(read.column)
    val live = liveRows(deletes, vectors, capacity)
    val rows =
      laterDeletes.fold[RowSelection](live)(a => new NewlyDeleted(live, liveRows(a, vectors, capacity), capacity))
    val visible = expected.fields.zip(columns.fields).zip(vectors).map { case ((field, asRead), vector) =>
      if (field.id == MetadataColumns.Deleted.id && marksRows) new DeletedMarksVector(vector, rows.isDeleted)
      else withoutDeleteFields(field.fieldType, asRead.fieldType, vector)
    }
    new LiveBatch(rows, visible.toArray, marksRows, compactor)
  }

  private def liveRows(rowDeletes: RowDeletes, vectors: Array[ColumnVector], capacity: Int): LiveRows = {
    val keys = rowDeletes.keys.filterNot(_.isEmpty).map(KeyTest.of(_, columns.fields, vectors)).toArray
    val positionIndex = columns.fields.indexWhere(_.id == MetadataColumns.Position.id)
    val positions = if (rowDeletes.positions.isEmpty) None else Some(vectors(positionIndex))
    new LiveRows(rowDeletes.positions, positions, keys, capacity)
  }

  /** Removes the fields of structs that only the deletes need. These are the last fields of each struct. */
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

/** Returns the batch of remaining rows for each batch that is read. */
final private[read] class LiveBatch(
    rows: RowSelection,
    visible: Array[ColumnVector],
    marksRows: Boolean,
    compactor: Option[RowCompactor]
) {
  private val allRows = new ColumnarBatch(visible)

  /**
   * The batch of remaining rows. Either the compactor has moved these rows to the front, or the vectors map their
   * indexes.
   */
  private val selectedRows =
    if (compactor.isDefined) allRows else new ColumnarBatch(visible.map(new SelectedVector(_, rows.rows)))

  /** Valid until the next [[select]]. */
  var batch: ColumnarBatch = allRows

  /** Processes a batch. @return whether it has a remaining row */
  def select(count: Int): Boolean = {
    val live = rows.find(count)
    if (live == count || marksRows) {
      batch = allRows
      batch.setNumRows(count)
    } else {
      compactor.foreach(_.moveToFront(rows.rows, live))
      batch = selectedRows
      batch.setNumRows(live)
    }
    batch.numRows > 0
  }
}
