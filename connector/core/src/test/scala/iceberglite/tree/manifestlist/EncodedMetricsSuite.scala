package iceberglite.tree.manifestlist

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.{ByteBuffer, ByteOrder}

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.avro.{AvroFault, AvroOutput}
import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ManifestContent, MetricMaps, Metrics}
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

/** Tests [[EncodedMetrics]], the metrics of a file that stay in Avro's encoding until they are accessed. */
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

  private def writtenAndRead(metrics: Seq[MetricMaps]): Vector[Metrics] = {
    val io = new MemoryFileIO
    val entries = metrics.iterator.zipWithIndex.map { case (m, i) => added(dataFile(s"f$i").copy(metrics = m)) }
    val manifest = Manifests.write(
      io,
      "m",
      ManifestHeader(FormatVersion.V2, ManifestContent.Data, schema, byId, 7L),
      entries
    )
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

  test("the decoded maps equal those that were written, and lookups return their values") {
    forAll(Gen.listOfN(3, all)) { written =>
      val read = writtenAndRead(written)
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

  test("bounds are read as numbers only if they have the expected width in bytes") {
    forAll(ids, Gen.long, Gen.long.map(_.toInt)) { (id, long, int) =>
      def littleEndian(size: Int)(put: ByteBuffer => ByteBuffer): ByteBuffer =
        put(ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN)).flip()
      val other = id / 2
      val lower = Map(other -> bytes(1), id -> littleEndian(8)(_.putLong(long)))
      val upper = Map(other -> bytes(), id -> littleEndian(4)(_.putInt(int)))
      val read = writtenAndRead(Seq(MetricMaps(lowerBounds = Some(lower), upperBounds = Some(upper)))).head
      assert(read.lowerNumber(id, 8) == long && read.upperNumber(id, 4) == int.toLong)
      assert(read.lowerNumber(id, 4) == Long.MinValue && read.upperNumber(id, 8) == Long.MaxValue)
      assert(read.lowerNumber(other, 8) == Long.MinValue && read.lowerNumber(id - 1, 8) == Long.MinValue)
    }
  }

  test("an Avro map may consist of several blocks, with or without block sizes in bytes") {
    forAll(Gen.mapOf(Gen.zip(ids, Gen.long)), Gen.choose(1, 4), Gen.oneOf(true, false)) { (expected, size, hasSizes) =>
      val out = new AvroOutput(64)
      expected.grouped(size).foreach { block =>
        val items = new AvroOutput(64)
        block.foreach { case (id, value) =>
          items.writeLong(id.toLong)
          items.writeLong(value)
        }
        out.writeLong((if (hasSizes) -1L else 1L) * block.size)
        if (hasSizes) out.writeLong(items.size.toLong)
        out.writeRaw(items.toBytes, 0, items.size)
      }
      out.writeLong(0)
      val map = out.toBytes
      (expected.keys.toVector :+ 301).foreach { id =>
        val at = EncodedMap.find(map, 0, id, lengthPrefixed = false)
        val found = if (at == EncodedMap.Absent) None else Some(EncodedMap.varint(map, at))
        assert(found == expected.get(id))
      }
    }
  }

  test("the end of an encoded map is found, and a truncated map is rejected") {
    forAll(Gen.listOf(Gen.zip(Gen.choose(-3, 200), Gen.choose(0, 200))), Gen.choose(1, 90), Gen.oneOf(true, false)) {
      (entries, size, lengthPrefixed) =>
        val out = new AvroOutput(64)
        entries.grouped(size).foreach { block =>
          out.writeLong(block.size.toLong)
          block.foreach { case (id, value) =>
            out.writeLong(id.toLong)
            if (lengthPrefixed) out.writeBytes(ByteBuffer.allocate(value))
            else out.writeLong(value.toLong << value % 57)
          }
        }
        out.writeLong(0)
        val end = out.size
        val map = out.toBytes ++ Array.fill[Byte](8)(2)
        // If the map may have duplicate keys, `endOfMap` returns the bitwise complement of the end position.
        val endOrComplement = EncodedMap.endOfMap(map, 0, end, lengthPrefixed)
        assert((if (endOrComplement < 0) ~endOrComplement else endOrComplement) == end)
        if (endOrComplement >= 0) assert(entries.map(_._1).distinct.size == entries.size)
        if (entries.map(_._1).distinct.size == entries.size && entries.forall(e => e._1 >= 0 && e._1 < 64))
          assert(endOrComplement == end)
        (0 until end).foreach(cut => intercept[AvroFault](EncodedMap.endOfMap(map, 0, cut, lengthPrefixed)))
    }
  }

  test("an IdMap equals a standard map with the same entries, and is sorted by id", ManifestRules.metricsMaps) {
    forAll(Gen.mapOf(Gen.zip(Gen.oneOf(Gen.choose(-5, 70), Gen.long.map(_.toInt)), Gen.long))) { expected =>
      val (ids, values) = expected.toVector.reverse.unzip
      val map = IdMap(ids.toArray, values.toArray)
      assert(map == expected && expected == map && map.size == expected.size && map.toVector.sorted == map.toVector)
      (ids :+ 4711).foreach(id => assert(map.get(id) == expected.get(id)))
      assert(map + (3 -> 5L) == expected + (3 -> 5L) && map - 3 == expected - 3)
    }
  }

  test("serialized metrics contain only their own bytes, and not the whole Avro block of the manifest") {
    val read = writtenAndRead(Vector.fill(500)(metrics))
    val (copy, size) = reserialized(read(250))
    assert(maps(copy) == metrics)
    assert(size < 1000)
    assert(maps(reserialized(copy)._1) == metrics)
    assert(maps(reserialized(writtenAndRead(Seq(MetricMaps())).head)._1) == MetricMaps())
  }
}
