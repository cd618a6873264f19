package iceberglite.inspect

import scala.annotation.nowarn

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * A row of a metadata table, or a struct in a row. The value of an optional field is an `Option`; the value of a
 * required field is not wrapped. The class of the value depends on the type of the field:
 *
 *  - boolean, int, long, float, double, string: `Boolean`, `Int`, `Long`, `Float`, `Double`, `String`
 *  - decimal: `java.math.BigDecimal` with the type's scale; uuid: `java.util.UUID`
 *  - date: `Int`, days since 1970-01-01; time: `Long`, microseconds since midnight
 *  - timestamp, timestamptz: `Long`, microseconds since 1970-01-01 (UTC)
 *  - timestamp_ns, timestamptz_ns: `Long`, nanoseconds since 1970-01-01 (UTC)
 *  - fixed, binary, variant, geometry, geography: a read-only `java.nio.ByteBuffer`
 *  - list: `Vector`, map: `Map`, struct: `MetadataRow`; optional list elements and optional map values are `Option`s
 */
final case class MetadataRow(values: Vector[Any])

object MetadataRow {
  def of(values: Any*): MetadataRow = MetadataRow(values.toVector)
}

/** A metadata table. To add one, implement this trait and list the implementation in [[MetadataTables.all]]. */
trait MetadataTable {

  /** The name of the metadata table in SQL, such as `snapshots`. */
  def name: String

  /** Returns the metadata table's columns. They may depend on the schema and the partition specs of the table. */
  def schema(table: Table): Schema

  /**
   * Returns the rows, with a value for each field of the schema.
   *
   * @param snapshot the snapshot to show; absent for a table without snapshots. Metadata tables that describe the table
   *   as a whole ignore this parameter
   */
  def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow]

  /**
   * Divides the requested rows into groups that Spark tasks can produce. The result is absent for a small metadata
   * table, whose rows the driver produces.
   */
  @nowarn("cat=unused-params") // unused by default
  def groups(table: Table, snapshot: Option[Snapshot], request: RowRequest): Option[Vector[MetadataRows]] = None

  /** Returns the requested rows, which this JVM produces. */
  final def select(table: Table, snapshot: Option[Snapshot], request: RowRequest): Iterator[MetadataRow] =
    groups(table, snapshot, request) match {
      case Some(all) => MetadataRows.combined(all).iterator.flatMap(_.rows())
      case None =>
        val selection = new RequestedRows(schema(table), request)
        rows(table, snapshot).flatMap(row => selection(row.values))
    }

  /**
   * Returns whether the rows describe one snapshot, which time travel can select. If not, they describe the table as a
   * whole.
   */
  def showsOneSnapshot: Boolean
}

/** A metadata table whose rows are always divided into groups, because it may be large. */
private[inspect] trait GroupedTable extends MetadataTable {

  /** Returns the groups of the requested rows; see [[groups]]. */
  protected def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows]

  final override def groups(
      table: Table,
      snapshot: Option[Snapshot],
      request: RowRequest
  ): Option[Vector[MetadataRows]] = Some(groupsOf(table, snapshot, request))

  final override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] =
    select(table, snapshot, RowRequest.all(schema(table)))
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
  ) ++ FilesTable.all ++ FilesTable.entries ++
    Vector(PositionDeletesTable, MetadataTreeTable, HealthTable, PropertiesTable)

  /** Returns a metadata table by its name, ignoring case. */
  def find(name: String): Option[MetadataTable] = all.find(_.name.equalsIgnoreCase(name))
}
