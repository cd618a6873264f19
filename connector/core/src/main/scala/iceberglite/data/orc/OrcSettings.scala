package iceberglite.data.orc

import java.util.{Locale, Properties}

import org.apache.orc.OrcConf

import iceberglite.spec.property.TableProperty

/**
 * The settings of ORC files. Sizes are in bytes.
 *
 * @param batchSize rows per batch
 * @param codec name of the codec as in table properties
 * @param strategy `speed` or `compression`
 * @param bloomColumns comma-separated names of columns with Bloom filters
 * @param bloomFpp false positive probability of the Bloom filters
 * @param targetSize target size of a file
 */
final case class OrcSettings(
    stripeSize: Long,
    blockSize: Long,
    batchSize: Int,
    codec: String,
    strategy: String,
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
      OrcConf.COMPRESS -> codec.toUpperCase(Locale.ROOT),
      OrcConf.COMPRESSION_STRATEGY -> strategy.toUpperCase(Locale.ROOT),
      OrcConf.BLOOM_FILTER_COLUMNS -> bloomColumns.getOrElse(""),
      OrcConf.BLOOM_FILTER_FPP -> bloomFpp.toString
    )
    val properties = new Properties
    settings.foreach { case (key, value) => properties.setProperty(key.getAttribute, value) }
    properties
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
