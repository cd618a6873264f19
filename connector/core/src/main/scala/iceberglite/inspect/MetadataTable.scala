package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * A row of a metadata table, or a struct in a row. The value of an optional field is an `Option`; the value of a
 * required field is not wrapped. The class of the value depends on the type of the field:
 *
 *  - boolean, int, long, float, double, string: `Boolean`, `Int`, `Long`, `Float`, `Double`, `String`
 *  - decimal: `java.math.BigDecimal` of the type's scale; uuid: `java.util.UUID`
 *  - date: `Int`, days since 1970-01-01; time: `Long`, microseconds since midnight
 *  - timestamp, timestamptz: `Long`, microseconds since 1970-01-01 (UTC); with _ns: nanoseconds
 *  - fixed, binary and all types for which Spark 3.5 has no values: a read-only `java.nio.ByteBuffer`
 *  - list: `Vector`, map: `Map`, struct: `MetadataRow`; optional elements and values are also `Option`s
 */
final case class MetadataRow(values: Vector[Any])

object MetadataRow {
  def of(values: Any*): MetadataRow = MetadataRow(values.toVector)
}

/** A metadata table. To add one, implement this trait and list the implementation in [[MetadataTables.all]]. */
trait MetadataTable {

  /** The name of the metadata table in SQL, such as `snapshots`. */
  def name: String

  def schema(table: Table): Schema

  /**
   * Returns the rows, with a value for each field of the schema.
   *
   * @param snapshot the snapshot to show; ignored by metadata tables that show all snapshots; absent for a table
   *   without snapshots
   */
  def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow]

  /** Returns whether the rows depend on the snapshot, so that time travel applies. */
  def isOfSnapshot: Boolean
}

object MetadataTables {

  /** All metadata tables. */
  val all: Seq[MetadataTable] = Seq(
    SnapshotsTable,
    HistoryTable,
    RefsTable,
    MetadataLogEntriesTable,
    ManifestsTable,
    AllManifestsTable,
    PartitionsTable
  ) ++ FilesTable.all ++ EntriesTable.all

  /** Returns a metadata table by its name, ignoring case. */
  def find(name: String): Option[MetadataTable] = all.find(_.name.equalsIgnoreCase(name))
}
