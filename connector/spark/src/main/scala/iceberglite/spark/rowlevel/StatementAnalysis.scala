package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.RowLevelOperation.Command

import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.{RowLevelMode, TableProperty}
import iceberglite.table.Table

/**
 * Properties of a statement that only Spark's plan of the statement contains.
 *
 * @param isRowByRow whether the change of a row depends on that row only
 * @param namedMetadata the metadata columns in the statement's conditions and values
 * @param isMerge whether the statement is a MERGE; Spark converts a MERGE that only inserts rows to an append
 * @param broadcastsSource whether a BROADCAST hint states that the source of a MERGE is small; Spark drops the hint
 * @param findsFilesByMetadata whether the condition of a copy-on-write MERGE names metadata columns
 * @param changesPartitions whether an UPDATE or MERGE may move rows to other partitions
 * @param inserts whether a MERGE may add rows
 * @param marksDeletes whether rows that copy-on-write deletes are passed to the write, so that it can count them
 */
final private[iceberglite] case class StatementAnalysis(
    isRowByRow: Boolean = false,
    namedMetadata: Seq[String] = Nil,
    marksDeletes: Boolean = false,
    isMerge: Boolean = false,
    broadcastsSource: Boolean = false,
    findsFilesByMetadata: Boolean = false,
    changesPartitions: Boolean = true,
    inserts: Boolean = true
)

private[iceberglite] object StatementAnalysis {

  /**
   * Returns the metadata columns that copy-on-write passes from the read to the write, which Spark alone would drop.
   * These are the lineage columns in version 3, and a column with the change of each row.
   */
  def carryOverColumns(table: Table, command: Command): Seq[String] =
    if (copiesOnWrite(table, command)) lineageOf(table) :+ CarryOverColumns.Change.name else Nil

  /** Whether a command rewrites whole files, which is the mode copy-on-write. */
  def copiesOnWrite(table: Table, command: Command): Boolean =
    TableProperty.of(RowLevelStatement.propertiesOf(command).Mode, table.properties) == RowLevelMode.CopyOnWrite

  /** Returns the metadata columns that a copied row keeps. */
  def lineageOf(table: Table): Seq[String] =
    if (table.metadata.formatVersion >= FormatVersion.V3) CarryOverColumns.Lineage.map(_.name) else Nil

  /**
   * Whether there may be deletes other than deletion vectors. The metadata of position and equality delete files does
   * not state how many rows remain.
   */
  def hasUncountedDeletes(snapshot: Option[Snapshot]): Boolean = snapshot.exists { s =>
    def total(kind: String): Option[Long] = s.count(s"total-$kind-deletes")
    total("equality").forall(_ > 0) || total("position").forall(_ > 0)
  }
}
