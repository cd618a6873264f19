package iceberglite.encryption

import java.nio.charset.StandardCharsets.ISO_8859_1

import org.scalatest.Assertions

import iceberglite.data.{DataFormat, DataFormats, DataSource, DataTarget, Record, WrittenFile}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.FileIO
import iceberglite.table.MemoryFileIO

/** Encrypted data files, and reads of changed files. */
trait EncryptedRowFiles extends Assertions {
  protected val Marker = "Geheimnis"

  protected val schema = Schema(
    0,
    Vector(required(1, "id", IntType), required(2, "same", IntType), optional(3, "name", StringType))
  )

  protected def rows(count: Int): Vector[Record] =
    (0 until count).map(i => Record.of(i, i, if (i % 7 == 0) null else s"$Marker-$i")).toVector

  /** Small pages and row groups without dictionaries, so that pages have equal lengths. */
  protected val properties = Map(
    "write.parquet.page-size-bytes" -> "1024",
    "write.parquet.page-row-limit" -> "100",
    "write.parquet.row-group-size-bytes" -> "20000",
    "write.parquet.row-group-check-min-record-count" -> "100",
    "write.parquet.compression-codec" -> "uncompressed",
    "write.parquet.dict-size-bytes" -> "1",
    "write.parquet.bloom-filter-enabled.column.name" -> "true",
    "write.parquet.bloom-filter-max-bytes" -> "1024",
    "write.avro.compression-codec" -> "uncompressed",
    "write.orc.compression-codec" -> "none"
  )

  protected def write(storage: FileIO, path: String, format: DataFormat, rows: Seq[Record]): WrittenFile = {
    val modes = MetricsModes(schema.byId.map { case (id, _) => id -> (MetricsMode.Full: MetricsMode) })
    val writer = format.write(DataTarget(EncryptedStorage.of(storage), path, schema, properties, modes))
    rows.foreach(writer.write)
    writer.close()
  }

  protected def contentFile(written: WrittenFile): ContentFile = written.dataFile(0, PartitionTuple.Empty, 0)

  protected def read(io: FileIO, file: ContentFile): Vector[Record] = {
    val records = DataFormats.of(file.format).read(DataSource.of(io, file, None), schema.asStruct)
    try records.toVector
    finally records.close()
  }

  protected def text(bytes: Array[Byte]): String = new String(bytes, ISO_8859_1)

  /**
   * Reads a file with the `changed` bytes. The result must be the `expected` rows, or an error that names the file and
   * shows no value of the rows. Returns whether the error was thrown.
   */
  protected def check(changed: Array[Byte], file: ContentFile, expected: Vector[Record]): Boolean = {
    val io = new MemoryFileIO
    io.write(file.path, changed)
    try {
      assert(read(io, file) == expected)
      false
    } catch {
      case e: UnreadableFile =>
        assert(e.file == file.path)
        val messages = Iterator.iterate[Throwable](e)(_.getCause).take(10).takeWhile(_ != null).map(_.toString)
        assert(!messages.exists(_.contains(Marker)))
        true
    }
  }
}
