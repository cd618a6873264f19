package iceberglite.spark.write.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.metadata.CompressionCodecName

import iceberglite.io.{DataOutput, FileIO, MetricsModes, ParquetSchemas}
import iceberglite.spark.write.{DataFileFormat, DataFileWriter, InputColumns, InputField, NewDataFiles}
import iceberglite.spec.{FileFormat, Schema}

/**
 * How the Parquet files of a write are made.
 *
 * @param codec by its name in Parquet
 * @param level of the codec; its own where absent
 * @param targetSize bytes at which a file is to end
 */
final private[write] case class ParquetSettings(
    codec: String,
    level: Option[Int],
    rowGroupSize: Long,
    pageSize: Int,
    pageRows: Int,
    dictionarySize: Int,
    targetSize: Long
)

/**
 * Parquet files of a table.
 *
 * @param keyValues what the footer holds besides, such as the table's schema
 */
final private[write] class ParquetFormat(
    input: Vector[InputField],
    schemaId: Int,
    modes: MetricsModes,
    settings: ParquetSettings,
    keyValues: Map[String, String],
    io: FileIO
) extends DataFileFormat {
  override def format: FileFormat = FileFormat.Parquet

  override def newFiles(): NewDataFiles = new Files

  final private class Files extends NewDataFiles {
    private val schema: Schema = InputColumns.schemaOf(input, schemaId)
    private val messageType = ParquetSchemas.of(schema)
    private val codecs = new CodecFactory(ParquetFormat.configuration(settings), settings.pageSize)
    private val properties = ParquetProperties.builder()
      .withWriterVersion(WriterVersion.PARQUET_1_0)
      .withPageSize(settings.pageSize)
      .withPageRowCountLimit(settings.pageRows)
      .withDictionaryPageSize(settings.dictionarySize)
      .build()
    private val codec = CompressionCodecName.fromConf(settings.codec)
    private val shape = ParquetShape(schema, messageType, properties, codecs, codec, modes, settings, keyValues)

    override def open(path: String): DataFileWriter =
      new ParquetDataFile(DataOutput.of(io, path), RowShredder.of(input, messageType), shape)

    override def close(): Unit = codecs.release()
  }
}

private[write] object ParquetFormat {

  /** With the keys under which codecs look for their levels. */
  private[parquet] def configuration(settings: ParquetSettings): Configuration = {
    val conf = new Configuration(false)
    settings.level.foreach { level =>
      conf.setInt("parquet.compression.codec.zstd.level", level)
      conf.set("zlib.compress.level", gzipLevels.applyOrElse(level, (_: Int) => "DEFAULT_COMPRESSION"))
      conf.setInt("compression.brotli.quality", level)
    }
    conf
  }

  /** Hadoop has names for them. */
  private val gzipLevels: PartialFunction[Int, String] = Vector(
    "NO_COMPRESSION",
    "BEST_SPEED",
    "TWO",
    "THREE",
    "FOUR",
    "FIVE",
    "SIX",
    "SEVEN",
    "EIGHT",
    "BEST_COMPRESSION"
  )
}
