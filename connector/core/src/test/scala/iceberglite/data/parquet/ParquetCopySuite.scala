package iceberglite.data.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._

import org.apache.parquet.format.Util
import org.apache.parquet.hadoop.ParquetFileReader
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.data.parquet.copy.ParquetCopy
import iceberglite.data.{FileToCopy, InheritedLineage, Record, RecordGenerators, WrittenFile}
import iceberglite.parquet.ParquetMetrics
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{DataInput, DataOutput, TemporaryDirectory}

/** Tests that files which are copied column by column have the contents and metrics of files written row by row. */
class ParquetCopySuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles with ScalaCheckPropertyChecks {
  private val Large = Long.MaxValue
  private val smallPages = Map("write.parquet.page-row-limit" -> "20")

  /** Copies files to new files of a table with the given schema. Returns `None` if they cannot be copied. */
  private def copy(
      files: Seq[WrittenFile],
      schema: Schema,
      properties: Map[String, String] = smallPages,
      targetSize: Long = Large,
      lineage: Int => Option[InheritedLineage] = _ => None
  ): Option[Vector[WrittenFile]] = {
    val settings = ParquetSettings.of(properties)
    val codecs = settings.codecs
    val fileSettings = ParquetFileSettings.of(schema, settings, codecs, Map.empty)
    val sources = files.zipWithIndex.map { case (file, i) => FileToCopy(file.path, lineage(i)) }.toVector
    try ParquetCopy.of(sources, fileSettings, io, targetSize).map { copied =>
        try copied.files.map { rows =>
            val path = newPath()
            val done = copied.write(rows, DataOutput.of(io, path))
            val metrics = ParquetMetrics.of(done.file.footer, schema, full(schema), done.collected)
            WrittenFile(
              path,
              FileFormat.Parquet,
              metrics.recordCount,
              done.file.length,
              metrics.metrics,
              metrics.splitOffsets
            )
          }
        finally copied.close()
      }
    finally codecs.release()
  }

  private def withoutSizes(file: WrittenFile) = {
    val m = file.metrics
    (m.valueCounts, m.nullValueCounts, m.nanValueCounts, m.lowerBounds, m.upperBounds)
  }

  private def withReader[A](file: WrittenFile)(body: ParquetFileReader => A): A = {
    val reader = ParquetFileReader.open(DataInput.of(io, file.path))
    try body(reader)
    finally reader.close()
  }

  /** The numbers of rows in the pages of a column, in each row group. */
  private def pageRows(file: WrittenFile, column: Int): Seq[Seq[Long]] = withReader(file) { reader =>
    reader.getFooter.getBlocks.asScala.map { block =>
      val index = reader.readOffsetIndex(block.getColumns.get(column))
      (0 until index.getPageCount).map(i => index.getLastRowIndex(i, block.getRowCount) - index.getFirstRowIndex(i) + 1)
    }
  }

  /** Returns a value in which NaN is equal to itself. */
  private def comparable(value: Any): Any = value match {
    case record: Record => record.values.toVector.map(comparable)
    case entries: Vector[_] => entries.map(comparable)
    case (key, entry) => (comparable(key), comparable(entry))
    case number @ (_: Double | _: Float) => number.toString
    case other => other
  }

  private val types = RecordGenerators.ofVersion2

  test("a copy has the rows, counts and bounds of a file that is written row by row, for random schemas") {
    val cases =
      for {
        schema <- RecordGenerators.schema(types)
        parts <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, RecordGenerators.records(schema, most = 60)))
        if parts.exists(_.nonEmpty)
        rowLimit <- Gen.oneOf("5", "20", "1000")
        dictionary <- Gen.oneOf("100", "2097152")
      } yield (
        schema,
        parts.filter(_.nonEmpty),
        Map("write.parquet.page-row-limit" -> rowLimit, "write.parquet.dict-size-bytes" -> dictionary)
      )
    forAll(cases, minSuccessful(20)) { case (schema, parts, properties) =>
      val files = parts.map(write(schema, _, properties))
      val Vector(copied) = copy(files, schema, properties).get
      val expected = write(schema, parts.flatten, properties)
      assert(read(copied.path, schema).map(comparable) == read(expected.path, schema).map(comparable))
      assert(withoutSizes(copied) == withoutSizes(expected))
      assert(copied.recordCount == expected.recordCount && copied.splitOffsets == Vector(4L))
      val length = DataInput.of(io, copied.path).getLength
      assert(copied.fileSizeInBytes == length)
    }
  }

  private val flat = schemaOf(required(1, "id", LongType), optional(2, "x", DoubleType), optional(3, "s", StringType))
  private def flatRows(from: Int, until: Int) = (from until until).map { i =>
    Record.of(i.toLong, if (i % 7 == 0) null else if (i % 5 == 0) Double.NaN else i * 0.5, s"value ${i % 3}")
  }

  test("large pages of plain values are copied unchanged, and other columns get new pages") {
    val files = (0 until 4).map(i => write(flat, flatRows(i * 30, i * 30 + 30), smallPages))
    val Vector(copied) = copy(files, flat).get
    assert(pageRows(copied, 0) == Seq(Seq.fill(4)(30)))
    assert(pageRows(copied, 2).flatten.sum == 120 && pageRows(copied, 2).flatten.size < 4)
    assert(read(copied.path, flat) == flatRows(0, 120))
  }

  test("pages with too few rows and bytes are combined") {
    val files = (0 until 40).map(i => write(flat, flatRows(i, i + 1)))
    val Vector(copied) = copy(files, flat, Map.empty).get
    assert(pageRows(copied, 0) == Seq(Seq(40)) && read(copied.path, flat) == flatRows(0, 40))
  }

  test("the page index of copied pages has the bounds of each page") {
    val files = Seq(0, 30).map(i => write(flat, flatRows(i, i + 30), smallPages))
    val Vector(copied) = copy(files, flat).get
    withReader(copied) { reader =>
      val index = reader.readColumnIndex(reader.getFooter.getBlocks.get(0).getColumns.get(0))
      def longs(buffers: java.util.List[ByteBuffer]) =
        buffers.asScala.map(_.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong)
      assert(longs(index.getMinValues) == Seq(0, 30) && longs(index.getMaxValues) == Seq(29, 59))
    }
  }

  test("row groups are combined up to the table's row group size, and files up to the target size") {
    val files = (0 until 6).map(i => write(flat, flatRows(i * 30, i * 30 + 30), smallPages))
    val size = withReader(files.head)(_.getFooter.getBlocks.get(0).getCompressedSize)
    val groups = smallPages + ("write.parquet.row-group-size-bytes" -> (size * 5 / 2).toString)
    val Vector(one) = copy(files, flat, groups).get
    assert(one.splitOffsets.size == 3 && read(one.path, flat) == flatRows(0, 180))
    val several = copy(files, flat, groups, targetSize = size * 5).get
    assert(several.map(_.recordCount) == Seq(120, 60) && several.flatMap(f => read(f.path, flat)) == flatRows(0, 180))
    assert(copy(files, flat, smallPages + ("write.parquet.row-group-size-bytes" -> (size / 2).toString)).isEmpty)
    assert(copy(files, flat, targetSize = size / 2).isEmpty)
  }

  test("files whose columns differ from those of the table are not copied") {
    val file = write(flat, flatRows(0, 30))
    val renamed = schemaOf(required(1, "key", LongType), optional(2, "x", DoubleType), optional(3, "s", StringType))
    val added = Schema(0, flat.fields :+ optional(4, "added", LongType))
    val widened = schemaOf(required(1, "id", LongType), optional(2, "x", DoubleType), optional(3, "s", BinaryType))
    val reordered = Schema(0, flat.fields.reverse)
    for (schema <- Seq(renamed, added, widened, reordered, Schema(0, flat.fields.init)))
      assert(copy(Seq(file), schema).isEmpty, schema)
    val stricter = schemaOf(required(1, "id", LongType), required(2, "x", DoubleType), optional(3, "s", StringType))
    assert(copy(Seq(file), stricter).isEmpty)
  }

  test("a column that is required in only some of the files becomes optional") {
    val nullable = schemaOf(optional(1, "id", LongType), optional(2, "x", DoubleType), optional(3, "s", StringType))
    val withNull = Vector(Record.of(null, 1.0, "a"))
    val files = Seq(write(flat, flatRows(0, 30), smallPages), write(nullable, withNull, smallPages))
    val Vector(mixed) = copy(files, nullable).get
    assert(read(mixed.path, nullable) == flatRows(0, 30) ++ withNull)
    assert(withoutSizes(mixed) == withoutSizes(write(nullable, flatRows(0, 30) ++ withNull, smallPages)))
    val Vector(same) = copy(files.take(1), nullable).get
    assert(withReader(same)(_.getFileMetaData.getSchema.getColumns.get(0).getMaxDefinitionLevel) == 0)
  }

  test("files of other writers, of other page versions and without field ids are not copied") {
    val schema = schemaOf(required(1, "id", LongType))
    val foreign = writeForeign("required int64 id;")(_.add("id", 1L))
    val v2 = write(schema, Vector(Record.of(1L)), Map("write.parquet.page-version" -> "v2"))
    assert(copy(Seq(v2.copy(path = foreign)), schema).isEmpty)
    assert(copy(Seq(v2), schema).isEmpty)
  }

  test("files can be copied with another codec, another compression level or a Bloom filter") {
    val files = Seq(0, 30).map(i => write(flat, flatRows(i, i + 30), smallPages))
    val codec = withReader(files.head)(_.getFooter.getBlocks.get(0).getColumns.get(0).getCodec.name)
    val settings = Seq(
      Map("write.parquet.compression-codec" -> "snappy"),
      Map("write.parquet.compression-level" -> "9"),
      Map("write.parquet.bloom-filter-enabled.column.id" -> "true")
    )
    for (properties <- settings) {
      val Vector(copied) = copy(files, flat, smallPages ++ properties).get
      assert(read(copied.path, flat) == flatRows(0, 60))
      withReader(copied) { reader =>
        val chunk = reader.getFooter.getBlocks.get(0).getColumns.get(0)
        assert(chunk.getCodec.name == (if (properties.values.exists(_ == "snappy")) "SNAPPY" else codec))
        assert((reader.readBloomFilter(chunk) != null) == properties.keys.exists(_.contains("bloom")))
      }
    }
  }

  test("written and copied pages have the compression level of the table") {
    val text = schemaOf(required(1, "s", StringType))
    val random = new scala.util.Random(7)
    val words = Vector.fill(500)(random.alphanumeric.take(1 + random.nextInt(8)).mkString)
    val rows = (0 until 4000).map(_ => Record.of(Seq.fill(20)(words(random.nextInt(words.size))).mkString(" ")))
    for ((codec, lowest, highest) <- Seq(("zstd", 1, 19), ("gzip", 1, 9))) {
      def properties(level: Int) =
        Map("write.parquet.compression-codec" -> codec, "write.parquet.compression-level" -> level.toString)
      val written = Seq(lowest, highest, lowest).map(level => write(text, rows, properties(level)))
      val Seq(low, high, lowAgain) = written.map(_.fileSizeInBytes)
      assert(high < low * 0.95 && low == lowAgain, codec)
      val Vector(copied) = copy(written.take(1), text, properties(highest)).get
      (written :+ copied).foreach(file => assert(read(file.path, text) == rows))
      // The pages are equal to those of the written file, but the footers may have different sizes.
      assert(math.abs(copied.fileSizeInBytes - high) < 1000, codec)
    }
  }

  test("a compression level that gzip does not have is ignored for gzip") {
    val schema = schemaOf(required(1, "id", LongType))
    val rows = (0 until 4000).map(i => Record.of(i * 7919L % 1000))
    val gzip = Map("write.parquet.compression-codec" -> "gzip")
    val size = write(schema, rows, gzip).fileSizeInBytes
    Seq("22", "-5").foreach { level =>
      assert(write(schema, rows, gzip + ("write.parquet.compression-level" -> level)).fileSizeInBytes == size, level)
    }
  }

  test("inherited row ids and sequence numbers are stored, and stored ones are kept") {
    val table = schemaOf(required(1, "id", LongType), MetadataColumns.RowId, MetadataColumns.LastUpdatedSequenceNumber)
    val inherited = write(schemaOf(required(1, "id", LongType)), (0 until 30).map(i => Record.of(i.toLong)), smallPages)
    val stored = write(
      table,
      (30 until 60).map(i => if (i % 2 == 0) Record.of(i.toLong, null, null) else Record.of(i.toLong, i * 10L, 1L)),
      smallPages
    )
    val lineage = Vector(InheritedLineage(1000, 5), InheritedLineage(2000, 6))
    val Vector(copied) = copy(Seq(inherited, stored), table, lineage = i => Some(lineage(i))).get
    val expected = (0 until 30).map(i => Record.of(i.toLong, 1000L + i, 5L)) ++
      (30 until 60).map(i => if (i % 2 == 0) Record.of(i.toLong, 1970L + i, 6L) else Record.of(i.toLong, i * 10L, 1L))
    assert(read(copied.path, table) == expected)
  }

  test("a copy has several row groups if its values take more bytes than in the old files") {
    // Each file has a small dictionary. A common dictionary would exceed the limit, so the copy has plain values.
    val text = schemaOf(required(1, "s", StringType))
    val files = (0 until 8).map { i =>
      write(text, (0 until 2000).map(k => Record.of(s"$i-${k % 20}-" + "x" * 100)), Map.empty)
    }
    val size = withReader(files.head)(_.getFooter.getBlocks.get(0).getCompressedSize)
    val properties = Map(
      "write.parquet.dict-size-bytes" -> "4000",
      "write.parquet.compression-codec" -> "uncompressed",
      "write.parquet.row-group-size-bytes" -> "300000"
    )
    assert(files.size * size < 300000)
    val Vector(copied) = copy(files, text, properties).get
    val groups = withReader(copied)(_.getFooter.getBlocks.asScala.map(_.getTotalByteSize))
    assert(groups.size > 1 && groups.forall(_ < 600000), groups)
    assert(read(copied.path, text) == files.flatMap(f => read(f.path, text)))
  }

  test("a column chunk with another number of rows than its row group is an error that names the file") {
    val schema = schemaOf(required(1, "id", LongType), optional(2, "s", StringType))
    val rows = (0 until 30).map(i => Record.of(i.toLong, s"value ${i % 3}"))
    val file = write(schema, rows, smallPages)
    for (properties <- Seq(smallPages, smallPages + ("write.parquet.compression-level" -> "9"))) {
      val damaged = withRowCount(file, 29)
      val error = intercept[UnreadableFile](copy(Seq(damaged), schema, properties))
      assert(error.getMessage.contains(damaged.path) && error.getMessage.contains("29 rows"))
    }
  }

  /** Returns a copy of a file whose footer claims another number of rows in the row group. */
  private def withRowCount(file: WrittenFile, rows: Long): WrittenFile = {
    val bytes = io.read(file.path)
    val length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes.length - 8)
    val footer = Util.readFileMetaData(new ByteArrayInputStream(bytes, bytes.length - 8 - length, length))
    footer.getRow_groups.get(0).setNum_rows(rows)
    val out = new ByteArrayOutputStream
    out.write(bytes, 0, bytes.length - 8 - length)
    Util.writeFileMetaData(footer, out)
    val newLength = out.size - (bytes.length - 8 - length)
    out.write(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(newLength).array)
    out.write("PAR1".getBytes("US-ASCII"))
    val path = newPath()
    io.write(path, out.toByteArray)
    file.copy(path = path)
  }
}
