package iceberglite.data.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.schema.MessageType

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.{ParquetCompression, TableProperty}
import iceberglite.spec.schema.Schema

/**
 * The settings of Parquet files. Sizes are in bytes.
 *
 * @param level compression level; if absent, or if not between 0 and 9 for gzip, the codec's default
 * @param targetSize target size of a file
 * @param details settings of pages and of single columns
 */
final case class ParquetSettings(
    codec: ParquetCompression,
    level: Option[Int],
    rowGroupSize: Long,
    pageSize: Int,
    pageRows: Int,
    dictionarySize: Int,
    targetSize: Long,
    details: ParquetDetails
) {
  def compression: CompressionCodecName = ParquetSettings.inLibrary(codec)

  /**
   * Returns the library's settings for files with the given schema.
   *
   * @param messageType the Parquet schema of the files
   */
  def properties(schema: Schema, messageType: MessageType): ParquetProperties = {
    val builder = ParquetProperties.builder()
      .withPageSize(pageSize)
      .withPageRowCountLimit(pageRows)
      .withDictionaryPageSize(dictionarySize)
    details.applyTo(builder, schema, messageType)
    builder.build()
  }

  /**
   * Returns a new codec factory. The files of a task share the factory, and the task releases it after its last file.
   */
  def codecs: CodecFactory =
    new LeveledCodecs(ParquetSettings.configuration(level), level.filter(ParquetSettings.isGzipLevel), pageSize)
}

object ParquetSettings {

  /**
   * Returns the settings from table properties.
   *
   * @throws InvalidArgument if a property is invalid, or a codec is not available
   */
  def of(properties: Map[String, String]): ParquetSettings = ParquetSettings(
    codec = available(TableProperty.of(TableProperty.ParquetCodec, properties), TableProperty.ParquetCodec.key),
    level = TableProperty.of(TableProperty.ParquetCompressionLevel, properties),
    rowGroupSize = TableProperty.of(TableProperty.ParquetRowGroupSize, properties),
    pageSize = TableProperty.of(TableProperty.ParquetPageSize, properties),
    pageRows = TableProperty.of(TableProperty.ParquetPageRowLimit, properties),
    dictionarySize = TableProperty.of(TableProperty.ParquetDictionarySize, properties),
    targetSize = TableProperty.of(TableProperty.TargetFileSize, properties),
    details = ParquetDetails.of(properties)
  )

  /**
   * Returns the codec if it is available. A compressor is created to find this out.
   *
   * @param key key of the setting, for messages
   * @throws InvalidArgument if the codec is not available
   */
  def available(codec: ParquetCompression, key: String): ParquetCompression = {
    val codecs = new CodecFactory(new Configuration(false), 0)
    try codecs.getCompressor(inLibrary(codec))
    catch {
      case e: RuntimeException => throw InvalidArgument(
          key,
          codec.name,
          s"The codec is not available (${e.getMessage}). Use zstd, snappy, gzip, lz4_raw or none"
        )
    } finally codecs.release()
    codec
  }

  private def inLibrary(codec: ParquetCompression): CompressionCodecName = codec match {
    case ParquetCompression.Uncompressed => CompressionCodecName.UNCOMPRESSED
    case ParquetCompression.Snappy => CompressionCodecName.SNAPPY
    case ParquetCompression.Gzip => CompressionCodecName.GZIP
    case ParquetCompression.Lzo => CompressionCodecName.LZO
    case ParquetCompression.Brotli => CompressionCodecName.BROTLI
    case ParquetCompression.Lz4 => CompressionCodecName.LZ4
    case ParquetCompression.Lz4Raw => CompressionCodecName.LZ4_RAW
    case ParquetCompression.Zstd => CompressionCodecName.ZSTD
  }

  /** Returns a configuration with the keys from which codecs other than gzip read their levels. */
  private def configuration(level: Option[Int]): Configuration = {
    val conf = new Configuration(false)
    level.foreach { l =>
      conf.setInt("parquet.compression.codec.zstd.level", l)
      conf.setInt("compression.brotli.quality", l)
    }
    conf
  }

  private def isGzipLevel(level: Int): Boolean = level >= 0 && level <= 9
}
