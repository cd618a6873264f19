package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.maintenance.expire.{ExpireResult, SnapshotExpiry}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.maintenance.{SessionRunningReads, SessionUnreachableFiles}
import iceberglite.table.action.ExpireOptions

/** `CALL catalog.system.expire_snapshots(table, ...)` */
object ExpireSnapshotsProcedure extends Procedure {
  private val olderThan = Parameter.optional(
    "older_than",
    ParameterType.Time,
    "Time; older snapshots expire. By default, the table property " +
      "history.expire.max-snapshot-age-ms determines the time"
  )
  private val retainLast = Parameter.optional(
    "retain_last",
    ParameterType.Count,
    "Minimum number of snapshots to keep, regardless of their age, for each branch without its own minimum; by " +
      "default the value of the table property history.expire.min-snapshots-to-keep, at most max_snapshots"
  )
  private val maxSnapshots = Parameter.optional(
    "max_snapshots",
    ParameterType.Count,
    "Maximum number of snapshots to keep for each branch, regardless of their age; by default the value of the table " +
      "property iceberg-lite.max-snapshots-to-keep. A branch with its own min-snapshots-to-keep keeps " +
      "at least that number, and every other branch at least retain_last"
  )
  private val maxConcurrentDeletes = Parameter.optional(
    "max_concurrent_deletes",
    ParameterType.Count,
    "Maximum number of requests that delete files at the same time; on S3, each request deletes up to 1,000 files. " +
      "By default 16; larger numbers have the same effect"
  )
  private val streamResults = Parameter.optional(
    "stream_results",
    ParameterType.Flag,
    "Accepted for compatibility, without effect: the files to delete are always read as a stream"
  )
  private val snapshotIds = Parameter.optional(
    "snapshot_ids",
    ParameterType.Ids,
    "Ids of snapshots that expire regardless of their age; the ids of branch heads and tagged snapshots are rejected"
  )
  private val cleanMetadata = Parameter.optional(
    "clean_expired_metadata",
    ParameterType.Flag,
    "Whether schemas and partition specs that no remaining snapshot uses, and statistics of snapshots that the table " +
      "does not have, are also removed; by default false"
  )
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return what would be deleted, without changing anything; by default false"
  )

  override val name = "expire_snapshots"
  override val description = "Remove old snapshots, and delete the files that only these snapshots refer to"
  override val parameters: Seq[Parameter[_]] = Seq(
    Parameter.table,
    olderThan,
    retainLast,
    maxConcurrentDeletes,
    streamResults,
    snapshotIds,
    cleanMetadata,
    dryRun,
    maxSnapshots
  )

  override val output: StructType = StructType(Seq(
    Procedure.column("deleted_data_files_count", LongType, "Number of data files that were deleted"),
    Procedure.column(
      "deleted_position_delete_files_count",
      LongType,
      "Number of position delete files that were deleted"
    ),
    Procedure.column(
      "deleted_equality_delete_files_count",
      LongType,
      "Number of equality delete files that were deleted"
    ),
    Procedure.column("deleted_manifest_files_count", LongType, "Number of manifests that were deleted"),
    Procedure.column("deleted_manifest_lists_count", LongType, "Number of manifest lists that were deleted"),
    Procedure.column("deleted_statistics_files_count", LongType, "Number of statistics files that were deleted"),
    KeptFiles.column,
    Procedure.column(
      "warning",
      StringType,
      "Warning if running queries of this Spark application read snapshots that expire; null if none does",
      nullable = true
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val options = ExpireOptions(
      arguments.get(olderThan),
      arguments.get(retainLast),
      arguments.get(snapshotIds).fold(Set.empty[Long])(_.toSet),
      arguments.get(cleanMetadata).contains(true),
      arguments.get(maxSnapshots)
    )
    val width = Parameter.concurrentDeletes(maxConcurrentDeletes, arguments)
    val table = context.table(name).current
    val expiry = new SnapshotExpiry(
      table,
      options,
      new SessionUnreachableFiles(context.session),
      EngineSummary.of(context.session),
      maxConcurrentDeletes = width,
      reads = new SessionRunningReads(context.session)
    )
    ClusterJob.withDriverWork(context.session.sparkContext, s"Expiring snapshots of ${table.name}") {
      if (arguments.get(dryRun).contains(true)) Seq(row(expiry.dryRun()))
      else {
        val (after, result) = expiry.run()
        context.refreshCachedPlans(name, table, after)
        Seq(row(result))
      }
    }
  }

  private def row(result: ExpireResult): Row = {
    val deleted = result.deleted
    ResultRow(
      deleted.dataFiles,
      deleted.positionDeleteFiles,
      deleted.equalityDeleteFiles,
      deleted.manifests,
      deleted.manifestLists,
      deleted.statisticsFiles,
      KeptFiles.rows(result.kept),
      result.reads.warning
    )
  }
}
