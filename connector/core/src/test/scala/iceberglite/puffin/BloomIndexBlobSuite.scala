package iceberglite.puffin

import java.nio.ByteBuffer
import java.util.zip.CRC32

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.types.Type.LongType
import iceberglite.table.{MemoryFileIO, TestTables}

/** Tests the blob with the Bloom filters of many data files, and that damaged or forged blobs are rejected. */
class BloomIndexBlobSuite extends AnyFunSuite {
  private val snapshot = Snapshot(9L, None, 4L, 1000L, Some("l"), Vector.empty, Map.empty, Some(0))
  private val scope = BloomScope(1, ValueForm.of(LongType).get, "", 1 << 20)

  private def key(i: Int): BloomFileKey = BloomFileKey.of(TestTables.file(s"f$i"))

  private def filters(files: Int): Map[BloomFileKey, BloomFilter] = (0 until files).map { i =>
    val builder = new BloomFilter.Builder(1 << 20)
    (0 to i).foreach(value => builder += value * 0x9e3779b97f4a7c15L)
    key(i) -> builder.result()
  }.toMap

  private def puffin(blob: NewBlob): (MemoryFileIO, PuffinFile) = {
    val io = new MemoryFileIO
    PuffinWriter.write(io, "s.stats", Iterator(blob))
    (io, PuffinFile.open(io, "s.stats"))
  }

  private def open(blob: NewBlob, maxBytes: Long = 1 << 20): Option[BloomIndexBlob] = {
    val (io, file) = puffin(blob)
    BloomIndexBlob.open(io, file, file.blobs.head, maxBytes)
  }

  private def readAll(blob: BloomIndexBlob, keys: Seq[BloomFileKey]): Map[BloomFileKey, BloomFilter] =
    BloomIndexBlob.runs(blob.entriesOf(keys)).flatMap(blob.read).toMap

  private def rejection(blob: NewBlob): String =
    intercept[UnreadableFile](open(blob).foreach(b => readAll(b, (0 until 50).map(key)))).getMessage

  /** Returns the blob with other entries: the key's halves, and the offset, length and checksum of the filter. */
  private def forged(entries: Seq[(Long, Long, Long, Int, Int)], filterBytes: Int): NewBlob = {
    val directory = ByteBuffer.allocate(entries.size * 32)
    entries.foreach { case (high, low, offset, length, crc) =>
      directory.putLong(high).putLong(low).putLong(offset).putInt(length).putInt(crc)
    }
    val crc = new CRC32
    crc.update(scope.checked)
    crc.update(directory.array)
    val contents =
      ByteBuffer.allocate(entries.size * 32 + 4 + filterBytes).put(directory.array).putInt(crc.getValue.toInt)
    val valid = BloomIndexBlob.write(scope, snapshot, Map.empty)
    NewBlob(
      valid.metadata.copy(properties = valid.metadata.properties + ("files" -> entries.size.toString)),
      contents.array
    )
  }

  test("the filters of the requested files are read, and other files have none") {
    val blob = open(BloomIndexBlob.write(scope, snapshot, filters(50))).get
    val read = readAll(blob, Seq(3, 7, 49, 100).map(key))
    assert(read.keySet == Set(3, 7, 49).map(key))
    read.foreach { case (k, filter) => assert(filter.toBytes.sameElements(filters(50)(k).toBytes)) }
    assert(open(BloomIndexBlob.write(scope, snapshot, Map.empty)).get.entriesOf(Seq(key(1))).isEmpty)
    assert(blob.scope == scope)
  }

  test("a directory that is larger than allowed is not read") {
    val blob = BloomIndexBlob.write(scope, snapshot, filters(50))
    assert(open(blob, maxBytes = 50 * 32 + 4).isDefined && open(blob, maxBytes = 50 * 32 + 3).isEmpty)
  }

  test("filters that are near each other are read with one request") {
    val far = 1 << 16
    val offsets = Seq(0L, 32L, 64L + far, 64L + 2 * far + 33, 64L + 2 * far + 65)
    val entries = offsets.map(offset => BloomEntry(key(1), offset, 32, 0)).toVector
    assert(BloomIndexBlob.runs(Random.shuffle(entries)).map(_.map(_.offset)) == Vector(
      offsets.take(3),
      offsets.drop(3)
    ))
    val large = (0 until 3).map(i => BloomEntry(key(1), i * (5L << 20), 5 << 20, 0)).toVector
    assert(BloomIndexBlob.runs(large).map(_.size) == Vector(1, 1, 1) && BloomIndexBlob.runs(Vector.empty).isEmpty)
  }

  test("each changed bit and each truncation is noticed") {
    val valid = BloomIndexBlob.write(scope, snapshot, filters(50))
    val random = new Random(Fuzz.seed)
    val bits = random.shuffle((0 until valid.contents.length * 8).toVector).take(Fuzz.rounds(2000, least = 200))
    bits.foreach { bit =>
      val contents = valid.contents.clone()
      contents(bit / 8) = (contents(bit / 8) ^ (1 << bit % 8)).toByte
      assert(rejection(valid.copy(contents = contents)).contains("Bloom index in s.stats"), bit)
    }
    random.shuffle(valid.contents.indices.toVector).take(200).foreach { length =>
      rejection(valid.copy(contents = valid.contents.take(length)))
    }
  }

  test("changed properties are noticed, because the checksum of the directory covers them") {
    val valid = BloomIndexBlob.write(scope, snapshot, filters(50))
    val properties = valid.metadata.properties
    Seq("value-form" -> "string", "name-mapping" -> "ab", "max-filter-bytes" -> "7", "files" -> "49").foreach { p =>
      rejection(valid.copy(metadata = valid.metadata.copy(properties = properties + p)))
    }
    rejection(valid.copy(metadata = valid.metadata.copy(fields = Vector(2))))
    properties.keys.foreach(k => rejection(valid.copy(metadata = valid.metadata.copy(properties = properties - k))))
    Seq("-1", "x", "", "2147483647", "99999999999").foreach { files =>
      val message = rejection(valid.copy(metadata = valid.metadata.copy(properties = properties + ("files" -> files))))
      assert(message.contains("no valid property files"))
    }
    assert(rejection(valid.copy(codec = PuffinCodec.ZStandard)).contains("compressed"))
  }

  test("a forged directory with a valid checksum cannot point outside of the blob, nor at one filter many times") {
    def refused(entries: (Long, Long, Long, Int, Int)*): Unit = { rejection(forged(entries, 64)); () }
    refused((1, 1, 0, 32, 0))
    refused((1, 1, 0, 96, 0))
    refused((1, 1, 0, -32, 0), (2, 1, -32, 96, 0))
    refused((1, 1, 0, Int.MaxValue, 0))
    refused((1, 1, Long.MaxValue, 64, 0))
    refused((1, 1, -64, 64, 0))
    refused((1, 1, 32, 32, 0), (2, 1, 0, 32, 0))
    refused((1, 1, 0, 64, 0), (2, 1, 0, 64, 0))
    refused((2, 1, 0, 32, 0), (1, 1, 32, 32, 0))
    refused((1, 1, 0, 32, 0), (1, 1, 32, 32, 0))
    refused((1, 1, 0, 33, 0), (2, 1, 33, 31, 0))
    assert(open(forged(Seq((1, 1, 0, 32, 0), (2, 1, 32, 32, 0)), 64)).isDefined)
  }

  test("a damaged Puffin file is an error of the file, and takes no more memory than the file") {
    val (io, _) = puffin(BloomIndexBlob.write(scope, snapshot, filters(20)))
    val valid = io.read("s.stats")
    Fuzz.bytes("Bloom index", 500, Vector(valid)) { bytes =>
      val damaged = new MemoryFileIO
      damaged.write("s.stats", bytes)
      val file = PuffinFile.open(damaged, "s.stats")
      file.blobs.foreach { blob =>
        BloomIndexBlob.open(damaged, file, blob, 1 << 20).foreach(b => readAll(b, (0 until 20).map(key)))
      }
    }
  }
}
