package iceberglite.data

import java.io.Closeable
import java.nio.ByteBuffer

import iceberglite.encryption.FileKey
import iceberglite.metrics.MetricsModes
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.{EncryptedFileIO, FileIO}

/**
 * Reads and writes data files of one file format, with field ids (spec: "Appendix A: Format-specific Requirements"). To
 * add a format, implement this trait and list the implementation in [[DataFormats.all]].
 */
trait DataFormat {
  def format: FileFormat

  /**
   * Whether the bounds of numbers, dates and timestamps are values that occur in the file. If not, the bounds may be
   * rounded.
   */
  def boundsAreExact: Boolean

  /**
   * Reads the rows of a file. The fields of `expected` are matched by id at every level. Values of narrower types are
   * promoted to the expected types. The values of fields that the file lacks are determined by [[ColumnSource]]. A
   * field with the id of `MetadataColumns.Position` contains the row's position in the whole file.
   *
   * @param expected the columns to read
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file or a column cannot be read; the message names the
   *   file and the column
   */
  def read(source: DataSource, expected: StructType): RecordIterator

  /**
   * Whether the top-level columns of a file are found by the names of the columns to read. If so, a rename of a table
   * column changes which column of the file is read. The result is true for ORC and Avro files without field ids if
   * there is no name mapping.
   */
  def isReadByNames(source: DataSource): Boolean

  /**
   * Returns the metadata of a file that another program wrote, without reading its rows. The metrics are those that the
   * format records: Parquet and ORC files have counts and bounds, Avro files only a record count.
   *
   * @param source the file, with the table's name mapping and the values of identity partition fields
   * @param schema the table's columns. The values of each column in the file must be readable as the type of the
   *   table's column
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is damaged, if its columns do not match the
   *   columns of the table, or if a column cannot be read as the type of the table's column. The message names the file
   *   and the column
   */
  def inspect(source: DataSource, schema: Schema, modes: MetricsModes): WrittenFile

  /** Creates a new file. The file becomes visible to readers when [[RecordWriter.close]] is called. */
  def write(target: DataTarget): RecordWriter
}

/**
 * A data or delete file to read.
 *
 * @param nameMapping the table's name mapping, for files without field ids
 * @param constants values of identity partition fields and of metadata columns such as `_file`, by field id, in the
 *   representation of [[Record]]. These values are used for columns that the file lacks
 * @param key the key of an encrypted file
 */
final case class DataSource(
    io: FileIO,
    path: String,
    length: Long,
    nameMapping: Option[NameMapping] = None,
    constants: Map[Int, AnyRef] = Map.empty,
    key: Option[FileKey] = None
) {

  /**
   * The storage for reading the content of the file, decrypted if necessary. It is not used for Parquet files, because
   * their format has its own encryption.
   */
  def content: FileIO = key.fold(io)(EncryptedFileIO(io, path, _))
}

object DataSource {

  /** Returns a file of a table. @throws iceberglite.spec.IcebergError.UnreadableFile if its key metadata is damaged */
  def of(
      io: FileIO,
      file: ContentFile,
      nameMapping: Option[NameMapping],
      constants: Map[Int, AnyRef] = Map.empty
  ): DataSource = DataSource(io, file.path, file.fileSizeInBytes, nameMapping, constants, FileKey.of(file))
}

/**
 * A data or delete file to write.
 *
 * @param io the storage of the table. If the table is encrypted, the file is encrypted with a new key
 * @param schema the columns of the file
 * @param properties table properties, such as compression and sizes
 * @param modes metrics mode of each column
 * @param keyValues additional key-value metadata of the file
 */
final case class DataTarget(
    io: FileIO,
    path: String,
    schema: Schema,
    properties: Map[String, String],
    modes: MetricsModes,
    keyValues: Map[String, String] = Map.empty
)

/** The rows of a file. The caller must close the iterator, which closes the file. */
trait RecordIterator extends Iterator[Record] with Closeable

/** Writes the rows of one new file. The caller must end the file with [[close]] or [[abort]]. */
trait RecordWriter {

  /**
   * Writes a row.
   *
   * @param record values in the order of the schema's fields
   * @throws iceberglite.spec.IcebergError.ValidationFailed if a required field is null, or if the file cannot store a
   *   value, such as a decimal with too many digits
   */
  def write(record: Record): Unit

  /** Bytes written so far, including an estimate for buffered data. */
  def length: Long

  /** Completes the file. */
  def close(): WrittenFile

  /** Stops writing and deletes the incomplete file. */
  def abort(): Unit
}

/**
 * The metadata of a complete file. Either the writer collected the metadata, or it was read from the file.
 *
 * @param keyMetadata the encoded key of an encrypted file
 */
final case class WrittenFile(
    path: String,
    format: FileFormat,
    recordCount: Long,
    fileSizeInBytes: Long,
    metrics: Metrics,
    splitOffsets: Vector[Long],
    keyMetadata: Option[ByteBuffer] = None
) {

  /** Returns the metadata of a data file. @param sortOrderId id of the sort order of its rows */
  def dataFile(specId: Int, partition: PartitionTuple, sortOrderId: Int): ContentFile = ContentFile(
    Content.Data,
    path,
    format,
    specId,
    partition,
    recordCount,
    fileSizeInBytes,
    metrics,
    keyMetadata,
    splitOffsets = splitOffsets,
    sortOrderId = Some(sortOrderId)
  )

  /**
   * Returns the metadata of a position delete file.
   *
   * @param referencedDataFile the data file to which the deletes apply, if they apply to a single data file
   */
  def positionDeletes(
      specId: Int,
      partition: PartitionTuple,
      referencedDataFile: Option[String]
  ): ContentFile = ContentFile(
    Content.PositionDeletes,
    path,
    format,
    specId,
    partition,
    recordCount,
    fileSizeInBytes,
    metrics,
    keyMetadata,
    splitOffsets = splitOffsets,
    referencedDataFile = referencedDataFile
  )
}
