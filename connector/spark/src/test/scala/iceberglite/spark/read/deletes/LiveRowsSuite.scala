package iceberglite.spark.read.deletes

import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector
import org.apache.spark.sql.types.{IntegerType, LongType, StructField, StructType}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ScanRules
import iceberglite.puffin.DeletionVector
import iceberglite.spark.read.vector.SelectedVector

/** Checks which rows of a columnar batch are live, which means that no delete applies to them. */
class LiveRowsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def longs(values: Seq[Long]): OnHeapColumnVector = {
    val vector = new OnHeapColumnVector(math.max(1, values.size), LongType)
    values.zipWithIndex.foreach { case (v, i) => vector.putLong(i, v) }
    vector
  }

  test("live rows are found by their positions, even if pages were skipped", ScanRules.positionRows) {
    val positions =
      Gen.listOf(Gen.frequency(9 -> Gen.choose(1L, 5L), 1 -> Gen.choose(50L, 150L))).map(_.scanLeft(0L)(_ + _))
    forAll(positions, Gen.listOf(Gen.choose(0L, 300L)), Gen.choose(0L, 1L << 33)) { (inBatch, deleted, start) =>
      val vector = DeletionVector.of(deleted.map(_ + start): _*)
      val rows = new LiveRows(vector, Some(longs(inBatch.map(_ + start))), Array.empty, inBatch.size)
      val live = rows.select(inBatch.size)
      val expected = inBatch.indices.filterNot(i => deleted.contains(inBatch(i)))
      assert(rows.rowIndexes.take(live).toSeq == expected)
      assert(inBatch.indices.filter(rows.isDeleted(_)) == inBatch.indices.diff(expected))
    }
  }

  test("several deleted positions in a gap between rows do not match any row of the batch") {
    val rows = new LiveRows(DeletionVector.of(500, 501, 900), Some(longs(Seq(1L, 899L, 900L))), Array.empty, 3)
    assert(rows.select(3) == 2 && rows.rowIndexes.take(2).toSeq == Seq(0, 1))
  }

  test("deletes of one batch do not affect the next batch") {
    val positions = longs(Seq(0L, 1L, 2L))
    val rows = new LiveRows(DeletionVector.of(1), Some(positions), Array.empty, 3)
    assert(rows.select(3) == 2)
    (0 until 3).foreach(i => positions.putLong(i, 10L + i))
    assert(rows.select(3) == 3 && rows.select(0) == 0)
  }

  test("a selected vector returns the fields of structs of the selected rows") {
    val struct = new OnHeapColumnVector(3, StructType(Seq(StructField("x", IntegerType))))
    (0 until 3).foreach(i => struct.getChild(0).asInstanceOf[OnHeapColumnVector].putInt(i, i * 10))
    struct.putNull(1)
    val selected = new SelectedVector(struct, Array(2, 1, 0))
    assert(
      selected.getStruct(0).getInt(0) == 20 && selected.getStruct(1) == null && selected.getStruct(2).getInt(0) == 0
    )
    assert(selected.getChild(0) eq selected.getChild(0))
  }
}
