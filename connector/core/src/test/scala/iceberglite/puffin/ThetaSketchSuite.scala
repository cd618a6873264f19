package iceberglite.puffin

import java.nio.{ByteBuffer, ByteOrder}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.StatisticsRules
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}

/** Tests of blobs of type `apache-datasketches-theta-v1` (see the Puffin specification). */
class ThetaSketchSuite extends AnyFunSuite {
  private def sketchOf(values: Iterable[Int]): ThetaSketch =
    values.foldLeft(ThetaSketch.newBuilder)((b, v) => b += IntLiteral(v)).result()

  private def rejection(bytes: Array[Byte]): String = {
    val error = intercept[UnreadableFile](ThetaSketch.parse("s.puffin", bytes))
    assert(error.getMessage.startsWith("Cannot read theta sketch in s.puffin: "))
    error.reason
  }

  test("a few values are counted exactly, and duplicates are counted only once", StatisticsRules.thetaSketch) {
    assert(sketchOf(Nil).ndv == 0 && sketchOf(0 until 3000).ndv == 3000)
    assert(sketchOf(Seq(5)).ndv == 1 && sketchOf(Seq(5, 5, 5)).ndv == 1)
  }

  test("many values are estimated, and a union estimates the values of both sketches", StatisticsRules.thetaSketch) {
    val (low, high) = (sketchOf(0 until 60000), sketchOf(30000 until 100000))
    assert(math.abs(low.estimate - 60000) < 3000 && math.abs(low.union(high).estimate - 100000) < 5000)
    assert(low.union(sketchOf(Nil)).ndv == low.ndv)
  }

  test("a sketch that is parsed from its bytes has the same estimate and bytes", StatisticsRules.thetaSketch) {
    Seq(0, 1, 2, 100, 4096, 5000, 100000).foreach { size =>
      val sketch = sketchOf(0 until size)
      val read = ThetaSketch.parse("s.puffin", sketch.toBytes)
      assert(read.estimate == sketch.estimate && read.toBytes.sameElements(sketch.toBytes))
    }
  }

  test(
    "the blob of a column has the field id, the snapshot and the property ndv, rounded down to an integer",
    StatisticsRules.thetaSketch
  ) {
    val snapshot = Snapshot(9L, None, 4L, 1000L, Some("l"), Vector.empty, Map.empty, Some(0))
    val blob = sketchOf(0 until 100000).blob(3, snapshot)
    assert(blob.metadata.blobType == "apache-datasketches-theta-v1" && blob.metadata.fields == Vector(3))
    assert(blob.metadata.snapshotId == 9L && blob.metadata.sequenceNumber == 4L && blob.codec == PuffinCodec.ZStandard)
    assert(blob.metadata.properties == Map("ndv" -> ThetaSketch.parse("s", blob.contents).estimate.toLong.toString))
  }

  test("values with different single-value bytes are counted separately", StatisticsRules.thetaSketch) {
    val mixed = ThetaSketch.newBuilder
    mixed += LongLiteral(1) += IntLiteral(1) += StringLiteral("1")
    assert(mixed.result().ndv == 3)
  }

  test(
    "truncated sketches, wrong hash counts and other kinds of sketches are rejected",
    StatisticsRules.puffinIsChecked
  ) {
    val sketch = sketchOf(0 until 100).toBytes
    sketch.indices.foreach(length => rejection(sketch.take(length)))
    Seq(Int.MaxValue, -1, 101).foreach { count =>
      val changed = sketch.clone()
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(8, count)
      assert(rejection(changed).contains(s"claims $count hashes"))
    }
    assert(rejection(sketch.updated(1, 4.toByte)).contains("serial version is 4"))
    assert(rejection(sketch.updated(2, 1.toByte)).contains("family is 1"))
    assert(rejection(sketch.updated(0, 5.toByte)).contains("preamble of 5 longs"))
    assert(rejection(sketch.updated(6, (sketch(6) + 1).toByte)).contains("The sketch is damaged"))
  }
}
