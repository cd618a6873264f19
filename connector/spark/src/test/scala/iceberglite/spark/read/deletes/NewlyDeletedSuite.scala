package iceberglite.spark.read.deletes

import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.LongType
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.scan.RowDeletes
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spec.schema.MetadataColumns

/** The rows of a batch that were live before some deletes were added. */
class NewlyDeletedSuite extends AnyFunSuite {
  private def deletes(positions: Long*): RowDeletes = new RowDeletes(DeletionVector.of(positions: _*), Vector.empty)

  test("rows that were live and that added deletes remove are found") {
    val places = new OnHeapColumnVector(6, LongType)
    (0 until 6).foreach(i => places.putLong(i, 10L + i))
    def rows(positions: Long*) = new LiveRows(DeletionVector.of(positions: _*), Some(places), Array.empty, 6)
    val found = new NewlyDeleted(rows(10, 12), rows(11, 12, 15, 99), 6)
    assert(found.find(6) == 2 && found.rowIndexes.take(2).toSeq == Seq(1, 5))
    assert(found.find(1) == 0 && found.find(0) == 0)
  }

  test("a file is not opened if the added deletes remove no further rows") {
    val wanted = ScanColumns(Vector(MetadataColumns.Position), Set(MetadataColumns.Position.id))
    def files(before: RowDeletes, more: RowDeletes) = new FileDeletes(wanted, before, Some(more))
    assert(files(deletes(1, 2, 3), deletes(1, 3)).hasNoLiveRow && files(deletes(), deletes()).hasNoLiveRow)
    assert(!files(deletes(1), deletes(1, 2)).hasNoLiveRow && !files(deletes(), deletes(1L << 40)).hasNoLiveRow)
    val fileDeletes = new FileDeletes(wanted, deletes(1))
    assert(!fileDeletes.hasNoLiveRow && fileDeletes.candidatePositions.isEmpty)
  }
}
