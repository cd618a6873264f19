package iceberglite.data.parquet

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.page.{DataPage, DataPageV1, DataPageV2}
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.schema.MessageTypeParser.parseMessageType
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.storage.TemporaryDirectory

class EncodingSuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles {
  private val rows = EncodedRecords.some(700, seed = 3)

  for {
    version <- WriterVersion.values
    (name, encoder) <- Seq("BYTE_STREAM_SPLIT" -> EncodedParquet.split, "DELTA_BYTE_ARRAY" -> EncodedParquet.deltas)
  } test(s"values encoded as $name are read from pages of $version") {
    val path = newPath()
    EncodedParquet.write(io, path, EncodedRecords.schema, rows, version, pageSize = 300)(encoder)
    assert(read(path, EncodedRecords.schema) == rows)
  }

  private def column(fieldType: String): ColumnDescriptor =
    parseMessageType(s"message m { $fieldType c; }").getColumns.get(0)

  private def page(column: ColumnDescriptor, values: Int, bytes: Array[Byte]): DataPage = new DataPageV1(
    BytesInput.from(bytes),
    values,
    bytes.length,
    Statistics.createStats(column.getPrimitiveType),
    Encoding.RLE,
    Encoding.RLE,
    Encoding.BYTE_STREAM_SPLIT
  )

  private def bytesOf(page: DataPage): Seq[Byte] = page match {
    case v1: DataPageV1 => v1.getBytes.toByteArray.toSeq
    case v2: DataPageV2 => v2.getData.toByteArray.toSeq
  }

  test("decoding BYTE_STREAM_SPLIT keeps the definition levels in front of the values") {
    val optional = column("optional fixed_len_byte_array(2)")
    // The levels are a run of two ones, because two values are present. The first bytes of both values follow, and then
    // the second bytes of both values.
    val levels = ByteBuffer.allocate(6).order(ByteOrder.LITTLE_ENDIAN).putInt(2).put(4.toByte).put(1.toByte).array
    val decoded = ByteStreamSplit.decode(page(optional, 2, levels ++ Array[Byte](11, 12, 21, 22)), optional)
    assert(bytesOf(decoded) == levels.toSeq ++ Seq[Byte](11, 21, 12, 22))
    assert(decoded.asInstanceOf[DataPageV1].getValueEncoding == Encoding.PLAIN)
  }

  test("pages whose levels or values have an impossible length are rejected") {
    val optional = column("optional int32")
    val long = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putInt(1000).array
    intercept[ParquetDecodingException](ByteStreamSplit.decode(page(optional, 1, long), optional))
    intercept[ParquetDecodingException](ByteStreamSplit.decode(page(optional, 1, Array[Byte](1, 2)), optional))
    val required = column("required int32")
    intercept[ParquetDecodingException](ByteStreamSplit.decode(page(required, 1, Array[Byte](1, 2, 3, 4, 5)), required))
    val text = column("required binary")
    intercept[ParquetDecodingException](ByteStreamSplit.decode(page(text, 1, Array[Byte](1, 2, 3, 4)), text))
  }
}
