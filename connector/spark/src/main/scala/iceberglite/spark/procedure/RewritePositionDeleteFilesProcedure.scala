package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, LongType, StructType}

import iceberglite.maintenance.compact.GroupOptions
import iceberglite.spark.maintenance.{FileCondition, PositionDeleteRewrite}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.SnapshotTarget

/** `CALL catalog.system.rewrite_position_delete_files(table, ...)` */
object RewritePositionDeleteFilesProcedure extends Procedure {
  private val rewriteOptions = Parameter.optional(
    "options",
    ParameterType.Options,
    "Options that choose files and determine the new ones, such as target-file-size-bytes and rewrite-all"
  )
  private val where = Parameter.optional(
    "where",
    ParameterType.Text,
    "Condition; only delete files of partitions that may contain a matching row are rewritten"
  )
  private val branch =
    Parameter.optional("branch", ParameterType.Text, "Branch whose delete files are rewritten; by default main")
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return the files that would be replaced, with estimates of the new files, without changing anything; " +
      "by default false"
  )

  override val name = "rewrite_position_delete_files"
  override val description =
    "Combine position delete files, or in version 3 convert them to deletion vectors, and drop dangling deletes"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, rewriteOptions, where, branch, dryRun)

  override val output: StructType = StructType(Seq(
    Procedure.column("rewritten_delete_files_count", IntegerType, "Number of position delete files that were replaced"),
    Procedure.column(
      "added_delete_files_count",
      IntegerType,
      "Number of new position delete files or deletion vectors"
    ),
    Procedure.column("rewritten_bytes_count", LongType, "Size of the replaced files in bytes"),
    Procedure.column("added_bytes_count", LongType, "Size of the new files or deletion vectors in bytes")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val options = GroupOptions.ofPositionDeletes(arguments.get(rewriteOptions).getOrElse(Map.empty), table.metadata)
    val to = arguments.get(branch).fold[SnapshotTarget](SnapshotTarget.Main)(SnapshotTarget.Branch(_))
    val condition = arguments.get(where).fold(AlwaysTrue: iceberglite.spec.expr.Expression) { text =>
      FileCondition.parse(context.session, table, to, text)
    }
    val rewrite = new PositionDeleteRewrite(context.session, table, to, condition, options)
    val result =
      if (arguments.get(dryRun).contains(true)) rewrite.dryRun()
      else {
        val (after, done) = rewrite.run()
        context.refreshCachedPlans(name, table, after)
        done
      }
    Seq(Row(result.rewrittenFiles, result.addedFiles, result.rewrittenBytes, result.addedBytes))
  }
}
