package iceberglite.spark.read.deletes

import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.scan.deletes.RowDeletes
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spec.schema.MetadataColumns

/** Checks which rows of a columnar batch the added deletes remove, but the earlier deletes do not. */
class NewlyDeletedSuite extends AnyFunSuite {
  private def deletes(positions: Long*): RowDeletes = new RowDeletes(DeletionVector.of(positions: _*), Vector.empty)

  test("the newly deleted rows are those that were live and that the added deletes remove") {
    val positions = new OnHeapColumnVector(6, LongType)
    (0 until 6).foreach(i => positions.putLong(i, 10L + i))
    def rows(deleted: Long*) = new LiveRows(DeletionVector.of(deleted: _*), Some(positions), Array.empty, 6)
    val newlyDeleted = new NewlyDeleted(rows(10, 12), rows(11, 12, 15, 99), 6)
    assert(newlyDeleted.select(6) == 2 && newlyDeleted.rowIndexes.take(2).toSeq == Seq(1, 5))
    assert(newlyDeleted.select(1) == 0 && newlyDeleted.select(0) == 0)
  }

  test("a file is not opened if the added deletes remove only rows that were already deleted") {
    val columns = ScanColumns(Vector(MetadataColumns.Position), Set(MetadataColumns.Position.id))
    def files(before: RowDeletes, added: RowDeletes) = new FileDeletes(columns, before, Some(added))
    assert(files(deletes(1, 2, 3), deletes(1, 3)).hasNoLiveRow && files(deletes(), deletes()).hasNoLiveRow)
    assert(!files(deletes(1), deletes(1, 2)).hasNoLiveRow && !files(deletes(), deletes(1L << 40)).hasNoLiveRow)
    val fileDeletes = new FileDeletes(columns, deletes(1))
    assert(!fileDeletes.hasNoLiveRow && fileDeletes.candidatePositions.isEmpty)
  }
}
