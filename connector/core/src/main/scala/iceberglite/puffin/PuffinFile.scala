package iceberglite.puffin

import java.nio.{ByteBuffer, ByteOrder}

import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile}
import iceberglite.spec.json.PuffinFooterJson
import iceberglite.spec.metadata.{PuffinBlob, PuffinFooter}
import iceberglite.storage.FileIO

/**
 * A Puffin file whose footer has been read (Puffin spec: "File structure"). Each blob is read separately. If the
 * storage supports range reads, other parts of the file are not read.
 *
 * @param fileSizeInBytes size of the whole file
 * @param footerSizeInBytes size of the whole footer, as in the `statistics` of table metadata
 */
final class PuffinFile private (
    io: FileIO,
    val path: String,
    val footer: PuffinFooter,
    val fileSizeInBytes: Long,
    val footerSizeInBytes: Long
) {

  /** The blobs in the order of the footer. */
  def blobs: Vector[PuffinBlob] = footer.blobs

  /**
   * Reads and decompresses one of the [[blobs]].
   *
   * @throws UnreadableFile if the blob cannot be read or decompressed, or does not fit into memory
   */
  def read(blob: PuffinBlob): Array[Byte] = {
    val role = s"blob ${blob.metadata.blobType} at ${blob.offset} of"
    if (blob.length > Int.MaxValue) {
      throw UnreadableFile(path, role, s"The blob has ${blob.length} bytes, but the maximum is ${Int.MaxValue}")
    }
    val compressed =
      try io.readRange(path, blob.offset, blob.length.toInt)
      catch { case e: UnreadableFile => throw e.copy(role = role) }
    try PuffinCodec.of(blob.compressionCodec).decompress(compressed)
    catch { case DamagedBlob(reason) => throw UnreadableFile(path, role, reason) }
  }
}

object PuffinFile {
  private[iceberglite] val Magic: Array[Byte] = Array('P', 'F', 'A', '1')

  /** The flag of a compressed footer: bit 0 of the four flag bytes, which are read as one little-endian number. */
  private[iceberglite] val FooterCompressedFlag = 1

  /**
   * Size in bytes of the part of the footer after the payload. This part consists of the payload size, the flags and
   * the magic.
   */
  private[iceberglite] val TailSize = 12

  /** Size in bytes of a footer with an empty payload. */
  private[iceberglite] val MinFooterSize: Int = Magic.length + TailSize

  /**
   * Maximum size of the payload of a footer in bytes. A longer payload would describe hundreds of thousands of blobs.
   * It is treated as damaged.
   */
  private val MaxPayloadSize = 1 << 26
  private val Role = "Puffin file"

  /**
   * Number of bytes at the end of the file that are read first. They nearly always contain the whole footer, so that
   * one request for the footer is sufficient.
   */
  private val FirstReadSize = 1 << 15

  /**
   * Reads the footer.
   *
   * @param fileSize the size of the file in bytes, if it is known from metadata
   * @throws UnreadableFile if the file does not exist, is not a Puffin file, or is damaged
   * @throws InvalidMetadata if the JSON of the footer violates the Puffin specification
   */
  def open(io: FileIO, path: String, fileSize: Option[Long] = None): PuffinFile = {
    val size = fileSize.orElse(io.info(path).map(_.length)).getOrElse(
      throw UnreadableFile(path, Role, "The file does not exist")
    )
    if (size < Magic.length + MinFooterSize) fail(path, s"The file has $size bytes, too few for a Puffin file")
    checkMagic(path, "The beginning of the file", range(io, path, 0, Magic.length))
    val end = range(io, path, size - math.min(size, FirstReadSize.toLong), math.min(size, FirstReadSize.toLong).toInt)
    val payload = payloadSize(path, end, size)
    val footerSize = MinFooterSize + payload
    val footer =
      if (footerSize <= end.length) end.takeRight(footerSize) else range(io, path, size - footerSize, footerSize)
    checkMagic(path, "The footer", footer.take(Magic.length))
    val parsed = PuffinFooterJson.parse(path, payloadOf(path, footer, payload))
    checkBlobRanges(path, parsed, size - footerSize)
    new PuffinFile(io, path, parsed, size, footerSize.toLong)
  }

  private def payloadSize(path: String, end: Array[Byte], fileSize: Long): Int = {
    checkMagic(path, "The end of the file", end.takeRight(Magic.length))
    val size = littleEndian(end, end.length - TailSize)
    if (size < 0 || size > fileSize - Magic.length - MinFooterSize) {
      fail(path, s"The footer states a payload of $size bytes, but the file has only $fileSize bytes")
    }
    if (size > MaxPayloadSize)
      fail(path, s"The payload of the footer has $size bytes, more than the limit of $MaxPayloadSize bytes")
    size
  }

  private def payloadOf(path: String, footer: Array[Byte], payloadSize: Int): Array[Byte] = {
    val payload = java.util.Arrays.copyOfRange(footer, Magic.length, Magic.length + payloadSize)
    val flags = littleEndian(footer, footer.length - TailSize + Integer.BYTES)
    if ((flags & ~FooterCompressedFlag) != 0) {
      fail(path, f"The footer has the flags 0x$flags%08x, but only bit 0 is defined")
    }
    if (flags == 0) payload
    else
      try PuffinCodec.Lz4.decompress(payload)
      catch { case DamagedBlob(reason) => fail(path, s"The footer is damaged. $reason") }
  }

  /**
   * Checks that every blob is between the magic at the start of the file and the footer, and that blobs do not overlap.
   */
  private def checkBlobRanges(path: String, footer: PuffinFooter, footerStart: Long): Unit = {
    def refuse(index: Int, reason: String): Nothing = throw InvalidMetadata(path, s"$$.blobs[$index]", reason)
    var last = Magic.length.toLong
    footer.blobs.zipWithIndex.sortBy { case (blob, _) => (blob.offset, blob.length) }.foreach { case (blob, i) =>
      if (blob.offset < last) {
        refuse(i, s"The blob starts at ${blob.offset}, before the end of the previous data at $last")
      }
      if (blob.length > footerStart - blob.offset) {
        refuse(i, s"The ${blob.length} bytes at ${blob.offset} extend into the footer, which starts at $footerStart")
      }
      last = blob.offset + blob.length
    }
  }

  private def range(io: FileIO, path: String, offset: Long, length: Int): Array[Byte] =
    try io.readRange(path, offset, length)
    catch { case e: UnreadableFile => throw e.copy(role = Role) }

  private def checkMagic(path: String, what: String, found: Array[Byte]): Unit =
    if (!found.sameElements(Magic)) {
      fail(path, s"$what lacks the magic PFA1, so the file is truncated or is not a Puffin file")
    }

  private def littleEndian(bytes: Array[Byte], offset: Int): Int =
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(offset)

  private def fail(path: String, reason: String): Nothing = throw UnreadableFile(path, Role, reason)
}
