package iceberglite.avro

import java.util.Arrays

/**
 * A part of an Avro file: the blocks that begin between `start` (inclusive) and `start + length` (exclusive), in bytes.
 *
 * @param tracksPositions whether the positions of records are needed, i.e. the number of records before each record in
 *   the file. If true, the headers of the blocks before the part are read to count the records; if false, the blocks
 *   before the part are not read
 */
final private[iceberglite] case class AvroPart(start: Long, length: Long, tracksPositions: Boolean) {
  def endsBefore(position: Long): Boolean = position - start >= length
}

private[iceberglite] object AvroPart {
  val Whole: AvroPart = AvroPart(0L, Long.MaxValue, tracksPositions = true)
}

/**
 * Reads the blocks of a part of an Avro file (Avro specification, "Object Container Files").
 *
 * @param source positioned at the end of the header
 * @param sync the sync marker that ends the header and every block
 */
final private[iceberglite] class AvroBlocks(
    source: AvroSource,
    sync: Array[Byte],
    codec: AvroCodec.Decompressor,
    part: AvroPart,
    limits: AvroLimits
) {
  private val firstByte = source.position
  private var decompressedBytes = 0L
  private var isAtStart = true
  private var recordsSeen = 0L

  /** The decompressed content of the current block. */
  var decompressed: AvroInput = new AvroInput(Array.emptyByteArray, 0, 0)

  /** The record count that the header of the current block states. */
  var records: Long = 0L

  /**
   * The position of the current block's first record: the number of records before it in the file. It is valid only if
   * the part tracks positions, or begins at the start of the file.
   */
  def firstRecord: Long = recordsSeen - records

  /** Decompresses the next block. Returns false at the end of the part. */
  def next(): Boolean = {
    if (isAtStart && !part.tracksPositions && part.start > firstByte) toFirstBlock()
    isAtStart = false
    while (!source.isEmpty && source.position < part.start) skipBlock()
    if (source.isEmpty || part.endsBefore(source.position)) false
    else {
      decompressBlock()
      true
    }
  }

  /** Returns the number of records in all blocks, without decompressing a block. */
  def countRecords(): Long = {
    while (!source.isEmpty) skipBlock()
    recordsSeen
  }

  /**
   * Moves to the first block of the part: to the position after the first sync marker that ends at or after the part's
   * start.
   */
  private def toFirstBlock(): Unit = {
    source.seek(math.max(firstByte, part.start - AvroContainer.SyncSize))
    var found = false
    while (!found && !source.isEmpty) {
      source.fill(AvroContainer.BlockSize)
      val in = source.input
      val last = in.end - AvroContainer.SyncSize
      var offset = in.position
      while (offset <= last && !isSyncMarker(in.bytes, offset)) offset += 1
      found = offset <= last
      val target = if (found) offset + AvroContainer.SyncSize else if (source.isAtEnd) in.end else offset
      in.skip(target - in.position)
    }
  }

  private def isSyncMarker(bytes: Array[Byte], offset: Int): Boolean =
    bytes(offset) == sync(0) && Arrays.equals(bytes, offset, offset + AvroContainer.SyncSize, sync, 0, sync.length)

  /** Reads the header of a block and skips the content of the block. */
  private def skipBlock(): Unit = {
    val length = readHeader()
    source.seek(source.position + length)
    source.fill(AvroContainer.SyncSize)
    checkSyncMarker()
  }

  private def decompressBlock(): Unit = {
    val length = readHeader()
    source.fill(length + AvroContainer.SyncSize)
    val in = source.input
    if (in.remaining < length) throw AvroFault(s"A block claims $length bytes, but ${in.remaining} are left")
    val block = codec.decompress(in.bytes, in.position, length)
    decompressed = new AvroInput(block.bytes, block.start, block.end)
    in.skip(length)
    checkSyncMarker()
    checkExpansion()
  }

  /** Reads a block header and returns the length of the block in bytes. */
  private def readHeader(): Int = {
    source.fill(AvroContainer.MaxNumberBytes * 2)
    records = source.input.readLong()
    if (records < 0) throw AvroFault(s"A block claims $records records")
    recordsSeen += records
    val length = source.input.readLong()
    if (length < 0 || length > AvroContainer.MaxBlockBytes) throw AvroFault(s"A block claims $length bytes")
    length.toInt
  }

  private def checkSyncMarker(): Unit = {
    val in = source.input
    val start = in.position
    in.skip(AvroContainer.SyncSize)
    if (!Arrays.equals(in.bytes, start, in.position, sync, 0, sync.length)) {
      throw AvroFault("A block does not end with the sync marker of the file")
    }
  }

  /**
   * Limits the ratio of the decompressed size to the stored size of all blocks read so far, because many small blocks
   * together can form a decompression bomb.
   */
  private def checkExpansion(): Unit = {
    decompressedBytes += decompressed.remaining
    val compressedBytes = source.position - firstByte
    if (
      decompressedBytes > AvroContainer.MaxBlockBytes && limits.maxExpansion.exists(
        decompressedBytes / _ > compressedBytes
      )
    ) {
      val reason =
        s"The first $compressedBytes bytes of blocks decompress to $decompressedBytes bytes, so the file is damaged " +
          "or is a decompression bomb"
      throw AvroFault(reason)
    }
  }
}
