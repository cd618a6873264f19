package iceberglite.data.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._

import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.format.Util
import org.apache.parquet.io.ParquetDecodingException
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.{DataSource, Record}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.TemporaryDirectory

/** Tests [[LoadedParquet]], [[PlainColumn]] and [[RecordAssembler]], which read files with metadata of tables. */
class LoadedParquetSuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles {
  private val rows = EncodedRecords.some(700, seed = 5)

  private def loaded(path: String): ParquetMetadataFiles.LoadedFile =
    ParquetMetadataFiles.load(DataSource(io, path, io.read(path).length.toLong))

  private def recordsOf(file: ParquetMetadataFiles.LoadedFile, columns: StructType): Vector[Record] = {
    val records = file.open(columns)
    try records.toVector
    finally records.close()
  }

  for {
    version <- WriterVersion.values
    (name, encoder) <- Seq[(String, EncodedParquet.Encoder)](
      "dictionaries" -> (_ => None),
      "BYTE_STREAM_SPLIT" -> EncodedParquet.split,
      "DELTA_BYTE_ARRAY" -> EncodedParquet.deltas
    )
  } test(s"a file in memory with pages of $version and values encoded as $name is read") {
    val path = newPath()
    EncodedParquet.write(io, path, EncodedRecords.schema, rows, version, pageSize = 300)(encoder)
    assert(recordsOf(loaded(path), EncodedRecords.schema.asStruct) == rows)
  }

  private def plainFile(): Array[Byte] =
    ParquetMetadataFiles.write("f.parquet", EncodedRecords.schema, Map("k" -> "v"), rows.iterator)

  test("all columns of a file with metadata are read from plain pages, with the key-value metadata") {
    val path = newPath()
    io.write(path, plainFile())
    val file = loaded(path)
    assert(recordsOf(file, EncodedRecords.schema.asStruct) == rows)
    val records = file.open(StructType(Vector.empty))
    try assert(records.keyValues.get("k").contains("v") && records.size == rows.size)
    finally records.close()
  }

  test("the columns of a file in memory are read one after the other, and Parquet's own reader returns the same") {
    val path = newPath()
    io.write(path, plainFile())
    val file = loaded(path)
    EncodedRecords.schema.fields.foreach { field =>
      val column = Schema(0, Vector(field))
      assert(recordsOf(file, column.asStruct) == read(path, column), field.name)
    }
  }

  test("a damaged page is rejected, because it does not match its checksum") {
    val path = newPath()
    val bytes = plainFile()
    // The schema in the footer, which is the last part of the file, has the first names of columns.
    val pages = bytes.indexOfSlice("day".getBytes("US-ASCII"))
    (0 until 20).map(i => pages * (2 * i + 1) / 40).foreach { position =>
      val damaged = bytes.clone()
      damaged(position) = (damaged(position) ^ 0x10).toByte
      io.replace(path, damaged)
      val error = intercept[UnreadableFile](recordsOf(loaded(path), EncodedRecords.schema.asStruct))
      assert(error.file == path, position)
    }
  }

  test("truncated and random levels of a plain column are read or rejected, without reading beyond the page") {
    val levels = ByteBuffer.wrap(Array[Byte](6, 1, 0x03, 0x55))
    val decoded = new RunLengthLevels(levels, 1)
    assert(Vector.fill(11)(decoded.next()) == Vector(1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0))
    intercept[java.nio.BufferUnderflowException](decoded.next())
    val wide = new RunLengthLevels(ByteBuffer.wrap(Array[Byte](0x03, 0x1b, 0x1b)), 3)
    assert(Vector.fill(8)(wide.next()) == Vector(3, 2, 1, 0, 3, 2, 1, 0))
    val tooHigh = new RunLengthLevels(ByteBuffer.wrap(Array[Byte](0x03, 0x1b, 0x1b)), 2)
    intercept[ParquetDecodingException](tooHigh.next())
  }

  /** Returns the file with other numbers of values in the footer, which has no checksum. */
  private def withCounts(bytes: Array[Byte], column: String)(count: Long => Long): Array[Byte] = {
    val size = ByteBuffer.wrap(bytes, bytes.length - 8, 4).order(ByteOrder.LITTLE_ENDIAN).getInt
    val start = bytes.length - 8 - size
    val footer = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, size))
    val chunks = footer.getRow_groups.asScala.flatMap(_.getColumns.asScala).map(_.getMeta_data)
      .filter(_.getPath_in_schema.get(0) == column)
    assert(chunks.nonEmpty)
    chunks.foreach(chunk => chunk.setNum_values(count(chunk.getNum_values)))
    val out = new ByteArrayOutputStream
    out.write(bytes, 0, start)
    Util.writeFileMetaData(footer, out)
    val end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(out.size - start).put("PAR1".getBytes(UTF_8))
    out.write(end.array)
    out.toByteArray
  }

  test("a footer with a false number of values of a list is rejected, instead of giving values to other rows") {
    val schema = Schema(0, EncodedRecords.schema.fields.filter(_.name == "ds"))
    val path = newPath()
    io.write(path, withCounts(plainFile(), "ds")(identity))
    val read = recordsOf(loaded(path), schema.asStruct)
    val counts: Seq[Long => Long] = Seq(_ => 0L, _ => 1L, _ => rows.size.toLong, _ - 1, _ + 1)
    counts.foreach { count =>
      io.replace(path, withCounts(plainFile(), "ds")(count))
      assert(intercept[UnreadableFile](recordsOf(loaded(path), schema.asStruct)).file == path)
    }
    assert(read.size == rows.size)
  }
}
