package iceberglite.inspect

import iceberglite.spec.{Schema, Snapshot}
import iceberglite.table.Table

/**
 * A row of a metadata table, or a struct in one. The value of an optional field is an `Option`, that of a required one
 * stands bare. By type of the field the value is:
 *
 *  - boolean, int, long, float, double, string: `Boolean`, `Int`, `Long`, `Float`, `Double`, `String`
 *  - decimal: `java.math.BigDecimal` of the type's scale; uuid: `java.util.UUID`
 *  - date: `Int`, days since 1970-01-01; time: `Long`, microseconds since midnight
 *  - timestamp, timestamptz: `Long`, microseconds since 1970-01-01 (UTC); with _ns: nanoseconds
 *  - fixed, binary and all types that Spark 3.5 has no values for: `java.nio.ByteBuffer`, not to be written to
 *  - list: `Vector`, map: `Map`, struct: `MetadataRow`; of elements and values, too, the optional ones are `Option`s
 */
final case class MetadataRow(values: Vector[Any])

object MetadataRow {
  def of(values: Any*): MetadataRow = MetadataRow(values.toVector)
}

/** What a table says of itself, as a table. Open by design: one is a file and a line in [[MetadataTables]]. */
trait MetadataTable {

  /** As users write it after the table's name: `snapshots`. */
  def name: String

  def schema(table: Table): Schema

  /**
   * The rows, with a value for each field of the schema.
   *
   * @param snapshot whose files it is about; of no concern to tables about the history
   */
  def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow]

  /** Whether the rows depend on the snapshot, so that time travel makes sense. */
  def isOfSnapshot: Boolean
}

object MetadataTables {

  /** All metadata tables there are. */
  val all: Seq[MetadataTable] = Seq(
    SnapshotsTable,
    HistoryTable,
    RefsTable,
    MetadataLogEntriesTable,
    ManifestsTable,
    AllManifestsTable,
    PartitionsTable
  ) ++ FilesTable.all ++ EntriesTable.all

  /** By name, without regard to case. */
  def find(name: String): Option[MetadataTable] = all.find(_.name.equalsIgnoreCase(name))
}
