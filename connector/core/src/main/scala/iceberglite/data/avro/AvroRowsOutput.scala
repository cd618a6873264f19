package iceberglite.data.avro

import scala.util.Try

import iceberglite.data.FileFaults
import iceberglite.io.{AvroCodec, AvroContainerWriter, AvroOutput, AvroSchemas, DataOutput, FileIO}
import iceberglite.spec.Type.StructType

/**
 * What the Avro files of a task have in common.
 *
 * @param schema Avro's, in JSON
 * @param keyValues what the header holds besides
 */
final private[iceberglite] case class AvroShape(schema: String, codec: AvroCodec, keyValues: Map[String, String])

private[iceberglite] object AvroShape {

  /** The key under which Apache Iceberg keeps the table's schema. */
  val SchemaKey = "iceberg.schema"

  /** What it calls the record of a row. */
  private val RecordName = "table"

  def of(struct: StructType, codec: AvroCodec, keyValues: Map[String, String]): AvroShape =
    AvroShape(AvroSchemas.of(struct, RecordName).toString, codec, keyValues)
}

/** An Avro file in the making, which is written block by block. */
final private[iceberglite] class AvroRowsOutput(io: FileIO, path: String, shape: AvroShape) {
  private val container = new AvroContainerWriter(shape.schema, shape.keyValues.toVector.sorted, shape.codec)
  private val stream = DataOutput.of(io, path).create(0)

  /** @param encode puts out the bytes of one row */
  def add(encode: AvroOutput => Unit): Unit = {
    container.add(encode)
    if (container.finishedBytes > 0) FileFaults.writing(path)(container.drainTo(stream))
  }

  /** Bytes so far, those of the unfinished block as they are before compression. */
  def length: Long = stream.getPos + container.size

  /** Bytes in memory. */
  def buffered: Long = container.size.toLong

  /** Completes the file. @return its length in bytes */
  def finish(): Long = FileFaults.writing(path) {
    stream.write(container.finish())
    stream.close()
    stream.getPos
  }

  /** Gives up; the file is to be deleted. */
  def abandon(): Unit = {
    Try(stream.close())
    ()
  }
}
