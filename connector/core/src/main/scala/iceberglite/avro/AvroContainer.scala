package iceberglite.avro

import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ThreadLocalRandom

import scala.annotation.tailrec

import iceberglite.storage.ReadBounds

/** The container format of Avro files (Avro specification, "Object Container Files"). */
private[iceberglite] object AvroContainer {
  val Magic: Array[Byte] = Array('O', 'b', 'j', 1).map(_.toByte)
  val SyncSize = 16
  val SchemaKey = "avro.schema"
  val CodecKey = "avro.codec"

  /** Target size of a block before compression, in bytes. Avro's own writers have the same default. */
  val BlockSize = 64000

  /** Limits for an Avro file that is read as a whole. */
  val Bounds: ReadBounds = ReadBounds("an Avro file", ReadBounds.MaxBytes, _.startsWith(Magic))

  /**
   * Maximum size of a block in bytes, before and after decompression. A larger block indicates a damaged file or a
   * decompression bomb.
   */
  val MaxBlockBytes: Int = 1 << 27

  /**
   * Maximum ratio of the decompressed size of a file to its stored size. The ratio is checked only if the decompressed
   * size exceeds [[MaxBlockBytes]]. A typical ratio is about 10.
   */
  val MaxExpansion = 250L

  /** Maximum length of an encoded number (a varint), in bytes. */
  val MaxNumberBytes = 10
}

/** Reads the header of an Avro file, then its records sequentially. */
final private[iceberglite] class AvroContainerReader private (
    val metadata: Map[String, String],
    source: AvroSource,
    sync: Array[Byte]
) extends AutoCloseable {

  /** The writer's schema as JSON. */
  def schema: String =
    metadata.getOrElse(AvroContainer.SchemaKey, throw AvroFault("The file header has no Avro schema"))

  /** The number of bytes of the file consumed so far. */
  def position: Long = source.position

  /**
   * Returns the decoded records. For each record, `decode` must either consume at least one byte or throw an exception,
   * unless the limits allow empty records.
   *
   * Blocks are decompressed lazily as the iterator advances.
   */
  def records[A](
      decode: AvroInput => A,
      limits: AvroLimits = AvroLimits.ForMetadata,
      part: AvroPart = AvroPart.Whole
  ): DecodedRecords[A] = {
    val codec = AvroCodec.decompressor(metadata.getOrElse(AvroContainer.CodecKey, AvroCodec.Uncompressed.name))
    new DecodedRecords(source, new AvroBlocks(source, sync, codec, part, limits), codec, decode, limits)
  }

  /** Returns the number of records. Blocks are skipped and not decompressed. */
  def countRecords(): Long = {
    val codec = AvroCodec.decompressor(metadata.getOrElse(AvroContainer.CodecKey, AvroCodec.Uncompressed.name))
    try new AvroBlocks(source, sync, codec, AvroPart.Whole, AvroLimits.ForMetadata).countRecords()
    finally codec.close()
  }

  /**
   * Closes the file. A caller that reads all records need not call this method, because the file is closed
   * automatically when the iterator has no more records.
   */
  override def close(): Unit = source.close()
}

/**
 * Limits on the content of a file.
 *
 * @param maxExpansion maximum ratio of the decompressed size of the file to its stored size, which is checked only if
 *   the decompressed size exceeds [[AvroContainer.MaxBlockBytes]]; absent for no limit
 * @param allowsEmptyRecords whether records may be encoded in zero bytes. If so, the record count of a block is not
 *   limited by the size of the block
 */
final private[iceberglite] case class AvroLimits(maxExpansion: Option[Long], allowsEmptyRecords: Boolean)

private[iceberglite] object AvroLimits {

  /** Limits for manifests and manifest lists, which are retained in memory. */
  val ForMetadata: AvroLimits = AvroLimits(Some(AvroContainer.MaxExpansion), allowsEmptyRecords = false)

  /**
   * Limits for rows. The compression ratio is not limited, because repetitive rows compress well, and because rows are
   * not retained in memory.
   */
  def forRows(allowsEmptyRecords: Boolean): AvroLimits = AvroLimits(None, allowsEmptyRecords)
}

/** Iterates over decoded records. A caller that stops before the last record must close the reader. */
final private[iceberglite] class DecodedRecords[A](
    source: AvroSource,
    blocks: AvroBlocks,
    codec: AvroCodec.Decompressor,
    decode: AvroInput => A,
    limits: AvroLimits
) extends Iterator[A] {
  private var recordsLeft = 0L
  private var block = new AvroInput(Array.emptyByteArray, 0, 0)
  private var nextPosition = 0L

  /**
   * The position of the next record: the number of records before it in the file. It is valid only if the part tracks
   * positions, or begins at the start of the file.
   */
  def position: Long = nextPosition

  /** The consumed part of the current block; see [[AvroInput.consumed]]. */
  def consumed: Long = block.consumed

  override def hasNext: Boolean = {
    while (recordsLeft == 0 && blocks.next()) nextBlock()
    if (recordsLeft == 0) {
      codec.close()
      source.close()
    }
    recordsLeft > 0
  }

  override def next(): A = {
    if (recordsLeft == 0 && !hasNext) throw new NoSuchElementException("No more records")
    recordsLeft -= 1
    nextPosition += 1
    val record = decode(block)
    if (recordsLeft == 0 && block.remaining > 0) {
      throw AvroFault(s"A block has ${block.remaining} bytes after its last record")
    }
    record
  }

  private def nextBlock(): Unit = {
    block = blocks.decompressed
    recordsLeft = blocks.records
    nextPosition = blocks.firstRecord
    if (recordsLeft > block.remaining && !limits.allowsEmptyRecords) {
      throw AvroFault(s"A block of ${block.remaining} bytes claims $recordsLeft records")
    }
  }
}

private[iceberglite] object AvroContainerReader {
  private val HeaderBytes = 1 << 16
  private val MaxHeaderBytes = 1 << 26

  /** Opens a file in memory. @throws AvroFault if the bytes do not begin with the header of an Avro file */
  def open(bytes: Array[Byte]): AvroContainerReader = open(AvroSource.of(bytes))

  /** Opens a file. @throws AvroFault if the source does not begin with the header of an Avro file */
  def open(source: AvroSource): AvroContainerReader =
    try parseHeader(source, HeaderBytes)
    catch {
      case e: Throwable =>
        source.close()
        throw e
    }

  /**
   * Parses the header. The length of the header is not known in advance. If the buffer does not contain the whole
   * header, more bytes are buffered, and the header is parsed again.
   */
  @tailrec
  private def parseHeader(source: AvroSource, bytes: Int): AvroContainerReader = {
    source.fill(bytes)
    val buffered = source.input
    val in = new AvroInput(buffered.bytes, buffered.position, buffered.end)
    val parsed =
      try Some(readHeader(in))
      catch { case _: AvroFault if !source.isAtEnd && bytes < MaxHeaderBytes => None }
    parsed match {
      case Some((pairs, sync)) =>
        buffered.skip(in.position - buffered.position)
        new AvroContainerReader(pairs, source, sync)
      case None => parseHeader(source, bytes * 4)
    }
  }

  private def readHeader(in: AvroInput): (Map[String, String], Array[Byte]) = {
    val magic = AvroContainer.Magic
    if (in.remaining < magic.length || in.readFixed(magic.length) != ByteBuffer.wrap(magic)) {
      throw AvroFault("The file does not begin with the magic bytes of an Avro file")
    }
    val pairs = Map.newBuilder[String, String]
    FieldDecoder.items(in) {
      val key = in.readText()
      pairs += key -> in.readText()
    }
    (pairs.result(), in.readFixed(AvroContainer.SyncSize).array)
  }
}

/**
 * Writes records to an Avro file in memory. The caller either gets the whole file from [[finish]], or repeatedly drains
 * the finished blocks with [[drainTo]].
 */
final private[iceberglite] class AvroContainerWriter(
    schema: String,
    metadata: Seq[(String, String)],
    codec: AvroCodec
) {
  private val file = new AvroOutput(1 << 14)
  private val block = new AvroOutput(AvroContainer.BlockSize + (1 << 12))
  private var records = 0L
  private val sync = {
    val bytes = new Array[Byte](AvroContainer.SyncSize)
    ThreadLocalRandom.current.nextBytes(bytes)
    bytes
  }

  writeHeader()

  /** Appends the output of `write` as one record. */
  def add(write: AvroOutput => Unit): Unit = {
    write(block)
    records += 1
    if (block.size >= AvroContainer.BlockSize) endBlock()
  }

  /** Number of bytes that have not been drained yet, including the uncompressed size of the unfinished block. */
  def size: Int = file.size + block.size

  /** Bytes of finished blocks that have not been drained yet. */
  def finishedBytes: Int = file.size

  /** Moves the finished blocks from memory to `out`. */
  def drainTo(out: OutputStream): Unit = {
    out.write(file.array, 0, file.size)
    file.clear()
  }

  /** Ends the file and returns the bytes that have not been drained. No record can be added afterwards. */
  def finish(): Array[Byte] = {
    if (records > 0) endBlock()
    file.toBytes
  }

  private def writeHeader(): Unit = {
    file.writeRaw(ByteBuffer.wrap(AvroContainer.Magic))
    val keyValues = Seq(AvroContainer.SchemaKey -> schema, AvroContainer.CodecKey -> codec.name) ++ metadata
    file.writeLong(keyValues.size.toLong)
    keyValues.foreach { case (key, value) =>
      file.writeText(key)
      file.writeBytes(ByteBuffer.wrap(value.getBytes(UTF_8)))
    }
    file.writeLong(0)
    file.writeRaw(ByteBuffer.wrap(sync))
  }

  private def endBlock(): Unit = {
    val compressed = codec.compress(block.array, block.size)
    file.writeLong(records)
    file.writeLong(compressed.length.toLong)
    file.writeRaw(compressed, 0, compressed.length)
    file.writeRaw(ByteBuffer.wrap(sync))
    block.clear()
    records = 0
  }
}
