package iceberglite.spark.maintenance

import scala.collection.JavaConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.functions.{col, unix_millis}
import org.apache.spark.sql.types.{StringType, TimestampType}

import iceberglite.maintenance.orphan.{FileListing, FileUri, ListedFile}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * A file listing whose paths come from the rows of a view, for example from the inventory of an object store.
 *
 * @param directory the directory whose files are listed; if absent, all files are listed
 */
final private[iceberglite] class ViewListing(files: DataFrame, directory: Option[String]) extends FileListing {
  private val prefix = directory.map(path => FileUri.of(path).path.stripSuffix("/") + "/")

  override def foreach(consume: ListedFile => Unit): Unit =
    files.toLocalIterator().asScala.flatMap(ViewListing.listed(_, prefix)).foreach(consume)

  /** Returns the path and the modification time of each file, distributed over the cluster. */
  def distributed: RDD[(String, Long)] = {
    val only = prefix
    files.rdd.flatMap(row => ViewListing.listed(row, only).map(file => file.path -> file.modifiedMs))
  }
}

private[iceberglite] object ViewListing {

  /** Returns the file of a row; absent if a value is null, or if the path does not begin with the prefix. */
  private def listed(row: Row, prefix: Option[String]): Option[ListedFile] =
    if (row.anyNull || !prefix.forall(FileUri.of(row.getString(0)).path.startsWith(_))) None
    else Some(ListedFile(row.getString(0), row.getLong(1)))

  /**
   * Returns the files of a view or table with the columns `file_path` and `last_modified`.
   *
   * @throws InvalidArgument if a column is missing or has another type
   */
  def of(session: SparkSession, name: String, directory: Option[String]): ViewListing = {
    val frame = session.table(name)
    for ((column, kind) <- Seq("file_path" -> StringType, "last_modified" -> TimestampType)) {
      val found = frame.schema.fields.find(_.name.equalsIgnoreCase(column))
      if (!found.exists(_.dataType == kind)) throw InvalidArgument(
        "argument file_list_view",
        name,
        found.fold(s"It has no column $column")(f => s"Its column $column has the type ${f.dataType.simpleString}") +
          s"; the view must have the columns file_path string and last_modified timestamp"
      )
    }
    new ViewListing(frame.select(col("file_path"), unix_millis(col("last_modified"))), directory)
  }
}
