package iceberglite.data

import java.io.Closeable

import iceberglite.io.{FileIO, MetricsModes}
import iceberglite.spec.{FileFormat, Metrics, NameMapping, Schema}
import iceberglite.spec.Type.StructType

/**
 * How rows stand in the files of one format (spec: "Appendix A: Format-specific Requirements"), both ways, with field
 * ids on every node. Open by design: a format is one file that holds its behaviour, and one line in [[DataFormats.all]].
 */
trait DataFormat {
  def format: FileFormat

  /**
   * The rows of a file, the fields of `wanted` found by id at every level and read in its types (promoted where the file
   * has the narrower one). What the file lacks is filled by [[ColumnSource]]. A wanted field with the id of
   * `MetadataColumns.Position` is the row's ordinal in the whole file.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile that names the file and the column, for whatever is wrong with it
   */
  def read(source: DataSource, wanted: StructType): RecordIterator

  /** A new file. Nothing is there for readers before [[RecordWriter.close]]. */
  def write(target: DataTarget): RecordWriter
}

/**
 * A data or delete file to read.
 *
 * @param nameMapping for files whose fields have no ids
 * @param constants values of columns that the file lacks, by field id, as [[Record]] holds them: those of identity
 *   partition fields and metadata columns such as `_file`
 */
final case class DataSource(
    io: FileIO,
    path: String,
    length: Long,
    nameMapping: Option[NameMapping] = None,
    constants: Map[Int, AnyRef] = Map.empty
)

/**
 * A data or delete file to write.
 *
 * @param schema the columns of the file, all of which are written
 * @param properties of the table: compression, sizes
 * @param modes what metadata keeps of each column
 * @param keyValues what the file's footer says besides
 */
final case class DataTarget(
    io: FileIO,
    path: String,
    schema: Schema,
    properties: Map[String, String],
    modes: MetricsModes,
    keyValues: Map[String, String] = Map.empty
)

trait RecordIterator extends Iterator[Record] with Closeable

trait RecordWriter {

  /** @param record in the order of the schema's fields; a null in a required field is a `ValidationFailed` */
  def write(record: Record): Unit

  /** Bytes so far, those in memory counted as well as is known. */
  def length: Long

  /** Completes the file. */
  def close(): WrittenFile

  /** Gives up and removes what was written. */
  def abort(): Unit
}

/** What a manifest entry says of a file that was written. */
final case class WrittenFile(
    path: String,
    format: FileFormat,
    recordCount: Long,
    fileSizeInBytes: Long,
    metrics: Metrics,
    splitOffsets: Vector[Long]
)
