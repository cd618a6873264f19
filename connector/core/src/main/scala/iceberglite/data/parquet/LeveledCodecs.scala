package iceberglite.data.parquet

import java.io.{ByteArrayOutputStream, OutputStream}
import java.util.zip.GZIPOutputStream

import scala.annotation.nowarn

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.io.compress.CompressionCodec
import org.apache.hadoop.util.ReflectionUtils
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.CodecFactory.BytesCompressor
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * A codec factory whose codecs have a compression level. Parquet's own factories share each codec, with the level of
 * its first use, within the whole process.
 *
 * @param configuration the configuration from which codecs other than gzip read their level
 * @param gzipLevel level of gzip; if absent, its default
 */
final private[parquet] class LeveledCodecs(configuration: Configuration, gzipLevel: Option[Int], pageSize: Int)
    extends CodecFactory(configuration, pageSize) {

  override protected def getCodec(name: CompressionCodecName): CompressionCodec =
    Option(super.getCodec(name)).map(shared => ReflectionUtils.newInstance(shared.getClass, configuration)).orNull

  @nowarn("cat=deprecation") // Parquet has no other class of compressors.
  override protected def createCompressor(name: CompressionCodecName): BytesCompressor = gzipLevel match {
    case Some(level) if name == CompressionCodecName.GZIP => new GzipCompressor(level)
    case _ => super.createCompressor(name)
  }
}

/**
 * Compresses pages with gzip at the given level. Hadoop's own compressors for gzip are not used: Hadoop takes them from
 * a pool of the process, so they may have the level of another table.
 */
@nowarn("cat=deprecation")
final private[parquet] class GzipCompressor(level: Int) extends BytesCompressor {

  override def compress(bytes: BytesInput): BytesInput = {
    val out = new ByteArrayOutputStream(math.max(32, (bytes.size / 2).toInt))
    val zip = new LeveledGzip(out, level)
    try bytes.writeAllTo(zip)
    finally zip.close()
    BytesInput.from(out.toByteArray)
  }

  override def getCodecName: CompressionCodecName = CompressionCodecName.GZIP

  override def release(): Unit = ()
}

/** A gzip stream with a compression level, which the constructor of `GZIPOutputStream` does not accept. */
final private[parquet] class LeveledGzip(out: OutputStream, level: Int) extends GZIPOutputStream(out) {
  this.`def`.setLevel(level)
}
