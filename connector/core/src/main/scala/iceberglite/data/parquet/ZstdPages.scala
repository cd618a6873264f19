package iceberglite.data.parquet

import java.nio.ByteBuffer
import java.util.concurrent.ArrayBlockingQueue

import scala.annotation.nowarn

import com.github.luben.zstd.{Zstd, ZstdCompressCtx, ZstdDecompressCtx}
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputDecompressor
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.CodecFactory.BytesCompressor
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.ParquetDecodingException

/**
 * Compresses and decompresses pages with Zstandard. Parquet's library creates a native context and large buffers for
 * each page, which takes longer than the compression of a small page. Here, pages share contexts.
 */
private[parquet] object ZstdPages {

  /** Codecs that compress with the given level. */
  final class Codecs(level: Int, pageSize: Int) extends CodecFactory(defaults, pageSize) {
    @nowarn("cat=deprecation") // Parquet has no other class of compressors.
    override protected def createCompressor(name: CompressionCodecName): BytesCompressor =
      if (name == CompressionCodecName.ZSTD) new Compressor(level) else super.createCompressor(name)
  }

  private val defaults = new Configuration(false)

  /** A result is valid until the next call. Not thread-safe. */
  @nowarn("cat=deprecation")
  final private class Compressor(level: Int) extends BytesCompressor {
    private val context = new ZstdCompressCtx().setLevel(level)
    private var out = Array.emptyByteArray

    override def compress(bytes: BytesInput): BytesInput = {
      val page = bytes.toByteArray
      val bound = Zstd.compressBound(page.length.toLong).toInt
      if (out.length < bound) out = new Array[Byte](bound)
      BytesInput.from(out, 0, context.compressByteArray(out, 0, out.length, page, 0, page.length))
    }

    override def getCodecName: CompressionCodecName = CompressionCodecName.ZSTD

    override def release(): Unit = context.close()
  }

  /** The maximum number of contexts that are kept while they are not used. */
  private val MaxIdle = 16
  private val idle = new ArrayBlockingQueue[ZstdDecompressCtx](MaxIdle)

  /** Decompresses pages whose claimed sizes the caller has checked. Thread-safe. */
  object Decompressor extends BytesInputDecompressor {
    override def decompress(bytes: BytesInput, size: Int): BytesInput =
      BytesInput.from(decompress(bytes.toByteBuffer, size))

    override def decompress(in: ByteBuffer, compressed: Int, out: ByteBuffer, size: Int): Unit = {
      val page = in.slice()
      page.limit(compressed)
      out.put(decompress(page, size))
      ()
    }

    override def release(): Unit = ()

    private def decompress(page: ByteBuffer, size: Int): Array[Byte] = {
      val (from, start) = if (page.hasArray) (page.array, page.arrayOffset + page.position()) else (copy(page), 0)
      val to = new Array[Byte](size)
      val context = Option(idle.poll()).getOrElse(new ZstdDecompressCtx)
      val written =
        try context.decompressByteArray(to, 0, size, from, start, page.remaining)
        finally if (!idle.offer(context)) context.close()
      if (written != size)
        throw new ParquetDecodingException(s"A page claims an uncompressed size of $size bytes, but has $written bytes")
      to
    }

    private def copy(page: ByteBuffer): Array[Byte] = {
      val bytes = new Array[Byte](page.remaining)
      page.duplicate().get(bytes)
      bytes
    }
  }
}
