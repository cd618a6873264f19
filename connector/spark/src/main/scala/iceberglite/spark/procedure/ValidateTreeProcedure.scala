package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.inspect.TreeValidation
import iceberglite.spark.cluster.ClusterJob

/** `CALL catalog.system.validate_tree(table, ...)` */
object ValidateTreeProcedure extends Procedure {
  private val snapshot =
    Parameter.optional("snapshot_id", ParameterType.Id, "Snapshot to check; by default the current one")

  override val name = "validate_tree"
  override val description = "Check the metadata tree of a snapshot of format version 4 against the rules of such trees"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("snapshot_id", LongType, "Id of the snapshot"),
    Procedure.column("rule", StringType, "Number of a violated rule, such as I4; there are no rows for a valid tree"),
    Procedure.column("finding", StringType, "How the tree violates the rule")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current
    val chosen = arguments.get(snapshot).map(table.metadata.snapshot).orElse(table.metadata.currentSnapshot)
    ClusterJob.withDriverWork(context.session.sparkContext, s"Checking the metadata tree of ${table.name}") {
      chosen.toSeq.flatMap(s => TreeValidation.of(table, s).map(v => Row(s.snapshotId, v.rule, v.reason)))
    }
  }
}
