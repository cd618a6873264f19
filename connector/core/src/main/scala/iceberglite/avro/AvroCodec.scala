package iceberglite.avro

import java.io.{ByteArrayInputStream, InputStream}
import java.util.Arrays
import java.util.zip.{CRC32, Deflater, Inflater}

import com.github.luben.zstd.{Zstd, ZstdInputStream}
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream
import org.apache.commons.compress.compressors.xz.{XZCompressorInputStream, XZUtils}
import org.xerial.snappy.Snappy

import iceberglite.spec.property.{AvroCompression, TableProperty}

/**
 * A compression codec for the blocks of an Avro file.
 *
 * @param name the codec name in the file header
 */
sealed abstract class AvroCodec private[iceberglite] (val name: String) {
  private[iceberglite] def compress(bytes: Array[Byte], length: Int): Array[Byte]
}

object AvroCodec {
  case object Uncompressed extends AvroCodec("null") {
    override private[iceberglite] def compress(bytes: Array[Byte], length: Int): Array[Byte] =
      Arrays.copyOf(bytes, length)
  }

  final case class Deflate(level: Int) extends AvroCodec("deflate") {
    override private[iceberglite] def compress(bytes: Array[Byte], length: Int): Array[Byte] = {
      val deflater = new Deflater(level, true)
      try {
        deflater.setInput(bytes, 0, length)
        deflater.finish()
        val out = new AvroOutput(math.max(64, length / 4))
        val chunk = new Array[Byte](1 << 13)
        while (!deflater.finished) out.writeRaw(chunk, 0, deflater.deflate(chunk))
        out.toBytes
      } finally deflater.end()
    }
  }

  /** The Snappy codec. Each block ends with the CRC-32 checksum of its uncompressed content. */
  case object SnappyCodec extends AvroCodec("snappy") {
    override private[iceberglite] def compress(bytes: Array[Byte], length: Int): Array[Byte] = {
      val out = new Array[Byte](Snappy.maxCompressedLength(length) + Integer.BYTES)
      val size = Snappy.compress(bytes, 0, length, out, 0)
      val crc = new CRC32
      crc.update(bytes, 0, length)
      java.nio.ByteBuffer.wrap(out, size, Integer.BYTES).putInt(crc.getValue.toInt)
      Arrays.copyOf(out, size + Integer.BYTES)
    }
  }

  final case class Zstandard(level: Int) extends AvroCodec("zstandard") {
    override private[iceberglite] def compress(bytes: Array[Byte], length: Int): Array[Byte] =
      Zstd.compress(Arrays.copyOf(bytes, length), level)
  }

  val Default: AvroCodec = Deflate(Deflater.DEFAULT_COMPRESSION)

  /** Returns the codec that the table properties set for manifests and manifest lists. */
  def of(properties: Map[String, String]): AvroCodec =
    of(properties, TableProperty.ManifestCodec, TableProperty.ManifestCompressionLevel)

  /** Returns the codec that the table properties set for data files. */
  def forDataFiles(properties: Map[String, String]): AvroCodec =
    of(properties, TableProperty.AvroCodec, TableProperty.AvroCompressionLevel)

  private def of(
      properties: Map[String, String],
      codec: TableProperty[AvroCompression],
      compressionLevel: TableProperty[Option[Int]]
  ): AvroCodec = of(TableProperty.of(codec, properties), TableProperty.of(compressionLevel, properties))

  /**
   * Returns the codec for a compression and a level from table properties.
   *
   * @param level compression level; if absent, or if not between 0 and 9 for gzip, the codec's default level applies
   */
  def of(compression: AvroCompression, level: Option[Int]): AvroCodec = compression match {
    case AvroCompression.Uncompressed => Uncompressed
    case AvroCompression.Snappy => SnappyCodec
    case AvroCompression.Zstd => Zstandard(level.getOrElse(Zstd.defaultCompressionLevel))
    case AvroCompression.Gzip =>
      Deflate(level.filter(l => l >= 0 && l <= 9).getOrElse(Deflater.DEFAULT_COMPRESSION))
  }

  /**
   * Returns the decompressor for the blocks of one file. The decompressor is not thread-safe.
   *
   * @throws AvroFault if the codec in the file header is not supported, or needs a library that is missing
   */
  private[iceberglite] def decompressor(name: String): Decompressor = name match {
    case "null" => UncompressedDecompressor
    case "deflate" => new DeflateDecompressor
    case "snappy" => SnappyDecompressor
    case "zstandard" => new StreamDecompressor(new ZstdInputStream(_))
    case "bzip2" => new StreamDecompressor(new BZip2CompressorInputStream(_))
    case "xz" if XZUtils.isXZCompressionAvailable =>
      new StreamDecompressor(new XZCompressorInputStream(_, false, MaxXzKilobytes))
    case "xz" =>
      throw AvroFault("The Avro codec xz of the file needs the library org.tukaani:xz. Add its jar to the session")
    case other =>
      throw AvroFault(
        s"The Avro codec $other of the file is not supported. Supported codecs are null, deflate, snappy, zstandard, " +
          "bzip2 and xz"
      )
  }

  /** Memory limit of the XZ decompressor in KiB. The highest compression presets of XZ need 65 MB. */
  private val MaxXzKilobytes = 1 << 17

  /** A decompressed block: the bytes from `start` to `end` of `bytes`. */
  final private[iceberglite] case class Block(bytes: Array[Byte], start: Int, end: Int)

  sealed private[iceberglite] trait Decompressor extends AutoCloseable {
    def decompress(bytes: Array[Byte], offset: Int, length: Int): Block
    override def close(): Unit = ()
  }

  private object UncompressedDecompressor extends Decompressor {
    override def decompress(bytes: Array[Byte], offset: Int, length: Int): Block = Block(bytes, offset, offset + length)
  }

  final private class DeflateDecompressor extends Decompressor {
    private val inflater = new Inflater(true)
    private var scratch = new Array[Byte](1 << 17)

    /**
     * Decompresses a block into a reused buffer. Returns a copy of the exact length, because callers may retain the
     * block.
     */
    override def decompress(bytes: Array[Byte], offset: Int, length: Int): Block = {
      inflater.reset()
      inflater.setInput(bytes, offset, length)
      var size = 0
      while (!inflater.finished) {
        if (size == scratch.length) scratch = grow(scratch, size)
        val count = inflater.inflate(scratch, size, scratch.length - size)
        if (count == 0 && !inflater.finished && (inflater.needsInput || inflater.needsDictionary)) {
          throw AvroFault("A compressed block is truncated")
        }
        size += count
      }
      Block(Arrays.copyOf(scratch, size), 0, size)
    }

    override def close(): Unit = inflater.end()
  }

  private object SnappyDecompressor extends Decompressor {
    override def decompress(bytes: Array[Byte], offset: Int, length: Int): Block = {
      val compressed = length - Integer.BYTES
      if (compressed < 1) throw AvroFault("A compressed block is truncated")
      val size = Snappy.uncompressedLength(bytes, offset, compressed)
      // A three-byte Snappy element expands to 64 bytes at most. If a block claims a larger size than is possible, it
      // is damaged, and no memory is allocated for it.
      if (size < 0 || size > compressed.toLong * 64 || size > AvroContainer.MaxBlockBytes) {
        throw AvroFault(s"A compressed block claims an uncompressed size of $size bytes")
      }
      val out = new Array[Byte](size)
      val decompressedSize = Snappy.uncompress(bytes, offset, compressed, out, 0)
      val crc = new CRC32
      crc.update(out, 0, decompressedSize)
      if (crc.getValue.toInt != java.nio.ByteBuffer.wrap(bytes, offset + compressed, Integer.BYTES).getInt()) {
        throw AvroFault("A compressed block does not match its checksum")
      }
      Block(out, 0, decompressedSize)
    }
  }

  final private class StreamDecompressor(open: InputStream => InputStream) extends Decompressor {
    override def decompress(bytes: Array[Byte], offset: Int, length: Int): Block = {
      val in = open(new ByteArrayInputStream(bytes, offset, length))
      try {
        val estimate = math.min(length.toLong * 4, AvroContainer.MaxBlockBytes.toLong).toInt
        var out = new Array[Byte](math.max(1 << 12, estimate))
        var size = 0
        var count = in.read(out, 0, out.length)
        while (count >= 0) {
          size += count
          if (size == out.length) out = grow(out, size)
          count = in.read(out, size, out.length - size)
        }
        Block(out, 0, size)
      } finally in.close()
    }
  }

  private def grow(bytes: Array[Byte], size: Int): Array[Byte] = {
    if (size >= AvroContainer.MaxBlockBytes)
      throw AvroFault(s"A block decompresses to more than ${AvroContainer.MaxBlockBytes} bytes")
    Arrays.copyOf(bytes, math.min(bytes.length.toLong * 2, AvroContainer.MaxBlockBytes.toLong).toInt)
  }
}
