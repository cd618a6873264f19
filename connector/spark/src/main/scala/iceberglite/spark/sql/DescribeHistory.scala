package iceberglite.spark.sql

import java.time.Instant

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types.{ArrayType, BooleanType, LongType, MapType, StringType, StructType, TimestampType}

import iceberglite.inspect.{HistoryEntry, SnapshotHistory}
import iceberglite.spark.procedure.{Procedure, ProcedureContext, ResultRow}
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.SnapshotTarget

/**
 * `DESCRIBE HISTORY t [LIMIT n]`: returns the snapshots of a table, newest first, including those that are not on the
 * main branch.
 *
 * @param limit maximum number of rows; if absent, all snapshots are returned
 */
final case class DescribeHistory(child: LogicalPlan, limit: Option[Int])
    extends ExistingTableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] = ExistingTableCommand.attributes(DescribeHistory.columns)

  override protected def table: LogicalPlan = child
  override protected def statement: String = DescribeHistory.name

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] =
    SnapshotHistory.of(context.table(name).current.metadata, limit).map(DescribeHistory.row)

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeHistory = copy(child = newChild)
}

object DescribeHistory extends TableStatement {
  private val names = ArrayType(StringType, containsNull = false)
  private val entries = MapType(StringType, StringType, valueContainsNull = false)

  private val columns: StructType = StructType(Seq(
    Procedure.column("snapshot_id", LongType, "Id of the snapshot, for VERSION AS OF"),
    Procedure.column("committed_at", TimestampType, "Time of the commit"),
    Procedure.column("operation", StringType, "append, overwrite, delete or replace", nullable = true),
    Procedure.column(
      "parent_id",
      LongType,
      "Id of the parent snapshot; null for the first snapshot",
      nullable = true
    ),
    Procedure.column("is_current_ancestor", BooleanType, "Whether the snapshot is current, or an ancestor of it"),
    Procedure.column("branches", names, "Branches whose newest snapshot is this snapshot"),
    Procedure.column("tags", names, "Tags of the snapshot"),
    Procedure.column("engine", StringType, "Engine that committed, with its version", nullable = true),
    Procedure.column("summary", entries, "Metrics of the commit, and other entries of the snapshot's summary")
  ))

  override val name = "DESCRIBE HISTORY"

  override def begin(reader: SqlReader): Boolean = reader.skip("DESCRIBE", "HISTORY") || reader.skip("DESC", "HISTORY")

  override def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan =
    DescribeHistory(table, if (reader.skip("LIMIT")) Some(reader.number("a number of rows")) else None)

  private def row(entry: HistoryEntry): Row = {
    val snapshot = entry.snapshot
    ResultRow(
      snapshot.snapshotId,
      Instant.ofEpochMilli(snapshot.timestampMs),
      snapshot.operation,
      snapshot.parentSnapshotId,
      entry.isCurrentAncestor,
      entry.branches,
      entry.tags,
      entry.engine,
      snapshot.summary - Snapshot.OperationKey
    )
  }
}
