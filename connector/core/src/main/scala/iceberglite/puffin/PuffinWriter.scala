package iceberglite.puffin

import java.io.ByteArrayOutputStream
import java.nio.{ByteBuffer, ByteOrder}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.json.PuffinFooterJson
import iceberglite.spec.metadata.{BlobMetadata, BlobType, PuffinBlob, PuffinFooter, StatisticsFile}
import iceberglite.storage.{FileIO, FileSink}

/** A blob to write. @param contents the uncompressed content */
final case class NewBlob(metadata: BlobMetadata, contents: Array[Byte], codec: PuffinCodec = PuffinCodec.Uncompressed)

/**
 * A Puffin file that was written.
 *
 * @param footerSizeInBytes size of the whole footer
 * @param blobs the blobs with their locations, in the order in which they were passed
 */
final case class WrittenPuffin(
    path: String,
    fileSizeInBytes: Long,
    footerSizeInBytes: Long,
    blobs: Vector[PuffinBlob]
) {

  /**
   * Returns the entry for table metadata (spec: "Table Statistics"). It does not list blobs with a Bloom index, because
   * PyIceberg rejects metadata with blobs of types that the specification does not define.
   */
  def statistics(snapshotId: Long): StatisticsFile = {
    val listed = blobs.map(_.metadata).filter(_.blobType != BlobType.BloomIndex)
    StatisticsFile(snapshotId, path, fileSizeInBytes, footerSizeInBytes, None, listed)
  }
}

/** Writes Puffin files (Puffin spec: "File structure"). */
object PuffinWriter {
  private val Program = "iceberg-lite"

  /**
   * Writes a new file, which becomes visible when it is complete.
   *
   * @param io the storage, or another destination of files
   * @param blobs the blobs; each blob is compressed before the next blob is requested, so that only compressed blobs
   *   are kept in memory
   * @param properties the file properties; the property `created-by` is added if it is not one of them
   * @param compressFooter whether to compress the footer. Apache Iceberg cannot read a file with a compressed footer
   * @throws InvalidArgument if the blobs exceed the maximum size of an array
   */
  def write(
      io: FileSink,
      path: String,
      blobs: Iterator[NewBlob],
      properties: Map[String, String] = Map.empty,
      compressFooter: Boolean = false
  ): WrittenPuffin = {
    val out = new ByteArrayOutputStream
    out.write(PuffinFile.Magic)
    val written = blobs.map { blob =>
      val compressed = blob.codec.compress(blob.contents)
      val offset = out.size
      append(path, out, compressed)
      PuffinBlob(blob.metadata, offset.toLong, compressed.length.toLong, blob.codec.name)
    }.toVector
    val footer = PuffinFooter(written, Map(PuffinFooter.CreatedBy -> Program) ++ properties)
    val footerBytes = bytes(footer, compressFooter)
    append(path, out, footerBytes)
    io.write(path, out.toByteArray)
    WrittenPuffin(path, out.size.toLong, footerBytes.length.toLong, written)
  }

  /**
   * Writes a copy of a file in which the blobs have other properties. The positions and bytes of the blobs do not
   * change.
   *
   * @param properties returns the new properties of a blob
   * @return the length of the copy in bytes
   * @throws InvalidArgument if the file exceeds the maximum size of an array
   */
  def copy(io: FileIO, file: PuffinFile, path: String)(properties: PuffinBlob => Map[String, String]): Long = {
    val blobBytes = file.fileSizeInBytes - file.footerSizeInBytes
    if (blobBytes > Int.MaxValue) {
      val reason = s"Its blobs have $blobBytes bytes, but the maximum is ${Int.MaxValue}"
      throw InvalidArgument("Puffin file", file.path, reason)
    }
    val blobs = file.blobs.map(blob => blob.copy(metadata = blob.metadata.copy(properties = properties(blob))))
    val out = new ByteArrayOutputStream
    append(path, out, io.readRange(file.path, 0L, blobBytes.toInt))
    append(path, out, bytes(file.footer.copy(blobs = blobs), compressed = false))
    io.write(path, out.toByteArray)
    out.size.toLong
  }

  private def append(path: String, out: ByteArrayOutputStream, bytes: Array[Byte]): Unit = {
    if (bytes.length > Int.MaxValue - PuffinFile.TailSize - out.size) {
      throw InvalidArgument("blobs", s"almost ${Int.MaxValue} bytes or more", s"Split the blobs of $path among files")
    }
    out.write(bytes)
  }

  private def bytes(footer: PuffinFooter, compressed: Boolean): Array[Byte] = {
    val json = PuffinFooterJson.toBytes(footer)
    val payload = if (compressed) PuffinCodec.Lz4.compress(json) else json
    val out = ByteBuffer.allocate(PuffinFile.MinFooterSize + payload.length).order(ByteOrder.LITTLE_ENDIAN)
    out.put(PuffinFile.Magic).put(payload)
    out.putInt(payload.length).putInt(if (compressed) PuffinFile.FooterCompressedFlag else 0).put(PuffinFile.Magic)
    out.array
  }
}
