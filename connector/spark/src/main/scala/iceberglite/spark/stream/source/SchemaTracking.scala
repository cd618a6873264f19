package iceberglite.spark.stream.source

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import iceberglite.scan.stream.TrackedSchema
import iceberglite.spark.conf.StreamOptions
import iceberglite.spec.IcebergError.{InvalidMetadata, Unsupported, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata

/**
 * The files of the option `schema-tracking`, which contain the columns that a streaming query reads. They are in the
 * location of the option, so that the columns are known when Spark creates a DataFrame, which is before it reads the
 * checkpoint of the query. Each change of the columns is a new file with the next number: files are never replaced,
 * because not all file systems replace a file atomically.
 *
 * @param location the value of the option
 */
final private[iceberglite] class SchemaTracking(val location: String, conf: Configuration) {
  import SchemaTracking._

  /**
   * Returns the newest recorded columns of a table; absent before a query has started.
   *
   * @param name the name of the table, for messages
   * @throws iceberglite.spec.IcebergError.StorageFailed if the file cannot be read
   * @throws InvalidMetadata if the file does not contain columns of a stream
   * @throws ValidationFailed if the file contains the columns of another table
   * @throws Unsupported if the table has no UUID
   */
  def recorded(name: String, table: TableMetadata): Option[Recorded] = {
    val directory = directoryOf(name, table)
    val numbers = CheckpointFile.namesIn(directory, conf)
      .collect { case FileName(digits) => digits.toInt }
    numbers.reduceOption(_ max _).map { number =>
      val file = fileOf(directory, number)
      val columns = file.read().map(parse(file, _)).getOrElse(throw damaged(file, "$", "The file was deleted", None))
      if (!table.uuid.contains(columns.table)) throw ValidationFailed(
        s"$file contains the columns of a table with the UUID ${columns.table}, and not those of $name. $Advice"
      )
      Recorded(number, columns)
    }
  }

  /**
   * Creates the file with the next columns.
   *
   * @param number the number of the file
   * @throws ValidationFailed if another run of the query has created the file
   */
  private[source] def create(name: String, table: TableMetadata, number: Int, columns: TrackedSchema): Recorded = {
    val file = fileOf(directoryOf(name, table), number)
    if (!file.create(TrackedSchema.toJson(columns))) throw ValidationFailed(
      s"$file exists, so another run of a streaming query on $name has recorded columns at the same time. Stop one " +
        s"of the two queries, or set ${StreamOptions.SchemaTracking.key} to a directory for each streaming read, " +
        "such as the checkpoint location"
    )
    Recorded(number, columns)
  }

  /** Returns the UUID of a table, which the files are named by. @throws Unsupported if the table has no UUID */
  private[source] def uuidOf(name: String, table: TableMetadata): UUID = table.uuid.getOrElse(throw Unsupported(
    s"option ${StreamOptions.SchemaTracking.key} for $name, which has no UUID",
    s"Remove the option, or set ${StreamOptions.SchemaId.key}"
  ))

  private def directoryOf(name: String, table: TableMetadata): Path =
    new Path(new Path(location, Directory), uuidOf(name, table).toString)

  private def fileOf(directory: Path, number: Int): CheckpointFile =
    new CheckpointFile(new Path(directory, s"$number.json"), conf)

  private def parse(file: CheckpointFile, text: String): TrackedSchema =
    try TrackedSchema.parse(file.toString, text)
    catch { case e: InvalidMetadata => throw damaged(file, e.path, e.reason, Some(e)) }
}

private[iceberglite] object SchemaTracking {

  /**
   * Columns that a query has recorded.
   *
   * @param number the number of the file
   */
  final case class Recorded(number: Int, columns: TrackedSchema)

  /** The directory of the files with columns, inside the location of the option. */
  private val Directory = "schema-tracking"
  private val FileName = """(0|[1-9]\d{0,8})\.json""".r
  private val Advice = "Restore the file, or start with a new checkpoint location and a new directory for the option"

  private def damaged(file: CheckpointFile, path: String, reason: String, cause: Option[Throwable]): InvalidMetadata =
    InvalidMetadata(file.toString, path, s"$reason. $Advice", cause)
}
