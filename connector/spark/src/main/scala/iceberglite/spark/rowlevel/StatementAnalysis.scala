package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.RowLevelOperation.Command

import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.{RowLevelMode, TableProperty}
import iceberglite.table.Table

/**
 * Properties of a statement that are determined from Spark's plan of the statement.
 *
 * @param isRowByRow whether the change of a row depends on that row only
 * @param namedMetadata the metadata columns in the statement's conditions and values
 * @param isMerge whether the statement is a MERGE; Spark converts a MERGE that only inserts rows to an append
 * @param broadcastsSource whether the source of a MERGE has a BROADCAST hint; Spark removes the hint from its plan
 * @param findsFilesByMetadata whether the rule `AddGroupFilterByMetadata` finds the files to rewrite, because the
 *   condition of a copy-on-write MERGE names metadata columns
 * @param changesPartitions whether an UPDATE or MERGE may move rows to other partitions
 * @param inserts whether a MERGE may add rows
 * @param marksDeletes whether copy-on-write passes deleted rows to the write, so that the write can count them
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
   * Returns the metadata columns that copy-on-write passes from the read to the write. Without the connector's rules,
   * Spark would drop these columns. The columns are the row lineage columns in version 3, and a column with a code for
   * the change of each row.
   */
  def carryOverColumns(table: Table, command: Command): Seq[String] =
    if (copiesOnWrite(table, command)) lineageOf(table) :+ CarryOverColumns.Change.name else Nil

  /** Whether the mode of a command is copy-on-write, which rewrites whole files. */
  def copiesOnWrite(table: Table, command: Command): Boolean =
    TableProperty.of(RowLevelStatement.propertiesOf(command).Mode, table.properties) == RowLevelMode.CopyOnWrite

  /** Returns the metadata columns that a copied row keeps. */
  def lineageOf(table: Table): Seq[String] =
    if (table.metadata.formatVersion >= FormatVersion.V3) CarryOverColumns.Lineage.map(_.name) else Nil

  /**
   * Whether a snapshot may have deletes. The number of rows that remain may be unknown in this case, because the
   * metadata of position and equality delete files does not determine how many rows they delete. Deletion vectors also
   * count, because the snapshot summary does not distinguish them from position delete files.
   */
  def hasUncountedDeletes(snapshot: Option[Snapshot]): Boolean = snapshot.exists { s =>
    def total(kind: String): Option[Long] = s.count(s"total-$kind-deletes")
    total("equality").forall(_ > 0) || total("position").forall(_ > 0)
  }
}
