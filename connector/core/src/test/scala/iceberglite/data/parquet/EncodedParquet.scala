package iceberglite.data.parquet

import org.apache.parquet.bytes.{BytesUtils, HeapByteBufferAllocator}
import org.apache.parquet.column.{ColumnDescriptor, ParquetProperties}
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.column.values.ValuesWriter
import org.apache.parquet.column.values.bytestreamsplit.ByteStreamSplitValuesWriter
import org.apache.parquet.column.values.deltastrings.DeltaByteArrayWriter
import org.apache.parquet.column.values.factory.{DefaultValuesWriterFactory, ValuesWriterFactory}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import iceberglite.data.Record
import iceberglite.parquet.ParquetSchemas
import iceberglite.spec.schema.Schema
import iceberglite.storage.{DataOutput, FileIO}

/** Writes Parquet files in encodings that other writers use and this library does not write. */
object EncodedParquet {

  /** Returns the encoder of the column, or `None` for the default encoder of Parquet's library. */
  type Encoder = ColumnDescriptor => Option[ValuesWriter]

  /** @param pageSize page size in bytes; if it is small, pages of different columns start at different rows */
  def write(
      io: FileIO,
      path: String,
      schema: Schema,
      rows: Seq[Record],
      version: WriterVersion,
      pageSize: Int = 1 << 20
  )(
      encoder: Encoder
  ): Unit = {
    val messageType = ParquetSchemas.of(schema)
    val properties = ParquetProperties.builder()
      .withWriterVersion(version)
      .withPageSize(pageSize)
      .withMinRowCountForPageSizeCheck(10)
      .withMaxRowCountForPageSizeCheck(10)
      .withValuesWriterFactory(new Encoders(encoder))
      .build()
    val settings = ParquetSettings.of(Map.empty)
    val codecs = settings.codecs
    try {
      val fileSettings =
        ParquetFileSettings(messageType, properties, codecs, CompressionCodecName.SNAPPY, settings, Map.empty)
      val shredder = RecordShredder.of(schema, messageType)
      val file = new ParquetOutput(DataOutput.of(io, path), fileSettings, shredder.attach)
      rows.foreach { row =>
        shredder.write(row.values)
        file.endRow()
      }
      file.finish()
    } finally codecs.release()
    ()
  }

  /** The encoding BYTE_STREAM_SPLIT for all columns of fixed width except BOOLEAN and INT96. */
  val split: Encoder = column =>
    column.getPrimitiveType.getPrimitiveTypeName match {
      case INT32 | FLOAT => Some(new Split(4))
      case INT64 | DOUBLE => Some(new Split(8))
      case FIXED_LEN_BYTE_ARRAY => Some(new Split(column.getPrimitiveType.getTypeLength))
      case BOOLEAN | BINARY | INT96 => None
    }

  /** The encoding DELTA_BYTE_ARRAY for all columns of byte arrays. */
  val deltas: Encoder = column =>
    column.getPrimitiveType.getPrimitiveTypeName match {
      case FIXED_LEN_BYTE_ARRAY | BINARY => Some(new DeltaByteArrayWriter(64, 1 << 20, new HeapByteBufferAllocator))
      case INT32 | FLOAT | INT64 | DOUBLE | BOOLEAN | INT96 => None
    }

  final private class Encoders(encoder: Encoder) extends ValuesWriterFactory {
    private val defaults = new DefaultValuesWriterFactory

    override def initialize(properties: ParquetProperties): Unit = defaults.initialize(properties)

    override def newValuesWriter(column: ColumnDescriptor): ValuesWriter =
      encoder(column).getOrElse(defaults.newValuesWriter(column))
  }

  final private class Split(width: Int)
      extends ByteStreamSplitValuesWriter(width, 64, 1 << 20, new HeapByteBufferAllocator) {
    override def writeInteger(value: Int): Unit = scatterBytes(BytesUtils.intToBytes(value))
    override def writeLong(value: Long): Unit = scatterBytes(BytesUtils.longToBytes(value))
    override def writeFloat(value: Float): Unit = writeInteger(java.lang.Float.floatToRawIntBits(value))
    override def writeDouble(value: Double): Unit = writeLong(java.lang.Double.doubleToRawLongBits(value))
    override def writeBytes(value: Binary): Unit = scatterBytes(value.getBytes)
    override def memUsageString(prefix: String): String = s"$prefix$getBufferedSize bytes"
  }
}
