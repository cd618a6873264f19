package iceberglite.io

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.ByteBuffer

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ManifestRules
import iceberglite.io.ManifestSamples._
import iceberglite.spec.{FormatVersion, ManifestContent, MetricMaps, Metrics}
import iceberglite.table.MemoryFileIO

class EncodedMetricsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val ids = Gen.oneOf(Gen.choose(1, 300), Gen.const(Int.MaxValue - 107))
  private val counts: Gen[Option[Map[Int, Long]]] =
    Gen.option(Gen.mapOf(Gen.zip(ids, Gen.oneOf(Gen.choose(0L, 100L), Gen.long))))
  private val bounds: Gen[Option[Map[Int, ByteBuffer]]] =
    Gen.option(Gen.mapOf(Gen.zip(ids, Gen.listOf(Gen.choose(-128, 127)).map(b => bytes(b: _*)))))
  private val all: Gen[MetricMaps] = for {
    sizes <- counts
    values <- counts
    nulls <- counts
    nans <- counts
    lower <- bounds
    upper <- bounds
  } yield MetricMaps(sizes, values, nulls, nans, lower, upper)

  private def encoded(metrics: Seq[MetricMaps]): Vector[Metrics] = {
    val io = new MemoryFileIO
    val entries = metrics.iterator.zipWithIndex.map { case (m, i) => added(dataFile(s"f$i").copy(metrics = m)) }
    val manifest = Manifests.write(io, "m", FormatVersion.V2, ManifestContent.Data, schema, byId, 7L, entries)
    Manifests.read(io, committed(manifest, 1L), Map(0 -> byId), schema).map(_.file.metrics).toVector
  }

  private def reserialized(metrics: Metrics): (Metrics, Int) = {
    val out = new ByteArrayOutputStream
    val objects = new ObjectOutputStream(out)
    objects.writeObject(metrics)
    objects.close()
    val in = new ObjectInputStream(new ByteArrayInputStream(out.toByteArray))
    (in.readObject().asInstanceOf[Metrics], out.size)
  }

  test("the maps are the ones that were written, and a lookup finds what they hold") {
    forAll(Gen.listOfN(3, all)) { written =>
      val read = encoded(written)
      assert(read.map(maps) == written)
      read.zip(written).foreach { case (m, w) =>
        (1 to 300).foreach { id =>
          assert(m.columnSize(id) == w.columnSize(id) && m.valueCount(id) == w.valueCount(id))
          assert(m.nullValueCount(id) == w.nullValueCount(id) && m.nanValueCount(id) == w.nanValueCount(id))
          assert(m.lowerBound(id) == w.lowerBound(id) && m.upperBound(id) == w.upperBound(id))
        }
      }
    }
  }

  test("a map by id is one like any other", ManifestRules.metricsMaps) {
    forAll(Gen.mapOf(Gen.zip(Gen.oneOf(Gen.choose(-5, 70), Gen.long.map(_.toInt)), Gen.long))) { expected =>
      val (ids, values) = expected.toVector.reverse.unzip
      val map = IdMap(ids.toArray, values.toArray)
      assert(map == expected && expected == map && map.size == expected.size && map.toVector.sorted == map.toVector)
      (ids :+ 4711).foreach(id => assert(map.get(id) == expected.get(id)))
      assert(map + (3 -> 5L) == expected + (3 -> 5L) && map - 3 == expected - 3)
    }
  }

  test("a serialized one takes along its own bytes and not the block") {
    val read = encoded(Vector.fill(500)(metrics))
    val (copy, size) = reserialized(read(250))
    assert(maps(copy) == metrics)
    assert(size < 1000)
    assert(maps(reserialized(copy)._1) == metrics)
    assert(maps(reserialized(encoded(Seq(MetricMaps())).head)._1) == MetricMaps())
  }
}
