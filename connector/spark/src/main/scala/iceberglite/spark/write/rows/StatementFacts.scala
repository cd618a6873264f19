package iceberglite.spark.write.rows

import scala.util.Try

import org.apache.spark.sql.connector.write.RowLevelOperation.Command

import iceberglite.spark.read.rows.CarriedRows
import iceberglite.spec.{FormatVersion, RowLevelMode, Snapshot, TableProperty}
import iceberglite.table.Table

/**
 * What only Spark's plan of a statement shows.
 *
 * @param isRowByRow whether what becomes of a row depends on that row alone
 * @param namedMetadata the metadata columns that the statement's conditions and values name
 * @param isMerge whether the statement is a MERGE; Spark makes appends of some
 * @param broadcastsSource whether a hint says that the source of a MERGE is small; Spark forgets it
 * @param seeksByMetadata whether the condition of a MERGE by copy-on-write names metadata columns
 * @param changesPartitions whether an UPDATE or MERGE may put rows into other partitions
 * @param inserts whether a MERGE may add rows
 * @param marksDeletes whether rows that copy-on-write deletes come to the write, so that it can count them
 */
final private[spark] case class StatementFacts(
    isRowByRow: Boolean = false,
    namedMetadata: Seq[String] = Nil,
    marksDeletes: Boolean = false,
    isMerge: Boolean = false,
    broadcastsSource: Boolean = false,
    seeksByMetadata: Boolean = false,
    changesPartitions: Boolean = true,
    inserts: Boolean = true
)

private[spark] object StatementFacts {

  /**
   * The metadata columns that copy-on-write carries along, which Spark alone would lose: the ids of rows of version 3, and
   * one that tells what became of a row. What a DELETE has left of its files is known without.
   */
  def carriedBy(table: Table, command: Command): Seq[String] =
    if (copiesOnWrite(table, command)) lineageOf(table) :+ CarriedRows.Change.name else Nil

  /** Whether a statement writes files anew. */
  def copiesOnWrite(table: Table, command: Command): Boolean =
    TableProperty.of(RowLevelStatement.propertiesOf(command).Mode, table.properties) == RowLevelMode.CopyOnWrite

  /** What a row that is copied keeps. */
  def lineageOf(table: Table): Seq[String] =
    if (table.metadata.formatVersion >= FormatVersion.V3) CarriedRows.Lineage.map(_.name) else Nil

  /** Whether there may be deletes other than deletion vectors, of which metadata does not tell how many rows are left. */
  def hasUncountedDeletes(snapshot: Option[Snapshot]): Boolean = snapshot.exists { s =>
    def total(of: String): Option[Long] = s.summary.get(s"total-$of-deletes").flatMap(n => Try(n.toLong).toOption)
    total("equality").forall(_ > 0) || total("position").forall(_ > 0)
  }
}
