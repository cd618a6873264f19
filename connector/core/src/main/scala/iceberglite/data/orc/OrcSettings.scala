package iceberglite.data.orc

import java.util.{Locale, Properties}

import org.apache.orc.OrcConf

import iceberglite.spec.TableProperty

/**
 * How ORC files are made; sizes in bytes.
 *
 * @param batchSize rows that are taken together
 * @param codec by its name in the table's properties
 * @param strategy `speed` or `compression`
 * @param bloomColumns names of columns with Bloom filters, with commas between them
 * @param bloomFpp how often such a filter may be wrong
 * @param targetSize at which a file is to end
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

  /** In the library's words. A stripe is never larger than a file is to be, so that this ends where it should. */
  private[orc] def properties: Properties = {
    val all = Seq(
      OrcConf.STRIPE_SIZE -> math.min(stripeSize, targetSize).toString,
      OrcConf.BLOCK_SIZE -> blockSize.toString,
      OrcConf.COMPRESS -> codec.toUpperCase(Locale.ROOT),
      OrcConf.COMPRESSION_STRATEGY -> strategy.toUpperCase(Locale.ROOT),
      OrcConf.BLOOM_FILTER_COLUMNS -> bloomColumns.getOrElse(""),
      OrcConf.BLOOM_FILTER_FPP -> bloomFpp.toString
    )
    val properties = new Properties
    all.foreach { case (key, value) => properties.setProperty(key.getAttribute, value) }
    properties
  }
}

object OrcSettings {

  /**
   * As a table's properties have it.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument for a property that cannot be
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
