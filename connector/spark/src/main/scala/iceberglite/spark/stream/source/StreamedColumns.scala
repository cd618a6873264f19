package iceberglite.spark.stream.source

import iceberglite.scan.stream.StreamColumns
import iceberglite.spark.conf.{StreamOptions, TimeTravel}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema

/** Selects the columns that a batch or streaming read of a table returns. */
sealed private[iceberglite] trait StreamedColumns extends Product with Serializable {

  /**
   * Returns the columns to read.
   *
   * @param travel the branch, tag or snapshot that the table's name selects, as in `t.branch_b`, or the current state
   */
  def read(travel: TimeTravel, table: TableMetadata): Schema

  /**
   * Returns the columns that a new stream would read. A running stream compares them with the columns that it reads, to
   * notice changes of the schema.
   *
   * @param travel as for [[read]]
   * @param table the newest version of the table
   */
  def current(travel: TimeTravel, table: TableMetadata): Schema
}

private[iceberglite] object StreamedColumns {

  /** The columns of the branch, tag or snapshot that the table's name selects, or of the current state. */
  case object Current extends StreamedColumns {
    override def read(travel: TimeTravel, table: TableMetadata): Schema = travel.schema(table)
    override def current(travel: TimeTravel, table: TableMetadata): Schema = travel.schema(table)
  }

  /** The columns of one schema of the table. A streaming query keeps this schema when columns are added or dropped. */
  final case class OfSchema(schemaId: Int) extends StreamedColumns {
    override def read(travel: TimeTravel, table: TableMetadata): Schema =
      table.schemas.find(_.schemaId == schemaId).getOrElse(throw InvalidArgument(
        s"option ${StreamOptions.SchemaId.key}",
        schemaId.toString,
        s"The table has the schemas ${table.schemas.map(_.schemaId).mkString(", ")}"
      ))

    override def current(travel: TimeTravel, table: TableMetadata): Schema =
      StreamColumns.ofFixed(read(travel, table), travel.schema(table))
  }

  /**
   * The columns that a query with the option `schema-tracking` has recorded, whatever columns the table has now.
   *
   * @param recorded absent if no query has started yet; then the current columns are read
   */
  final case class Tracked(recorded: Option[Schema]) extends StreamedColumns {
    override def read(travel: TimeTravel, table: TableMetadata): Schema = recorded.getOrElse(travel.schema(table))

    /** The columns of the table: only a query that has recorded no columns compares them with those that it reads. */
    override def current(travel: TimeTravel, table: TableMetadata): Schema = travel.schema(table)
  }
}
