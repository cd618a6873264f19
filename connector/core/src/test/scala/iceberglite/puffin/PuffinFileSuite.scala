package iceberglite.puffin

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files
import java.nio.{ByteBuffer, ByteOrder}

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.Allocation
import iceberglite.conformance.StatisticsRules
import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile}
import iceberglite.spec.metadata.{BlobMetadata, PuffinBlob, PuffinFooter}
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}
import iceberglite.table.MemoryFileIO

/** Tests of the layout of Puffin files (see the Puffin specification). */
class PuffinFileSuite extends AnyFunSuite with TemporaryDirectory with ScalaCheckPropertyChecks {
  private val path = "t/metadata/s.puffin"

  private def metadata(blobType: String, properties: (String, String)*): BlobMetadata =
    BlobMetadata(blobType, 7L, 3L, Vector(1, 2), properties.toMap)

  /** The maximum number of bytes that the rejection of a damaged part of a file may allocate. */
  private val MaxAllocatedBytes = 4L << 20

  /** Runs a check that a read fails, and checks that it allocates at most `MaxAllocatedBytes`. */
  private def bounded[A](rejection: => A): A = {
    // The first call loads classes, so that their memory is not measured.
    rejection
    val (error, allocated) = Allocation.of(rejection)
    assert(allocated < MaxAllocatedBytes, s"the failed read allocated $allocated bytes")
    error
  }

  private def blob(text: String, codec: PuffinCodec = PuffinCodec.Uncompressed): NewBlob =
    NewBlob(metadata("some-type"), text.getBytes(UTF_8), codec)

  private def writeBlobs(blobs: Seq[NewBlob], packFooter: Boolean = false): (MemoryFileIO, WrittenPuffin) = {
    val io = new MemoryFileIO
    (io, PuffinWriter.write(io, path, blobs.iterator, Map("k" -> "v"), packFooter))
  }

  private def openBytes(bytes: Array[Byte]): PuffinFile = {
    val io = new MemoryFileIO
    io.write(path, bytes)
    PuffinFile.open(io, path)
  }

  private def file(footerJson: String, blobs: Array[Byte] = Array.emptyByteArray, flags: Int = 0): Array[Byte] =
    withFooter(footerJson.getBytes(UTF_8), blobs, flags)

  private def withFooter(payload: Array[Byte], blobs: Array[Byte], flags: Int): Array[Byte] = {
    val magic = "PFA1".getBytes(UTF_8)
    val out = ByteBuffer.allocate(blobs.length + payload.length + 20).order(ByteOrder.LITTLE_ENDIAN)
    out.put(magic).put(blobs).put(magic).put(payload).putInt(payload.length).putInt(flags).put(magic).array
  }

  private def blobJson(offset: Any, length: Any, more: String = ""): String =
    s"""{"blobs":[{"type":"a","fields":[1],"snapshot-id":2,"sequence-number":3,"offset":$offset,""" +
      s""""length":$length$more}]}"""

  test(
    "a file consists of magic, blobs and a footer with magic, payload, payload size, flags and magic, as specified",
    StatisticsRules.puffinLayout,
    StatisticsRules.puffinFooter
  ) {
    val (io, puffin) = writeBlobs(Seq(blob("abc"), blob("")))
    val json = """{"blobs":[""" +
      """{"type":"some-type","snapshot-id":7,"sequence-number":3,"fields":[1,2],"offset":4,"length":3},""" +
      """{"type":"some-type","snapshot-id":7,"sequence-number":3,"fields":[1,2],"offset":7,"length":0}],""" +
      """"properties":{"created-by":"iceberg-lite","k":"v"}}"""
    assert(io.read(path).sameElements(file(json, "abc".getBytes(UTF_8))))
    assert(puffin.footerSizeInBytes == 4 + json.length + 12 && puffin.fileSizeInBytes == io.read(path).length)
    val read = PuffinFile.open(io, path)
    assert(read.blobs == puffin.blobs && read.footerSizeInBytes == puffin.footerSizeInBytes)
    assert(read.footer.properties == Map("created-by" -> "iceberg-lite", "k" -> "v"))
    assert(read.blobs.map(b => new String(read.read(b), UTF_8)) == Vector("abc", ""))
  }

  private val contents: Gen[Array[Byte]] = for {
    size <- Gen.choose(0, 5000)
    seed <- Gen.choose(0, 1 << 30)
    repeats <- Gen.oneOf(1, 1, 50)
  } yield {
    val bytes = new Array[Byte](size)
    new Random(seed).nextBytes(bytes)
    Array.fill(repeats)(bytes).flatten
  }

  test(
    "random blobs with any codecs are read as they were written",
    StatisticsRules.puffinCodecs,
    StatisticsRules.puffinPackedFooter
  ) {
    val codecs = Gen.oneOf(PuffinCodec.all)
    val blobs = Gen.listOf(Gen.zip(contents, codecs, Gen.mapOf(Gen.zip(Gen.alphaStr, Gen.asciiPrintableStr))))
    forAll(blobs, Gen.oneOf(true, false)) { (generated, packFooter) =>
      val all = generated.map { case (bytes, codec, p) => NewBlob(metadata("x", p.toSeq: _*), bytes, codec) }
      val (io, puffin) = writeBlobs(all, packFooter)
      val read = PuffinFile.open(io, path)
      assert(read.blobs.map(_.metadata) == all.map(_.metadata))
      assert(read.blobs.map(_.compressionCodec) == all.map(_.codec.name))
      assert(read.blobs.zip(all).forall { case (b, expected) => read.read(b).sameElements(expected.contents) })
      assert(read.footerSizeInBytes == puffin.footerSizeInBytes)
    }
  }

  test("a footer that is longer than the first read request is read completely", StatisticsRules.puffinFooter) {
    val blobs = (0 until 2000).map(i => NewBlob(metadata("x", "n" -> i.toString), Array(i.toByte)))
    val io = new HadoopFileIO(new Configuration(false))
    val filePath = directory.resolve("many.puffin").toString
    val puffin = PuffinWriter.write(io, filePath, blobs.iterator)
    assert(puffin.footerSizeInBytes > 100000)
    val read = PuffinFile.open(io, filePath, Some(Files.size(directory.resolve("many.puffin"))))
    assert(read.blobs == puffin.blobs && read.read(read.blobs(1234)).sameElements(blobs(1234).contents))
  }

  test("a compressed footer is an LZ4 frame, and unknown flags are rejected", StatisticsRules.puffinPackedFooter) {
    val json = blobJson(4, 0)
    val packed = PuffinCodec.Lz4.compress(json.getBytes(UTF_8))
    assert(openBytes(withFooter(packed, Array.emptyByteArray, 1)).blobs.size == 1)
    Seq(2, 3, 0x100, 0x80000000).foreach { flags =>
      val error = intercept[UnreadableFile](openBytes(file(json, flags = flags)))
      assert(error.getMessage.startsWith(s"Cannot read Puffin file $path: The footer has the flags"))
    }
    assert(intercept[UnreadableFile](openBytes(file(json, flags = 1))).reason.contains("The data is not an LZ4 frame"))
  }

  test("a truncated file is rejected", StatisticsRules.puffinIsChecked) {
    val (io, _) = writeBlobs(Seq(blob("abc"), blob("def", PuffinCodec.ZStandard)))
    val validFile = io.read(path)
    validFile.indices.foreach(length => intercept[UnreadableFile](openBytes(validFile.take(length))))
    assert(intercept[UnreadableFile](PuffinFile.open(io, "t/none.puffin")).reason.contains("does not exist"))
  }

  test("a wrong magic at any of its three positions is rejected", StatisticsRules.puffinIsChecked) {
    val validFile = file(blobJson(4, 0))
    Seq(0, 4, validFile.length - 4).foreach { at =>
      assert(intercept[UnreadableFile](openBytes(validFile.updated(at, 'X'.toByte))).reason.contains("magic PFA1"))
    }
  }

  test("an impossible size of the footer payload is rejected", StatisticsRules.puffinIsChecked) {
    val validFile = file(blobJson(4, 0))
    // The JVM could allocate an array of 64 MiB.
    Seq(Int.MaxValue, -1, Int.MinValue, 1 << 26, validFile.length).foreach { size =>
      val changed = validFile.clone()
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(validFile.length - 12, size)
      val error = bounded(intercept[UnreadableFile](openBytes(changed)))
      assert(error.reason.contains(s"a payload of $size bytes"))
    }
  }

  test("a file whose size differs from the size in the metadata is rejected", StatisticsRules.puffinIsChecked) {
    val (io, puffin) = writeBlobs(Seq(blob("abc")))
    intercept[UnreadableFile](PuffinFile.open(io, path, Some(puffin.fileSizeInBytes + 1)))
    intercept[UnreadableFile](PuffinFile.open(io, path, Some(Long.MaxValue)))
    intercept[UnreadableFile](PuffinFile.open(io, path, Some(-5L)))
  }

  test("the error for a blob outside the blob area contains the index of the blob", StatisticsRules.puffinIsChecked) {
    def rejection(json: String): InvalidMetadata =
      intercept[InvalidMetadata](openBytes(file(json, "abcdef".getBytes(UTF_8))))
    assert(openBytes(file(blobJson(4, 6), "abcdef".getBytes(UTF_8))).blobs.head.length == 6)
    val ranges = Seq[(Any, Any)](0 -> 1, 3 -> 1, 4 -> 7, 10 -> 1, 11 -> 0, Long.MaxValue -> 1, 4 -> Long.MaxValue)
    ranges.foreach { case (offset, length) => assert(rejection(blobJson(offset, length)).path == "$.blobs[0]") }
    assert(rejection(blobJson(-1, 1)).path == "$.blobs[0].offset")
    assert(rejection(blobJson(4, -1)).path == "$.blobs[0].length")
    val two = s"""{"blobs":[${Seq(8 -> 2, 4 -> 5).map { case (o, l) =>
        blobJson(o, l).stripPrefix("{\"blobs\":[").stripSuffix("]}")
      }.mkString(",")}]}"""
    val overlapping = rejection(two)
    assert(overlapping.path == "$.blobs[0]" && overlapping.reason.contains("The blob starts at 8"))
    assert(rejection("{}").getMessage == s"Invalid metadata in $path at $$: The key blobs is missing")
  }

  test(
    "a file can be opened even if a blob has an unknown codec, and reading this blob fails",
    StatisticsRules.puffinCodecs
  ) {
    val read = openBytes(file(blobJson(4, 2, ""","compression-codec":"brotli""""), "ab".getBytes(UTF_8)))
    val error = intercept[UnreadableFile](read.read(read.blobs.head))
    assert(error.getMessage ==
      s"Cannot read blob a at 4 of $path: The codec brotli is not supported. Supported codecs are lz4 and zstd")
  }

  for (codec <- Seq(PuffinCodec.Lz4, PuffinCodec.ZStandard)) {
    val name = codec.name.getOrElse("")

    def rejection(packed: Array[Byte]): String = {
      val read = openBytes(file(blobJson(4, packed.length, s""","compression-codec":"$name""""), packed))
      intercept[UnreadableFile](read.read(read.blobs.head)).reason
    }

    test(s"a truncated or extended $name blob is rejected", StatisticsRules.puffinIsChecked) {
      val packed = codec.compress(Array.tabulate(3000)(i => (i % 251).toByte))
      (0 until packed.length).foreach(length => rejection(packed.take(length)))
      rejection(packed ++ codec.compress(Array(1, 2, 3)))
      rejection(packed ++ Array.fill(10)(9.toByte))
    }
  }

  test("an impossible content size is rejected", StatisticsRules.puffinIsChecked) {
    val lz4 = PuffinCodec.Lz4.compress(new Array[Byte](1000))
    // The content size of an LZ4 frame is at byte 6, and its header checksum at byte 14.
    def claiming(size: Long): Array[Byte] = {
      val changed = lz4.clone()
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putLong(6, size)
      val hash = net.jpountz.xxhash.XXHashFactory.safeInstance.hash32.hash(changed, 4, 10, 0)
      changed(14) = (hash >> 8).toByte
      changed
    }
    // The JVM could allocate an array of 64 MiB.
    Seq(Long.MaxValue, 1L << 40, 1L << 30, 1L << 26).foreach { size =>
      val error = bounded(intercept[DamagedBlob](PuffinCodec.Lz4.decompress(claiming(size))))
      assert(error.reason.contains(s"claims $size bytes"))
    }
    Seq(0L, 999L, 1001L).foreach(size => intercept[DamagedBlob](PuffinCodec.Lz4.decompress(claiming(size))))
    val huge = Array(0x28, 0xb5, 0x2f, 0xfd, 0xe0).map(_.toByte) ++ Array.fill(7)(0xff.toByte) ++ Array(0x7f, 1, 0, 0)
      .map(_.toByte)
    assert(bounded(intercept[DamagedBlob](PuffinCodec.ZStandard.decompress(huge))).reason.contains("bytes expand to"))
  }

  test(
    "a blob whose claimed uncompressed size is above the limit for blobs is rejected",
    StatisticsRules.puffinIsChecked
  ) {
    val bomb = PuffinCodec.ZStandard.compress(new Array[Byte]((1 << 28) + 1))
    assert(bomb.length < 100000)
    val error = bounded(intercept[DamagedBlob](PuffinCodec.ZStandard.decompress(bomb)))
    assert(error.reason.contains("more than the limit"))
  }

  test("a compressed frame without content size is rejected", StatisticsRules.puffinCodecs) {
    val out = new java.io.ByteArrayOutputStream
    val frame = new net.jpountz.lz4.LZ4FrameOutputStream(out)
    frame.write(Array[Byte](1, 2, 3))
    frame.close()
    assert(intercept[DamagedBlob](PuffinCodec.Lz4.decompress(out.toByteArray)).reason.contains("has no content size"))
    val stream = new java.io.ByteArrayOutputStream
    val zstd = new com.github.luben.zstd.ZstdOutputStream(stream)
    zstd.write(Array[Byte](1, 2, 3))
    zstd.close()
    intercept[DamagedBlob](PuffinCodec.ZStandard.decompress(stream.toByteArray))
  }

  test(
    "a statistics file entry has the path, the sizes and the blobs of the Puffin file",
    StatisticsRules.tableStatistics
  ) {
    val (io, puffin) = writeBlobs(Seq(blob("abc")))
    val statistics = puffin.statistics(7L)
    assert(statistics.statisticsPath == path && statistics.snapshotId == 7L)
    assert(statistics.fileSizeInBytes == io.read(path).length)
    assert(statistics.fileFooterSizeInBytes == PuffinFile.open(io, path).footerSizeInBytes)
    assert(statistics.blobMetadata == Vector(metadata("some-type")))
  }

  test("missing footer keys have default values, and unknown keys are ignored", StatisticsRules.puffinFooter) {
    val read = openBytes(file("""{"x":1,"blobs":[{"type":"a","fields":[],"snapshot-id":-1,"sequence-number":-1,
      "offset":4,"length":0,"compression-codec":null,"y":{}}],"properties":null}"""))
    assert(read.footer == PuffinFooter(
      Vector(PuffinBlob(BlobMetadata("a", -1, -1, Vector.empty, Map.empty), 4, 0)),
      Map.empty
    ))
  }
}
