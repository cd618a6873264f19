package iceberglite.data.avro

import iceberglite.avro.{AvroCodec, AvroContainerWriter, AvroOutput, AvroSchemas}
import iceberglite.data.FileFaults
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.{DataOutput, FileIO, StorageErrors}

/**
 * The properties that the Avro files of a task share.
 *
 * @param schema the Avro schema as JSON
 * @param keyValues additional key-value metadata for the header
 */
final private[iceberglite] case class AvroFileSettings(schema: String, codec: AvroCodec, keyValues: Map[String, String])

private[iceberglite] object AvroFileSettings {

  /** The key under which Apache Iceberg stores the table's schema. */
  val SchemaKey = "iceberg.schema"

  /** The name of the Avro record that represents a row, as in Apache Iceberg. */
  private val RecordName = "table"

  def of(struct: StructType, codec: AvroCodec, keyValues: Map[String, String]): AvroFileSettings =
    AvroFileSettings(AvroSchemas.of(struct, RecordName).toString, codec, keyValues)
}

/** An Avro file that is being written block by block. */
final private[iceberglite] class AvroRowsOutput(io: FileIO, path: String, settings: AvroFileSettings) {
  private val container = new AvroContainerWriter(settings.schema, settings.keyValues.toVector.sorted, settings.codec)
  private val stream = DataOutput.of(io, path).create(0)

  /** Adds a row. @param encode writes the bytes of the row */
  def add(encode: AvroOutput => Unit): Unit = {
    container.add(encode)
    if (container.finishedBytes > 0) FileFaults.wrapWriteErrors(path)(container.drainTo(stream))
  }

  /** Bytes written so far, including the uncompressed size of the unfinished block. */
  def length: Long = stream.getPos + container.size

  /** Bytes buffered in memory. */
  def buffered: Long = container.size.toLong

  /** Completes the file and returns its length in bytes. */
  def finish(): Long = FileFaults.wrapWriteErrors(path) {
    stream.write(container.finish())
    stream.close()
    stream.getPos
  }

  /** Stops writing. The caller must delete the file. */
  def abandon(): Unit = StorageErrors.quietly(stream.close())
}
