package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.spark.session.{CommitListeners, SharedTable}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table.Table
import iceberglite.table.action.FastForward

/** `CALL catalog.system.commit_together(table, others, branch, to)` */
object CommitTogetherProcedure extends Procedure {
  private val others = Parameter.required(
    "others",
    ParameterType.Texts,
    "Names of the other tables, in the same catalog"
  )
  private val branch = Parameter.required(
    "branch",
    ParameterType.Text,
    "Branch with the changes, which each of the tables must have"
  )
  private val to = Parameter.optional(
    "to",
    ParameterType.Text,
    "Branch that receives the changes, by default `main`; its head must be an ancestor of `branch`"
  )

  override val name = "commit_together"
  override val description =
    "Publish a branch of several tables of a REST catalog in one commit: all tables change, or none"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, others, branch, to)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("table", StringType, "Name of the table"),
    Procedure.column(
      "previous_snapshot_id",
      LongType,
      "Snapshot of the branch `to`, which receives the changes, before the call",
      nullable = true
    ),
    Procedure.column("current_snapshot_id", LongType, "Snapshot of this branch after the call")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val names = arguments(Parameter.table) +: arguments(others)
    val target = arguments.get(to).getOrElse(SnapshotRef.Main)
    val shared = context.table(names.head) +: arguments(others).map(context.tableIn(others, _))
    val before = shared.map(_.current)
    requireDistinct(before)
    val changes =
      before.map(_.changeBy(new FastForward(target, arguments(branch)))).filter(_.change.updates.nonEmpty).toVector
    if (changes.nonEmpty) {
      try context.catalog.commitAll(changes)
      finally shared.foreach(announce)
    }
    val after = shared.map(_.current)
    names.indices.foreach(i => context.refreshCachedPlans(names(i), before(i), after(i)))
    before.zip(after).map { case (old, now) => ResultRow(now.name, head(old, target), head(now, target)) }
  }

  /** Rejects a table that is named twice, possibly with names that differ in case. */
  private def requireDistinct(tables: Seq[Table]): Unit =
    tables.groupBy(t => t.metadata.uuid.fold(t.id.toString)(_.toString)).values.find(_.size > 1).foreach { same =>
      throw InvalidArgument(
        s"argument ${others.name}",
        same.last.id.toString,
        "The table is named twice; name each table once"
      )
    }

  /** Makes the next access to the table, under any of its names, load the table again, because it may have changed. */
  private def announce(table: SharedTable): Unit = {
    table.markStale()
    CommitListeners.announce(table.lastKnown, Some(table))
  }

  private def head(table: Table, branch: String): Option[Long] = table.metadata.refs.get(branch).map(_.snapshotId)
}
