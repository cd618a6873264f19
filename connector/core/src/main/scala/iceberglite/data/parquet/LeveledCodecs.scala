package iceberglite.data.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.io.compress.CompressionCodec
import org.apache.hadoop.util.ReflectionUtils
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * A codec factory whose codecs have the compression level in its configuration. The factory of Parquet shares each
 * codec, with the level of its first use, among all factories of the process.
 */
final private[parquet] class LeveledCodecs(configuration: Configuration, pageSize: Int)
    extends CodecFactory(configuration, pageSize) {

  override protected def getCodec(name: CompressionCodecName): CompressionCodec =
    Option(super.getCodec(name)).map(shared => ReflectionUtils.newInstance(shared.getClass, configuration)).orNull
}
