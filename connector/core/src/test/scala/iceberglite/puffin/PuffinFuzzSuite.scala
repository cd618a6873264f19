package iceberglite.puffin

import java.nio.charset.StandardCharsets.UTF_8
import java.util.zip.CRC32

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.conformance.StatisticsRules
import iceberglite.spec.IcebergError
import iceberglite.spec.json.PuffinFooterJson
import iceberglite.spec.metadata.BlobMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.table.MemoryFileIO

/** Tests that reading damaged Puffin files, deletion vectors or sketches succeeds or throws an `IcebergError`. */
@MoreRoundsInSlowTier
class PuffinFuzzSuite extends AnyFunSuite {
  private val path = "s.puffin"

  private val vectors: IndexedSeq[DeletionVector] = IndexedSeq(
    DeletionVector.Empty,
    DeletionVector.of(1, 3, 5),
    DeletionVector.of((0L until 20000L by 3) ++ (70000L until 90000L): _*),
    DeletionVector.of(0L, 1L << 32, (3L << 32) + 70000)
  )

  private def puffin(packFooter: Boolean, codec: PuffinCodec): Array[Byte] = {
    val io = new MemoryFileIO
    val blobs = vectors.iterator.map { v =>
      NewBlob(BlobMetadata("deletion-vector-v1", -1, -1, Vector(1), Map("a" -> "b")), v.toBytes, codec)
    }
    PuffinWriter.write(io, path, blobs, Map.empty, packFooter)
    io.read(path)
  }

  private def readAll(bytes: Array[Byte]): Unit = {
    val io = new MemoryFileIO
    io.write(path, bytes)
    val file = PuffinFile.open(io, path)
    file.blobs.foreach { blob =>
      try file.read(blob)
      catch { case _: IcebergError => () }
    }
  }

  test("reading a damaged Puffin file succeeds or throws an IcebergError", StatisticsRules.puffinIsChecked) {
    val valid = for (packed <- IndexedSeq(false, true); codec <- PuffinCodec.all) yield puffin(packed, codec)
    Fuzz.bytes("Puffin file", 1500, valid)(readAll)
  }

  test("parsing a damaged footer succeeds or throws an IcebergError", StatisticsRules.puffinIsChecked) {
    val io = new MemoryFileIO
    io.write(path, puffin(packFooter = false, PuffinCodec.Uncompressed))
    val json = PuffinFooterJson.toJson(PuffinFile.open(io, path).footer)
    Fuzz.json("Puffin footer", 500, IndexedSeq(json))(text => PuffinFooterJson.parse(path, text.getBytes(UTF_8)))
  }

  test(
    "parsing a damaged deletion vector succeeds or throws an IcebergError, even if its checksum is correct",
    StatisticsRules.vectorIsChecked
  ) {
    val valid = vectors.map(_.toBytes)
    Fuzz.bytes("deletion vector", 1000, valid)(DeletionVector.parse(path, "d.parquet", _))
    Fuzz.bytes("sealed deletion vector", 1500, valid.map(b => b.slice(4, b.length - 4))) { inside =>
      val crc = new CRC32
      crc.update(inside)
      val blob = java.nio.ByteBuffer.allocate(inside.length + 8).putInt(inside.length).put(inside)
        .putInt(crc.getValue.toInt)
      val vector = DeletionVector.parse(path, "d.parquet", blob.array)
      // A vector that is parsed without an error must be consistent.
      var count = 0
      vector.foreachIn(0, 200000)(p => { assert(vector.isDeleted(p)); count += 1 })
      assert(count <= vector.cardinality && DeletionVector.parse(path, "d", vector.toBytes) == vector)
    }
  }

  test("decompressing a damaged frame succeeds or throws DamagedBlob", StatisticsRules.puffinIsChecked) {
    val contents = vectors.map(_.toBytes)
    Seq(PuffinCodec.Lz4, PuffinCodec.ZStandard).foreach { codec =>
      Fuzz.bytes(s"$codec frame", 1000, contents.map(codec.compress)) { packed =>
        try codec.decompress(packed)
        catch { case DamagedBlob(_) => () }
      }
    }
  }

  test("parsing a damaged Theta sketch succeeds or throws an IcebergError", StatisticsRules.puffinIsChecked) {
    val valid = IndexedSeq(0, 1, 50, 6000).map { size =>
      (0 until size).foldLeft(ThetaSketch.newBuilder)((b, v) => b += IntLiteral(v)).result().toBytes
    }
    Fuzz.bytes("theta sketch", 1000, valid) { bytes =>
      val sketch = ThetaSketch.parse(path, bytes)
      sketch.union(sketch).ndv
    }
  }

  test(
    "reading a deletion vector by a damaged entry succeeds or throws an IcebergError",
    StatisticsRules.vectorIsChecked
  ) {
    val io = new MemoryFileIO
    val entry = DeletionVectorFiles.write(io, path, Seq(DeletedRows("d", 0, PartitionTuple.Empty, vectors(2)))).head
    val numbers =
      IndexedSeq(-1L, 0L, 3L, 4L, 100L, Int.MaxValue.toLong, Int.MaxValue + 1L, Long.MaxValue, Long.MinValue)
    DeletionVectorFiles.read(io, entry) // The undamaged entry can be read.
    Fuzz.run("entry of a deletion vector", 300) { random =>
      def number(usual: Long): Long = if (random.nextInt(3) == 0) numbers(random.nextInt(numbers.size)) else usual
      entry.copy(
        recordCount = number(entry.recordCount),
        fileSizeInBytes = number(entry.fileSizeInBytes),
        contentOffset = entry.contentOffset.map(number),
        contentSizeInBytes = entry.contentSizeInBytes.map(number)
      )
    }(DeletionVectorFiles.read(io, _))
  }
}
