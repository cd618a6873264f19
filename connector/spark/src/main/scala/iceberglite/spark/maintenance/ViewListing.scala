package iceberglite.spark.maintenance

import scala.collection.JavaConverters._

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, unix_millis}
import org.apache.spark.sql.types.{StringType, TimestampType}

import iceberglite.maintenance.orphan.{FileListing, FileUri, ListedFile}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The files that the rows of a view name, for example the inventory of an object store.
 *
 * @param directory only the files below this directory are listed; absent for all files
 */
final private[iceberglite] class ViewListing(files: DataFrame, directory: Option[String]) extends FileListing {
  private val prefix = directory.map(path => FileUri.of(path).path.stripSuffix("/") + "/")

  override def foreach(consume: ListedFile => Unit): Unit =
    files.toLocalIterator().asScala.filterNot(_.anyNull).foreach { row =>
      val path = row.getString(0)
      if (prefix.forall(FileUri.of(path).path.startsWith(_))) consume(ListedFile(path, row.getLong(1)))
    }
}

private[iceberglite] object ViewListing {

  /**
   * Returns the files of a view or table with the columns `file_path` and `last_modified`.
   *
   * @throws InvalidArgument a column is missing or has another type
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
