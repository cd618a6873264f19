package iceberglite.data.orc

import java.util.Properties

import org.apache.orc.{CompressionKind, OrcConf}
import org.apache.orc.OrcFile.CompressionStrategy

import iceberglite.spec.property.{OrcCompression, OrcStrategy, TableProperty}

/**
 * The settings of ORC files. Sizes are in bytes.
 *
 * @param batchSize maximum number of rows per batch
 * @param bloomColumns comma-separated names of columns with Bloom filters
 * @param bloomFpp false positive probability of the Bloom filters
 * @param targetSize target size of a file
 */
final case class OrcSettings(
    stripeSize: Long,
    blockSize: Long,
    batchSize: Int,
    codec: OrcCompression,
    strategy: OrcStrategy,
    bloomColumns: Option[String],
    bloomFpp: Double,
    targetSize: Long
) {

  /**
   * Returns the library's settings. The stripe size is limited to the target file size, so that a file can end at its
   * target size.
   */
  private[orc] def properties: Properties = {
    val settings = Seq(
      OrcConf.STRIPE_SIZE -> math.min(stripeSize, targetSize).toString,
      OrcConf.BLOCK_SIZE -> blockSize.toString,
      OrcConf.COMPRESS -> kind.name,
      OrcConf.COMPRESSION_STRATEGY -> strategyOfLibrary.name,
      OrcConf.BLOOM_FILTER_COLUMNS -> bloomColumns.getOrElse(""),
      OrcConf.BLOOM_FILTER_FPP -> bloomFpp.toString
    )
    val properties = new Properties
    settings.foreach { case (key, value) => properties.setProperty(key.getAttribute, value) }
    properties
  }

  private def kind: CompressionKind = codec match {
    case OrcCompression.Uncompressed => CompressionKind.NONE
    case OrcCompression.Zlib => CompressionKind.ZLIB
    case OrcCompression.Snappy => CompressionKind.SNAPPY
    case OrcCompression.Lzo => CompressionKind.LZO
    case OrcCompression.Lz4 => CompressionKind.LZ4
    case OrcCompression.Zstd => CompressionKind.ZSTD
  }

  private def strategyOfLibrary: CompressionStrategy = strategy match {
    case OrcStrategy.Speed => CompressionStrategy.SPEED
    case OrcStrategy.Compression => CompressionStrategy.COMPRESSION
  }
}

object OrcSettings {

  /**
   * Returns the settings from table properties.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if a property is invalid
   */
  def of(properties: Map[String, String]): OrcSettings = {
    def value[A](property: TableProperty[A]): A = TableProperty.of(property, properties)
    OrcSettings(
      stripeSize = value(TableProperty.OrcStripeSize),
      blockSize = value(TableProperty.OrcBlockSize),
      batchSize = value(TableProperty.OrcBatchSize),
      codec = value(TableProperty.OrcCodec),
      strategy = value(TableProperty.OrcCompressionStrategy),
      bloomColumns = value(TableProperty.OrcBloomFilterColumns),
      bloomFpp = value(TableProperty.OrcBloomFilterFpp),
      targetSize = value(TableProperty.TargetFileSize)
    )
  }
}
