package iceberglite.avro

import java.io.ByteArrayInputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import org.scalatest.concurrent.TimeLimitedTests
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import iceberglite.{Allocation, Fuzz}
import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.{
  Content,
  ContentFile,
  FileFormat,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  MetricMaps
}
import iceberglite.storage.MetadataFiles
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.{ManifestDecoder, ManifestEntryColumns, ManifestLists, Manifests, PartitionCodec}
import iceberglite.tree.manifestlist.ManifestSamples._
import iceberglite.tree.manifestlist.{ManifestHeader, ManifestListHeader}

/** Tests that damaged and malicious manifests and metadata files are read without unbounded time or memory. */
class HostileAvroSuite extends AnyFunSuite with TimeLimitedTests {
  override val timeLimit: Span = Span(60, Seconds)

  private val sync = Array.fill(AvroContainer.SyncSize)(7.toByte)
  private val columns = new ManifestEntryColumns(new PartitionCodec(byId.partitionType(schema)))
  private val ownSchema = AvroSchemas.of(columns.struct(FormatVersion.V3), columns.name).toString

  private def listed(content: ManifestContent = ManifestContent.Data): ManifestFile = {
    val none = Manifests.write(
      new MemoryFileIO,
      "m.avro",
      ManifestHeader(FormatVersion.V3, content, schema, byId, 7L),
      Iterator.empty
    )
    committed(none.copy(length = 0L), 9L)
  }

  private def reasonOf(bytes: Array[Byte], content: ManifestContent = ManifestContent.Data): String = {
    val io = new MemoryFileIO
    io.write("m.avro", bytes)
    val error = intercept[UnreadableFile] {
      Manifests.read(io, listed(content), Map(0 -> byId), schema).foreach(e => maps(e.file.metrics))
    }
    assert(error.file == "m.avro" && error.role == "manifest" && error.getMessage.length < 2000)
    error.reason
  }

  /** Like `reasonOf`, but also checks that the read allocates little memory compared with the size of the file. */
  private def boundedReasonOf(bytes: Array[Byte]): String = {
    // The first call loads classes, so that their memory is not measured.
    reasonOf(bytes)
    val (reason, allocated) = Allocation.of(reasonOf(bytes))
    assert(allocated < (16L << 20) + 100L * bytes.length, s"reading ${bytes.length} bytes allocated $allocated bytes")
    reason
  }

  /** Returns an Avro file with a header, followed by the bytes that `body` writes. */
  private def file(json: String, codec: String = "null")(body: AvroOutput => Unit): Array[Byte] = {
    val out = new AvroOutput
    out.writeRaw(ByteBuffer.wrap(AvroContainer.Magic))
    out.writeLong(2)
    Seq(AvroContainer.SchemaKey -> json, AvroContainer.CodecKey -> codec).foreach { case (key, value) =>
      out.writeText(key)
      out.writeBytes(ByteBuffer.wrap(value.getBytes(UTF_8)))
    }
    out.writeLong(0)
    out.writeRaw(ByteBuffer.wrap(sync))
    body(out)
    out.toBytes
  }

  private def block(out: AvroOutput, records: Long, bytes: Array[Byte], mark: Array[Byte] = sync): Unit = {
    out.writeLong(records)
    out.writeBytes(ByteBuffer.wrap(bytes))
    out.writeRaw(ByteBuffer.wrap(mark))
  }

  private def encoded(write: AvroOutput => Unit): Array[Byte] = {
    val out = new AvroOutput
    write(out)
    out.toBytes
  }

  private def oneEntry(entry: ManifestEntry): Array[Byte] =
    encoded(columns.write(entry.copy(snapshotId = Some(7L)), _, FormatVersion.V3))

  private def withEntry(file: ContentFile): Array[Byte] =
    this.file(ownSchema)(block(_, 1, oneEntry(added(file))))

  // The JVM could allocate arrays of the last size.
  private val huge = Seq(Long.MaxValue, Long.MinValue, -1L, Int.MaxValue.toLong, 1L << 40, 1L << 26)

  test("implausible lengths and counts are rejected", ManifestRules.damaged) {
    huge.foreach { n =>
      val pairs = encoded { out =>
        out.writeRaw(ByteBuffer.wrap(AvroContainer.Magic))
        out.writeLong(n)
        out.writeText("a")
      }
      assert(boundedReasonOf(pairs).nonEmpty)
      val text = encoded { out =>
        out.writeRaw(ByteBuffer.wrap(AvroContainer.Magic))
        out.writeLong(1)
        out.writeLong(n)
      }
      assert(boundedReasonOf(text).contains("claims"))
      assert(boundedReasonOf(file(ownSchema)(block(_, n, oneEntry(added(dataFile("a")))))).contains("claims"))
      val length = file(ownSchema) { out =>
        out.writeLong(1)
        out.writeLong(n)
      }
      assert(boundedReasonOf(length).contains("claims"))
      val array = file(ownSchema)(block(_, 1, encoded(_.writeLong(1)) ++ encoded(_.writeLong(n))))
      assert(boundedReasonOf(array).nonEmpty)
    }
  }

  private def entryWith(extra: String): String =
    s"""{"type":"record","name":"e","fields":[{"name":"x","type":$extra},""" +
      ownSchema.substring(ownSchema.indexOf("\"fields\":[") + 10)

  test("a recursive schema, or a schema that expands exponentially, is rejected", ManifestRules.damaged) {
    val itself = """{"type":"record","name":"n","fields":[{"name":"again","type":["null","n"]}]}"""
    assert(boundedReasonOf(file(entryWith(itself))(block(_, 1, Array[Byte](0)))).contains("contains itself"))
    val leaf = """{"type":"record","name":"n0","fields":[]}"""
    val doubling = (1 to 60).foldLeft(leaf) { (inner, i) =>
      s"""{"type":"record","name":"n$i","fields":[{"name":"a","type":$inner},{"name":"b","type":"n${i - 1}"}]}"""
    }
    assert(boundedReasonOf(file(entryWith(doubling))(block(_, 1, Array[Byte](0)))).contains("20000 nodes"))
  }

  test("a schema that is deeply nested, very wide or invalid is rejected", ManifestRules.damaged) {
    val deep = Seq(10000, 400).map(n => """{"type":"array","items":""" * n + "\"int\"" + "}" * n)
    val records = (1 to 10000).map(i => s"""{"type":"record","name":"n$i","fields":[{"name":"a","type":""").mkString
    val unions = (1 to 30000).map(i => s"""{"type":"fixed","size":1,"name":"f$i"}""").mkString("[", ",", "]")
    val junk = Seq("null", "1", "\"nothing\"", "{}", "[]", "{\"type\":\"record\"}", "", "\u0000")
    (deep.take(1) ++ Seq(records, unions) ++ junk).foreach { json =>
      assert(boundedReasonOf(file(entryWith(json))(block(_, 1, Array[Byte](0)))).nonEmpty, json.take(100))
      assert(boundedReasonOf(file(json)(block(_, 1, Array[Byte](0)))).nonEmpty, json.take(100))
    }
    val fixed = """{"type":"fixed","name":"f","size":2147483000}"""
    assert(boundedReasonOf(file(entryWith(fixed))(block(_, 1, Array[Byte](0)))).contains("ends in the middle"))
  }

  test("a list with billions of items that take no bytes is rejected in bounded time", ManifestRules.damaged) {
    val nulls = """{"type":"array","items":"null"}"""
    val many = Array.fill(20000)(encoded(_.writeLong(100000))).flatten ++ Array.fill(300000)(2.toByte)
    assert(boundedReasonOf(file(entryWith(nulls))(block(_, 1, many))).nonEmpty)
  }

  test("decompression bombs in blocks are rejected", ManifestRules.damaged) {
    val zeros = new Array[Byte](AvroContainer.MaxBlockBytes / 4)
    val codecs = Seq(AvroCodec.Default, AvroCodec.Zstandard(3))
    codecs.foreach { codec =>
      val compressed = codec.compress(zeros, zeros.length)
      val bomb = file(ownSchema, codec.name) { out =>
        (0 until 6).foreach(_ => block(out, zeros.length.toLong, compressed))
      }
      assert(reasonOf(bomb).nonEmpty)
      val records = file("""{"type":"record","name":"r","fields":[]}""", codec.name) { out =>
        (0 until 6).foreach(_ => block(out, 1, compressed))
      }
      val read = AvroContainerReader.open(records).records(in => in.skip(in.remaining))
      assert(intercept[AvroFault](read.foreach(_ => ())).reason.contains("decompress to"))
    }
    val most = AvroContainer.MaxBlockBytes + 1
    val larger = AvroCodec.Default.compress(new Array[Byte](most), most)
    assert(reasonOf(file(ownSchema, "deflate")(block(_, 1, larger))).contains("more than"))
    val snappy = encoded(out => Fuzz.varint(1L << 30).foreach(b => out.writeByte(b.toInt))) ++ new Array[Byte](40)
    assert(reasonOf(file(ownSchema, "snappy")(block(_, 1, snappy))).contains("claims"))
  }

  test("a block with a wrong sync marker, codec or checksum is rejected", ManifestRules.damaged) {
    val entry = oneEntry(added(dataFile("a")))
    assert(reasonOf(file(ownSchema)(block(_, 1, entry, sync.map(b => (b + 1).toByte)))).contains("sync marker"))
    Seq("deflate", "snappy", "zstandard").foreach { codec =>
      assert(reasonOf(file(ownSchema, codec)(block(_, 1, entry))).nonEmpty)
    }
    assert(reasonOf(file(ownSchema, "lzma")(block(_, 1, entry))).contains("codec lzma"))
    val compressed = AvroCodec.SnappyCodec.compress(entry, entry.length)
    compressed(compressed.length - 1) = (compressed.last + 1).toByte
    assert(reasonOf(file(ownSchema, "snappy")(block(_, 1, compressed))).contains("checksum"))
  }

  test("a schema with a duplicate field id is rejected", ManifestRules.damaged) {
    assert(reasonOf(file(ownSchema.replace("\"field-id\":104", "\"field-id\":103"))(_ => ())).contains("103) twice"))
    val wide = ownSchema.replace(
      """{"name":"id","type":["null","long"],"default":null,"field-id":1000}""",
      """{"name":"id","type":"long","field-id":1000},{"name":"od","type":"long","field-id":1000}"""
    )
    assert(wide != ownSchema && reasonOf(file(wide)(_ => ())).contains("field id twice"))
  }

  test("a duplicate column in a metrics map is rejected", ManifestRules.damaged, ManifestRules.metricsMaps) {
    val counts = MetricMaps(valueCounts = Some(Map(300 -> 77L, 301 -> 78L)))
    val once = oneEntry(added(dataFile("a").copy(metrics = counts)))
    val at = once.indexOfSlice(encoded { out => out.writeLong(301); out.writeLong(78) })
    val twice = once.patch(at, encoded(_.writeLong(300)), 2)
    assert(reasonOf(file(ownSchema)(block(_, 1, twice))).contains("value_counts contain the column 300 twice"))
  }

  test("the error for a negative count or size, or for too many row ids, contains the field", ManifestRules.damaged) {
    val data = dataFile("a")
    assert(reasonOf(withEntry(data.copy(recordCount = -2L))).contains("record_count (field 103)"))
    assert(reasonOf(withEntry(data.copy(fileSizeInBytes = -5L))).contains("file_size_in_bytes (field 104)"))
    assert(reasonOf(withEntry(data.copy(firstRowId = Some(-5L)))).contains("first_row_id (field 142)"))
    val old = oneEntry(added(data).copy(sequenceNumber = Some(-2L)))
    assert(reasonOf(file(ownSchema)(block(_, 1, old))).contains("sequence_number (field 3)"))
    val rows = file(ownSchema) { out =>
      block(out, 2, Array.fill(2)(oneEntry(added(data.copy(recordCount = Long.MaxValue)))).flatten)
    }
    val io = new MemoryFileIO
    io.write("m.avro", rows)
    val error = intercept[UnreadableFile] {
      Manifests.read(io, listed().copy(firstRowId = Some(5L)), Map(0 -> byId), schema).toVector
    }
    assert(error.reason.contains("row ids"))
  }

  test(
    "delete files whose required fields are missing or negative are rejected",
    ManifestRules.vectorFields,
    ManifestRules.equalityIds
  ) {
    val deletes = ManifestContent.Deletes
    val vector = dataFile("v").copy(
      content = Content.PositionDeletes,
      format = FileFormat.Puffin,
      referencedDataFile = Some("a.parquet"),
      contentOffset = Some(4L),
      contentSizeInBytes = Some(40L)
    )
    assert(reasonOf(withEntry(vector.copy(contentOffset = None)), deletes).contains("content_offset (field 144)"))
    assert(reasonOf(withEntry(vector.copy(contentOffset = Some(-4L))), deletes).contains("content_offset (field 144)"))
    assert(reasonOf(withEntry(vector.copy(contentSizeInBytes = Some(-1L))), deletes).contains("field 145"))
    assert(reasonOf(withEntry(vector.copy(referencedDataFile = None)), deletes).contains("field 143"))
    val equality = dataFile("e").copy(content = Content.EqualityDeletes)
    assert(reasonOf(withEntry(equality), deletes).contains("equality_ids (field 135)"))
  }

  test("the error for a negative number in a manifest list contains the field", ManifestRules.damaged) {
    val good = listed()
    val bad = Seq(
      good.copy(length = -1L) -> "manifest_length (field 501)",
      good.copy(addedFilesCount = Some(-1)) -> "added_files_count (field 504)",
      good.copy(deletedFilesCount = Some(-1)) -> "deleted_files_count (field 506)",
      good.copy(sequenceNumber = -2L) -> "sequence_number (field 515)"
    )
    bad.foreach { case (manifest, field) =>
      val io = new MemoryFileIO
      ManifestLists.write(io, "l", ManifestListHeader(FormatVersion.V2, 1L, None, 1L, None), Seq(manifest))
      val error = intercept[UnreadableFile](ManifestLists.read(io, "l"))
      assert(error.file == "l" && error.reason.contains(field))
    }
  }

  test("a negative row count in a manifest list is read as unknown", ManifestRules.unknownRecords) {
    val io = new MemoryFileIO
    ManifestLists.write(
      io,
      "l",
      ManifestListHeader(FormatVersion.V2, 1L, None, 1L, None),
      Seq(listed().copy(addedRowsCount = Some(-2L)))
    )
    assert(ManifestLists.read(io, "l").map(_.addedRowsCount) == Vector(None))
  }

  test(
    "a file without a record count gets no row ids, and does not shift the ids of the next file",
    ManifestRules.countedRowIds,
    ManifestRules.inheritsRowIds
  ) {
    val counts = Seq(3L, -1L, 4L, 5L)
    val rows = file(ownSchema) { out =>
      block(
        out,
        counts.size.toLong,
        counts.map(n => oneEntry(added(dataFile("a").copy(recordCount = n)))).toArray.flatten
      )
    }
    val io = new MemoryFileIO
    io.write("m.avro", rows)
    val read = Manifests.read(io, listed().copy(firstRowId = Some(5L)), Map(0 -> byId), schema).toVector
    assert(read.map(_.file.firstRowId) == Vector(Some(5L), None, Some(8L), Some(12L)))
  }

  test("a large manifest is read block by block, only as far as its entries are requested", ManifestRules.streamed) {
    val intact = new MemoryFileIO
    val entries = (0 until 20000).iterator.map(i => added(dataFile(s"f$i", Some(i % 9L))))
    val content = ManifestContent.Data
    val written =
      Manifests.write(
        intact,
        "m.avro",
        ManifestHeader(FormatVersion.V2, content, schema, byId, 7L),
        entries,
        AvroCodec.Uncompressed
      )
    val bytes = intact.read("m.avro")
    val stream = new CountingStream(bytes)
    val file = AvroContainerReader.open(AvroSource.of("m.avro", stream))
    val listed = committed(written, 3L)
    val decoded = ManifestDecoder.of(file.schema, byId.partitionType(schema)).entries(file, listed)
    assert(decoded.next().file.path.endsWith("f0.parquet"))
    assert(stream.bytesTaken < bytes.length / 4 && !stream.closed)
    assert(decoded.size == 19999 && stream.closed && file.position == bytes.length)
  }

  test("a truncated manifest that is listed with a large length is rejected", ManifestRules.streamed) {
    val intact = new MemoryFileIO
    val entry = added(dataFile("a"))
    val data = ManifestContent.Data
    val written = Manifests.write(
      intact,
      "m.avro",
      ManifestHeader(FormatVersion.V2, data, schema, byId, 7L),
      Iterator(entry)
    )
    val bytes = intact.read("m.avro")
    Seq(0, 3, 100, bytes.length - 20, bytes.length - 1).foreach { length =>
      val io = new MemoryFileIO
      io.write("m.avro", bytes.take(length))
      val large = committed(written, 3L).copy(length = 1L << 30)
      val error = intercept[UnreadableFile](Manifests.read(io, large, Map(0 -> byId), schema).toVector)
      assert(error.file == "m.avro")
    }
  }

  final private class CountingStream(bytes: Array[Byte]) extends ByteArrayInputStream(bytes) {
    var closed = false
    def bytesTaken: Int = pos

    override def close(): Unit = closed = true
  }

  test(
    "a metadata file whose decompressed size is above the limit for metadata files is rejected",
    ManifestRules.metadataBombs
  ) {
    val out = new java.io.ByteArrayOutputStream
    val zip = new java.util.zip.GZIPOutputStream(out)
    val spaces = Array.fill(1 << 20)(' '.toByte)
    (0 until 100).foreach(_ => zip.write(spaces))
    zip.close()
    val io = new MemoryFileIO
    io.write("v1.gz.metadata.json", out.toByteArray)
    val error = intercept[UnreadableFile](MetadataFiles.read(io, "v1.gz.metadata.json"))
    assert(error.file == "v1.gz.metadata.json" && error.reason.contains("decompress to more than"))
  }
}
