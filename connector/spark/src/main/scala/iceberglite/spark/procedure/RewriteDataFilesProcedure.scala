package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{ArrayType, IntegerType, LongType, StringType, StructType}

import iceberglite.maintenance.compact.{FileGroup, RewriteOptions, RewriteResult}
import iceberglite.spark.maintenance.{DataFileRewrite, FileCondition, RowOrdering}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.{DataLocations, SnapshotTarget, Table}

/** `CALL catalog.system.rewrite_data_files(table, ...)` */
object RewriteDataFilesProcedure extends Procedure {
  private val strategy = Parameter.optional(
    "strategy",
    ParameterType.Text,
    "binpack, which changes the sizes of files, or sort, which also sorts their rows; by default sort if there is a " +
      "sort_order. A table with CLUSTER BY is clustered by default: only files that are not yet clustered are " +
      "rewritten. Otherwise the default is binpack"
  )
  private val sortOrder = Parameter.optional(
    "sort_order",
    ParameterType.Text,
    "Sort order as in ORDER BY, zorder(column, ...) or hilbert(column, ...); by default the sort order of the table"
  )
  private val rewriteOptions = Parameter.optional(
    "options",
    ParameterType.Options,
    "Options that choose files and determine the new ones, such as target-file-size-bytes and rewrite-all"
  )
  private val where = Parameter.optional(
    "where",
    ParameterType.Text,
    "Condition; only files that may contain a matching row are rewritten, including their other rows"
  )
  private val branch =
    Parameter.optional("branch", ParameterType.Text, "Branch whose files are rewritten; by default main")
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return the file groups that would be rewritten, without changing anything; by default false"
  )

  override val name = "rewrite_data_files"
  override val description =
    "Rewrite data files to combine small files, split large files, remove deleted rows, or sort or cluster rows"
  override val parameters: Seq[Parameter[_]] =
    Seq(Parameter.table, strategy, sortOrder, rewriteOptions, where, branch, dryRun)

  private val groupType = StructType(Seq(
    Procedure.column(
      "partition",
      StringType,
      "Partition of the files; null for files whose partition spec is not that of the new files",
      nullable = true
    ),
    Procedure.column("files_count", IntegerType, "Number of data files"),
    Procedure.column("bytes_count", LongType, "Size of the data files in bytes"),
    Procedure.column("reason", StringType, "Why the files are rewritten")
  ))

  override val output: StructType = StructType(Seq(
    Procedure.column("rewritten_data_files_count", IntegerType, "Number of data files that were replaced"),
    Procedure.column("added_data_files_count", IntegerType, "Number of new data files"),
    Procedure.column("rewritten_bytes_count", LongType, "Size of the replaced data files in bytes"),
    Procedure.column("failed_data_files_count", IntegerType, "Number of data files whose rewrite failed"),
    Procedure.column("removed_delete_files_count", IntegerType, "Number of delete files that were removed"),
    Procedure.column("file_groups", ArrayType(groupType, containsNull = false), "File groups that were chosen")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val texts = arguments.get(rewriteOptions).getOrElse(Map.empty)
    val options = RewriteOptions.of(texts, table.metadata, RowOrdering.optionNames)
    val ordering = RowOrdering.of(
      context.session,
      table,
      arguments.get(strategy),
      arguments.get(sortOrder),
      texts
    )
    val to = SnapshotTarget.ofBranch(arguments.get(branch))
    val condition = arguments.get(where).fold(AlwaysTrue: iceberglite.spec.expr.Expression) { text =>
      FileCondition.parse(context.session, table, to, text)
    }
    val rewrite = new DataFileRewrite(context.session, table, to, condition, options, ordering)
    val result =
      if (arguments.get(dryRun).contains(true)) rewrite.dryRun()
      else {
        val (after, done) = rewrite.run()
        context.refreshCachedPlans(name, table, after)
        done
      }
    Seq(row(result, rewrite.groups, table, options))
  }

  /** Returns the row of the result. @param groups the file groups that were selected for the rewrite */
  private[iceberglite] def row(
      result: RewriteResult,
      groups: Vector[FileGroup],
      table: Table,
      options: RewriteOptions
  ): Row = Row(
    result.rewrittenFiles,
    result.addedFiles,
    result.rewrittenBytes,
    result.failedFiles,
    result.removedDeleteFiles,
    groups.map(groupRow(_, table, options))
  )

  private def groupRow(group: FileGroup, table: Table, options: RewriteOptions): Row = {
    val spec = table.metadata.specsById(options.outputSpecId)
    val partition = group.partition.map(DataLocations.partitionPath(spec, _))
    ResultRow(partition, group.tasks.size, group.bytes, group.reason)
  }
}
