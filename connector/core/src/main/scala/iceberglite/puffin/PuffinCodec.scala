package iceberglite.puffin

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import scala.util.control.NonFatal

import com.github.luben.zstd.Zstd
import net.jpountz.lz4.LZ4FrameOutputStream.{BLOCKSIZE, FLG}
import net.jpountz.lz4.{LZ4Factory, LZ4FrameInputStream, LZ4FrameOutputStream}
import net.jpountz.xxhash.XXHashFactory

/** Compression codec of a blob or a footer (Puffin spec: "Compression codecs"). */
sealed trait PuffinCodec {

  /** The name of the codec in the footer; absent for no compression. */
  def name: Option[String]

  def compress(contents: Array[Byte]): Array[Byte]

  /**
   * Decompresses a frame. Before memory is allocated, rejects a frame that claims a larger decompressed size than its
   * compressed bytes can produce.
   *
   * @throws DamagedBlob if the bytes are not a frame of this codec
   */
  private[iceberglite] def decompress(compressed: Array[Byte]): Array[Byte]
}

object PuffinCodec {

  /**
   * Maximum decompressed size in bytes. If the content is longer, the file is treated as a decompression bomb, because
   * statistics are far smaller.
   */
  private val MaxDecompressedBytes = 1 << 28

  case object Uncompressed extends PuffinCodec {
    override val name: Option[String] = None
    override def compress(contents: Array[Byte]): Array[Byte] = contents
    override private[iceberglite] def decompress(compressed: Array[Byte]): Array[Byte] = compressed
  }

  /**
   * Content that consists of one LZ4 frame with a content size. A decompressor in Java is used, because the native
   * decompressor does not validate its input.
   */
  case object Lz4 extends PuffinCodec {

    /**
     * Maximum ratio of decompressed to compressed size. One byte of a match length in LZ4 represents at most 255 bytes.
     */
    private val MaxRatio = 255L

    override val name: Option[String] = Some("lz4")

    override def compress(contents: Array[Byte]): Array[Byte] = {
      val out = new ByteArrayOutputStream(contents.length / 2 + 64)
      val features = Seq(FLG.Bits.BLOCK_INDEPENDENCE, FLG.Bits.CONTENT_SIZE)
      val frame = new LZ4FrameOutputStream(out, BLOCKSIZE.SIZE_64KB, contents.length.toLong, features: _*)
      frame.write(contents)
      frame.close()
      out.toByteArray
    }

    override private[iceberglite] def decompress(compressed: Array[Byte]): Array[Byte] = guarded("an LZ4 frame") {
      val in = new ByteArrayInputStream(compressed)
      val (decompressor, hash) = (LZ4Factory.safeInstance.safeDecompressor, XXHashFactory.safeInstance.hash32)
      val frame = new LZ4FrameInputStream(in, decompressor, hash, true)
      if (!frame.isExpectedContentSizeDefined) throw DamagedBlob("The LZ4 frame has no content size")
      val size = checkedSize(frame.getExpectedContentSize, compressed.length * MaxRatio)
      val contents = frame.readNBytes(size)
      if (contents.length != size || frame.read() >= 0) {
        throw DamagedBlob(s"The content of the LZ4 frame does not have the claimed size of $size bytes")
      }
      if (in.available > 0) throw DamagedBlob(s"${in.available} bytes follow the LZ4 frame")
      contents
    }
  }

  /** Content that consists of one Zstandard frame with a content size. */
  case object ZStandard extends PuffinCodec {

    /** Maximum ratio of decompressed to compressed size. A Zstandard block of four bytes represents at most 128 KiB. */
    private val MaxRatio = (128L << 10) / 4

    override val name: Option[String] = Some("zstd")

    override def compress(contents: Array[Byte]): Array[Byte] = Zstd.compress(contents)

    override private[iceberglite] def decompress(compressed: Array[Byte]): Array[Byte] = guarded("a Zstandard frame") {
      // The library returns the size 0 even if the frame states no content size. In this case, decompression fails
      // unless the content is empty.
      val size = checkedSize(Zstd.decompressedSize(compressed), compressed.length * MaxRatio)
      val contents = new Array[Byte](size)
      val written = Zstd.decompressByteArray(contents, 0, size, compressed, 0, compressed.length)
      if (Zstd.isError(written)) {
        throw DamagedBlob(s"The Zstandard frame cannot be decompressed to $size bytes: ${Zstd.getErrorName(written)}")
      }
      if (written != size) throw DamagedBlob(s"The Zstandard frame has $written bytes, but claims $size")
      contents
    }
  }

  val all: Seq[PuffinCodec] = Seq(Uncompressed, Lz4, ZStandard)

  /** Returns the codec for a codec name in a footer. Some writers write `none` for uncompressed blobs. */
  private[iceberglite] def of(name: Option[String]): PuffinCodec = name.filterNot(_ == "none") match {
    case None => Uncompressed
    case Some(codecName) =>
      all.find(_.name.contains(codecName)).getOrElse(
        throw DamagedBlob(
          s"The codec $codecName is not supported. Supported codecs are ${all.flatMap(_.name).mkString(" and ")}"
        )
      )
  }

  private def checkedSize(claimed: Long, possible: Long): Int = {
    if (claimed < 0 || claimed > possible) {
      throw DamagedBlob(s"The frame claims $claimed bytes, but its compressed bytes expand to at most $possible bytes")
    }
    if (claimed > MaxDecompressedBytes) {
      throw DamagedBlob(s"The frame claims $claimed bytes, more than the limit of $MaxDecompressedBytes bytes")
    }
    claimed.toInt
  }

  /**
   * Runs a decompression. Converts the exceptions that the compression libraries throw for malformed bytes to
   * [[DamagedBlob]].
   *
   * @param what the expected kind of the bytes, for messages
   */
  private def guarded(what: String)(body: => Array[Byte]): Array[Byte] =
    try body
    catch {
      case e: DamagedBlob => throw e
      case NonFatal(e) =>
        throw DamagedBlob(s"The data is not $what: ${Option(e.getMessage).getOrElse(e.getClass.getSimpleName)}")
    }
}
