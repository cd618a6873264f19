package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.maintenance.expire.{ExpireResult, SnapshotExpiry}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.maintenance.SessionUnreachableFiles
import iceberglite.table.action.ExpireOptions

/** `CALL catalog.system.expire_snapshots(table, ...)` */
object ExpireSnapshots extends Procedure {
  private val olderThan = Parameter.optional(
    "older_than",
    ParameterType.Time,
    "Time before which snapshots expire; by default, the table property history.expire.max-snapshot-age-ms " +
      "determines it"
  )
  private val retainLast = Parameter.optional(
    "retain_last",
    ParameterType.Count,
    "Minimum number of snapshots to keep for each branch, regardless of their age; by default the value of the table " +
      "property history.expire.min-snapshots-to-keep"
  )
  private val maxConcurrentDeletes = Parameter.optional(
    "max_concurrent_deletes",
    ParameterType.Count,
    "Accepted for compatibility, without effect: the number of parallel deletions is fixed"
  )
  private val streamResults = Parameter.optional(
    "stream_results",
    ParameterType.Flag,
    "Accepted for compatibility, without effect: the files are always deleted while the search continues"
  )
  private val snapshotIds = Parameter.optional(
    "snapshot_ids",
    ParameterType.Ids,
    "Ids of snapshots that expire regardless of their age; the head of a branch and a tagged snapshot are rejected"
  )
  private val cleanMetadata = Parameter.optional(
    "clean_expired_metadata",
    ParameterType.Flag,
    "Whether schemas and partition specs that no remaining snapshot uses are also removed; by default false"
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
    dryRun
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
    KeptFiles.column
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val options = ExpireOptions(
      arguments.get(olderThan),
      arguments.get(retainLast),
      arguments.get(snapshotIds).fold(Set.empty[Long])(_.toSet),
      arguments.get(cleanMetadata).contains(true)
    )
    arguments.get(maxConcurrentDeletes).foreach(Parameter.requirePositive(maxConcurrentDeletes, _))
    val table = context.table(name).current
    val files = new SessionUnreachableFiles(context.session)
    val expiry = new SnapshotExpiry(table, options, files, EngineSummary.of(context.session))
    ClusterJob.withDescription(context.session.sparkContext, s"Expiring snapshots of ${table.name}") {
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
    Row(
      deleted.dataFiles,
      deleted.positionDeleteFiles,
      deleted.equalityDeleteFiles,
      deleted.manifests,
      deleted.manifestLists,
      deleted.statisticsFiles,
      KeptFiles.rows(result.kept)
    )
  }
}
