package iceberglite.io

import java.io.OutputStream
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ThreadLocalRandom

import scala.annotation.tailrec

/** The frame of an Avro file (Avro specification, "Object Container Files"). */
private[iceberglite] object AvroContainer {
  val Magic: Array[Byte] = Array('O', 'b', 'j', 1).map(_.toByte)
  val SyncSize = 16
  val SchemaKey = "avro.schema"
  val CodecKey = "avro.codec"

  /** Bytes of a block before compression, as Avro's own writers choose it. */
  val BlockSize = 64000

  /** A longer block is a damaged file or a bomb. */
  val MaxBlockBytes: Int = 1 << 27

  /** How much longer than it is a file may become, once it is longer than a block may be; the usual is about 10. */
  val MaxExpansion = 250L

  /** Of a number as Avro writes it. */
  val MaxNumberBytes = 10
}

/** The header of an Avro file, and its records one after the other. */
final private[iceberglite] class AvroContainerReader private (
    val metadata: Map[String, String],
    source: AvroSource,
    sync: Array[Byte]
) extends AutoCloseable {

  /** The writer's schema in JSON. */
  def schema: String =
    metadata.getOrElse(AvroContainer.SchemaKey, throw AvroFault("Its header has no Avro schema"))

  /** How many bytes of the file were taken so far. */
  def taken: Long = source.taken

  /**
   * Decodes each record; `decode` must take a byte at least, or throw, unless the limits allow records of none.
   *
   * The blocks are unpacked as the iterator comes to them.
   */
  def records[A](
      decode: AvroInput => A,
      limits: AvroLimits = AvroLimits.OfMetadata,
      part: AvroPart = AvroPart.Whole
  ): AvroRecords[A] = {
    val codec = AvroCodec.decompressor(metadata.getOrElse(AvroContainer.CodecKey, AvroCodec.Plain.name))
    new AvroRecords(source, new AvroBlocks(source, sync, codec, part, limits), codec, decode, limits)
  }

  /** For who stops before the end; the end closes too. */
  override def close(): Unit = source.close()
}

/**
 * What may be true of a file.
 *
 * @param maxExpansion how much longer than it is a file may become, once it is longer than a block may be
 * @param emptyRecords whether records may take no bytes, so that a block can have any number of them
 */
final private[iceberglite] case class AvroLimits(maxExpansion: Option[Long], emptyRecords: Boolean)

private[iceberglite] object AvroLimits {

  /** Manifests and their lists, which are kept in memory. */
  val OfMetadata: AvroLimits = AvroLimits(Some(AvroContainer.MaxExpansion), emptyRecords = false)

  /** Rows, which are often alike and never kept. */
  def ofRows(emptyRecords: Boolean): AvroLimits = AvroLimits(None, emptyRecords)
}

/** Records one after the other; whoever stops before the end closes the reader. */
final private[iceberglite] class AvroRecords[A](
    source: AvroSource,
    blocks: AvroBlocks,
    codec: AvroCodec.Decompressor,
    decode: AvroInput => A,
    limits: AvroLimits
) extends Iterator[A] {
  private var left = 0L
  private var block = new AvroInput(Array.emptyByteArray, 0, 0)
  private var next0 = 0L

  /** The place in the file of the next record, where the part asks for places or begins with the file. */
  def position: Long = next0

  /** Bytes of the block at hand that are not taken yet. */
  def bytesLeft: Int = block.remaining

  override def hasNext: Boolean = {
    while (left == 0 && blocks.next()) nextBlock()
    if (left == 0) {
      codec.close()
      source.close()
    }
    left > 0
  }

  override def next(): A = {
    if (left == 0 && !hasNext) throw new NoSuchElementException("No more records")
    left -= 1
    next0 += 1
    val record = decode(block)
    if (left == 0 && block.remaining > 0) {
      throw AvroFault(s"A block has ${block.remaining} bytes after its last record")
    }
    record
  }

  private def nextBlock(): Unit = {
    block = blocks.unpacked
    left = blocks.records
    next0 = blocks.firstRecord
    if (left > block.remaining && !limits.emptyRecords) {
      throw AvroFault(s"A block of ${block.remaining} bytes claims $left records")
    }
  }
}

private[iceberglite] object AvroContainerReader {
  private val HeaderBytes = 1 << 16
  private val MaxHeaderBytes = 1 << 26

  /** @throws AvroFault it does not begin as an Avro file */
  def open(bytes: Array[Byte]): AvroContainerReader = open(AvroSource.of(bytes))

  /** @throws AvroFault it does not begin as an Avro file */
  def open(source: AvroSource): AvroContainerReader =
    try header(source, HeaderBytes)
    catch {
      case e: Throwable =>
        source.close()
        throw e
    }

  /** Nobody knows how long a header is: where the bytes at hand are too few, it is tried again with more. */
  @tailrec
  private def header(source: AvroSource, bytes: Int): AvroContainerReader = {
    source.fill(bytes)
    val all = source.input
    val in = new AvroInput(all.bytes, all.position, all.end)
    val read =
      try Some(metadata(in))
      catch { case _: AvroFault if !source.ended && bytes < MaxHeaderBytes => None }
    read match {
      case Some((pairs, sync)) =>
        all.skip(in.position - all.position)
        new AvroContainerReader(pairs, source, sync)
      case None => header(source, bytes * 4)
    }
  }

  private def metadata(in: AvroInput): (Map[String, String], Array[Byte]) = {
    val magic = AvroContainer.Magic
    if (in.remaining < magic.length || in.readFixed(magic.length) != ByteBuffer.wrap(magic)) {
      throw AvroFault("It is not an Avro file")
    }
    val pairs = Map.newBuilder[String, String]
    FieldDecoder.items(in) {
      val key = in.readText()
      pairs += key -> in.readText()
    }
    (pairs.result(), in.readFixed(AvroContainer.SyncSize).array)
  }
}

/** Collects records to an Avro file in memory, as a whole or until somebody takes what there is. */
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

  /** Adds what `write` puts out as one record. */
  def add(write: AvroOutput => Unit): Unit = {
    write(block)
    records += 1
    if (block.size >= AvroContainer.BlockSize) endBlock()
  }

  /** Bytes that nobody has taken yet, those of the unfinished block as they are before compression. */
  def size: Int = file.size + block.size

  /** Those of finished blocks. */
  def finishedBytes: Int = file.size

  /** Takes the finished blocks out of the memory. */
  def drainTo(out: OutputStream): Unit = {
    out.write(file.array, 0, file.size)
    file.clear()
  }

  /** What was not taken of the file; nothing is added after it. */
  def finish(): Array[Byte] = {
    if (records > 0) endBlock()
    file.toBytes
  }

  private def writeHeader(): Unit = {
    file.writeRaw(ByteBuffer.wrap(AvroContainer.Magic))
    val all = Seq(AvroContainer.SchemaKey -> schema, AvroContainer.CodecKey -> codec.name) ++ metadata
    file.writeLong(all.size.toLong)
    all.foreach { case (key, value) =>
      file.writeText(key)
      file.writeBytes(ByteBuffer.wrap(value.getBytes(UTF_8)))
    }
    file.writeLong(0)
    file.writeRaw(ByteBuffer.wrap(sync))
  }

  private def endBlock(): Unit = {
    val packed = codec.compress(block.array, block.size)
    file.writeLong(records)
    file.writeLong(packed.length.toLong)
    file.writeRaw(packed, 0, packed.length)
    file.writeRaw(ByteBuffer.wrap(sync))
    block.clear()
    records = 0
  }
}
