package iceberglite.io

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays
import java.util.concurrent.ThreadLocalRandom

/** The frame of an Avro file (Avro specification, "Object Container Files"). */
private[io] object AvroContainer {
  val Magic: Array[Byte] = Array('O', 'b', 'j', 1).map(_.toByte)
  val SyncSize = 16
  val SchemaKey = "avro.schema"
  val CodecKey = "avro.codec"

  /** Bytes of a block before compression, as Avro's own writers choose it. */
  val BlockSize = 64000
}

/** The header of an Avro file, and its records one after the other. */
final private[io] class AvroContainerReader private (
    val metadata: Map[String, String],
    in: AvroInput,
    sync: Array[Byte]
) {

  /** The writer's schema in JSON. */
  def schema: String =
    metadata.getOrElse(AvroContainer.SchemaKey, throw AvroFault("Its header has no Avro schema"))

  /**
   * Decodes each record; `decode` must take a byte at least, or throw.
   *
   * The blocks are unpacked as the iterator comes to them.
   */
  def records[A](decode: AvroInput => A): Iterator[A] = {
    val codec = AvroCodec.decompressor(metadata.getOrElse(AvroContainer.CodecKey, AvroCodec.Plain.name))
    new AvroRecords(in, sync, codec, decode)
  }
}

final private[io] class AvroRecords[A](
    in: AvroInput,
    sync: Array[Byte],
    codec: AvroCodec.Decompressor,
    decode: AvroInput => A
) extends Iterator[A] {
  private var left = 0L
  private var block = new AvroInput(Array.emptyByteArray, 0, 0)

  override def hasNext: Boolean = {
    while (left == 0 && in.remaining > 0) nextBlock()
    if (left == 0) codec.close()
    left > 0
  }

  override def next(): A = {
    if (!hasNext) throw new NoSuchElementException("No more records")
    left -= 1
    val record = decode(block)
    if (left == 0 && block.remaining > 0) {
      throw AvroFault(s"A block has ${block.remaining} bytes after its last record")
    }
    record
  }

  private def nextBlock(): Unit = {
    left = in.readLong()
    val length = in.readLength()
    val unpacked = codec.block(in.bytes, in.position, length)
    in.skip(length)
    if (left < 0 || left > unpacked.end - unpacked.start) {
      throw AvroFault(s"A block of ${unpacked.end - unpacked.start} bytes claims $left records")
    }
    block = new AvroInput(unpacked.bytes, unpacked.start, unpacked.end)
    val at = in.position
    in.skip(AvroContainer.SyncSize)
    if (!Arrays.equals(in.bytes, at, in.position, sync, 0, sync.length)) {
      throw AvroFault("The end of a block is not marked as such")
    }
  }
}

private[io] object AvroContainerReader {

  /** @throws AvroFault it does not begin as an Avro file */
  def open(bytes: Array[Byte]): AvroContainerReader = {
    val magic = AvroContainer.Magic
    if (bytes.length < magic.length || !Arrays.equals(bytes, 0, magic.length, magic, 0, magic.length)) {
      throw AvroFault("It is not an Avro file")
    }
    val in = new AvroInput(bytes, magic.length, bytes.length)
    val metadata = Map.newBuilder[String, String]
    var count = in.readBlockCount()
    while (count > 0) {
      (0 until count).foreach { _ =>
        val key = in.readText()
        metadata += key -> in.readText()
      }
      count = in.readBlockCount()
    }
    val sync = in.readFixed(AvroContainer.SyncSize).array
    new AvroContainerReader(metadata.result(), in, sync)
  }
}

/** Collects records to an Avro file in memory. */
final private[io] class AvroContainerWriter(schema: String, metadata: Seq[(String, String)], codec: AvroCodec) {
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

  /** The whole file; nothing is added after it. */
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
