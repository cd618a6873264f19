package iceberglite.spark.read.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.bytes.{BytesInput, HeapByteBufferAllocator}
import org.apache.parquet.column.Encoding
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.values.bitpacking.{ByteBitPackingValuesWriter, Packer}
import org.apache.parquet.column.values.plain.PlainValuesWriter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.util.HadoopOutputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.MessageTypeParser.parseMessageType
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.data.parquet.{EncodedParquet, EncodedRecords}
import iceberglite.spark.read.parquet.ParquetFile.{Scan, comparable, newPath}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.expr.Term
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._
import iceberglite.storage.HadoopFileIO

/** Checks how columns in different Parquet encodings are read: as vectors or row by row. */
class EncodingsSuite extends AnyFunSuite {
  private val rows = EncodedRecords.some(700, seed = 5)
  private val columns = EncodedRecords.schema.fields

  private def encoded(version: WriterVersion, encoder: EncodedParquet.Encoder): ParquetFile = {
    val path = newPath()
    val io = new HadoopFileIO(new Configuration(false))
    EncodedParquet.write(io, path, EncodedRecords.schema, rows, version, pageSize = 300)(encoder)
    new ParquetFile(path)
  }

  private lazy val plainFile = encoded(WriterVersion.PARQUET_1_0, _ => None)

  private def columnsNamed(names: String*): Seq[NestedField] = columns.filter(c => names.contains(c.name))

  for (version <- WriterVersion.values)
    test(
      s"byte-stream-split values in pages of $version are read row by row and equal plain-encoded values",
      Sampling.slowUnless(version == WriterVersion.PARQUET_2_0): _*
    ) {
      val file = encoded(version, EncodedParquet.split)
      assert(comparable(file.read(columns: _*)) == comparable(plainFile.read(columns: _*)))
      columns.foreach { column =>
        val isReadAsVector = Set("t", "b").contains(column.name)
        assert(file.isReadByRows(column) != isReadAsVector, column.name)
        assert(!plainFile.isReadByRows(column))
      }
      assert(file.isReadByRows(columnsNamed("t", "f"): _*))
      assert(!file.isReadByRows(columnsNamed("t", "b"): _*) && !file.isReadByRows())
    }

  test("delta-encoded pages of fixed-length values are read as vectors, with all values") {
    val file = encoded(WriterVersion.PARQUET_2_0, EncodedParquet.deltas)
    assert(!file.isReadByRows(columns: _*))
    assert(comparable(file.read(columns: _*)) == comparable(plainFile.read(columns: _*)))
    val i = columns.head
    val onlyRow = Equal(Term.Bound(i, "i"), IntLiteral(333))
    def read(names: String*) = file.read(Scan(columnsNamed(names: _*).toVector).withFilter(onlyRow))
    assert(read("i", "t").size < rows.size)
    assert(read("i", "u", "d30").map(_.getInt(0)).contains(333))
  }

  /** Writes a Parquet file with one column and one data page, which consists of the given bytes. */
  private def fileOfOnePage(schema: String, values: Int, bytes: BytesInput, levels: Encoding, encoding: Encoding) = {
    val messageType = parseMessageType(schema)
    val column = messageType.getColumns.get(0)
    val path = newPath()
    val output = HadoopOutputFile.fromPath(new Path(path), new Configuration(false))
    val writer = new ParquetFileWriter(output, messageType, ParquetFileWriter.Mode.CREATE, 1L << 27, 0, 64, 64, true)
    writer.start()
    writer.startBlock(values.toLong)
    writer.startColumn(column, values.toLong, CompressionCodecName.UNCOMPRESSED)
    val noStatistics: Statistics[_] = Statistics.getBuilderForReading(column.getPrimitiveType).build()
    writer.writeDataPage(values, bytes.size.toInt, bytes, noStatistics, values.toLong, levels, levels, encoding)
    writer.endColumn()
    writer.endBlock()
    writer.end(new java.util.HashMap[String, String])
    new ParquetFile(path)
  }

  test("pages with the bit-packed definition levels of old writers are read row by row") {
    val levels = new ByteBitPackingValuesWriter(1, Packer.BIG_ENDIAN)
    Seq(1, 0, 1).foreach(levels.writeInteger)
    val values = new PlainValuesWriter(64, 64, new HeapByteBufferAllocator)
    Seq(7, 8).foreach(values.writeInteger)
    val page = BytesInput.concat(BytesInput.copy(levels.getBytes), BytesInput.copy(values.getBytes))
    val file = fileOfOnePage("message m { optional int32 a = 1; }", 3, page, levels.getEncoding, Encoding.PLAIN)
    assert(file.isReadByRows(optional(1, "a", IntType)))
    assert(file.read(optional(1, "a", IntType)) == Seq(Row(7), Row(null), Row(8)))
  }

  test("the error for a column in an unsupported encoding contains the file, and other columns can still be read") {
    val page = BytesInput.from(Array[Byte](1, 2, 3, 4))
    val file =
      fileOfOnePage("message m { required binary a = 1; }", 1, page, Encoding.RLE, Encoding.BYTE_STREAM_SPLIT)
    val message = intercept[UnreadableFile](file.read(optional(1, "renamed", BinaryType))).getMessage
    Seq(file.path, "Column a ", "BYTE_STREAM_SPLIT", "lite.db.t").foreach(part => assert(message.contains(part), part))
    assert(file.read(optional(2, "b", IntType)) == Seq(Row(null)))
  }

  test("shredded variants are also reconstructed if they are read row by row") {
    val metadata = Binary.fromConstantByteArray(Array[Byte](1, 0, 0))
    val file = ParquetFile.write(
      """message m { optional group v = 1 { required binary metadata; optional binary value;
        optional group typed_value {
        |  required group a { optional binary value; optional int32 typed_value; }
        |  required group l { optional binary value; optional group typed_value (LIST) { repeated group list {
        |    required group element { optional binary value; optional binary typed_value (UTF8); } } } }
        |} } }""".stripMargin
    )(
      g => {
        val typed = g.addGroup("v").append("metadata", metadata).addGroup("typed_value")
        typed.addGroup("a").append("typed_value", 5)
        val list = typed.addGroup("l").addGroup("typed_value")
        Seq("x", "y").foreach(list.addGroup("list").addGroup("element").append("typed_value", _))
      },
      _ => (),
      g => {
        val typed = g.addGroup("v").append("metadata", metadata).addGroup("typed_value")
        typed.addGroup("a")
        typed.addGroup("l").addGroup("typed_value")
      }
    )
    val texts = Seq(Row("""{"a":5,"l":["x","y"]}"""), Row(null), Row("""{"l":[]}"""))
    assert(file.read(optional(1, "v", VariantType)) == texts)
  }

  test("a missing value of a variant is null, and missing metadata is an error that names the file and the column") {
    val metadata = Binary.fromConstantByteArray(Array[Byte](1, 0, 0))
    def file(part: String, bytes: Binary) = ParquetFile.write(
      "message m { optional group v = 1 { optional binary metadata; optional binary value; } }"
    )(_.addGroup("v").append(part, bytes))
    assert(file("metadata", metadata).read(optional(1, "v", VariantType)) == Seq(Row("null")))
    val damaged = file("value", Binary.fromConstantByteArray(Array[Byte](0)))
    val error = intercept[UnreadableFile](damaged.read(optional(1, "v", VariantType)))
    assert(error.file == damaged.path && error.reason.contains("column v is not a variant: It has no metadata"))
  }
}
