package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.maintenance.compact.ManifestCompaction
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.table.SnapshotTarget

/** `CALL catalog.system.rewrite_manifests(table, ...)` */
object RewriteManifestsProcedure extends Procedure {
  private val useCaching = Parameter.optional(
    "use_caching",
    ParameterType.Flag,
    "Accepted for compatibility, without effect: manifests are rewritten without Spark's cache"
  )
  private val specId = Parameter.optional(
    "spec_id",
    ParameterType.Count,
    "Id of the partition spec whose manifests are rewritten; by default the current partition spec"
  )
  private val sortBy = Parameter.optional(
    "sort_by",
    ParameterType.Texts,
    "Partition fields by which the entries are sorted first; by default all fields, in the order of the partition spec"
  )
  private val branch =
    Parameter.optional("branch", ParameterType.Text, "Branch whose manifests are rewritten; by default main")
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return the expected numbers without changing anything; by default false"
  )

  override val name = "rewrite_manifests"
  override val description = "Rewrite manifests with their entries sorted by partition, so that scans skip most of them"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, useCaching, specId, sortBy, dryRun, branch)

  override val output: StructType = StructType(Seq(
    Procedure.column("rewritten_manifests_count", IntegerType, "Number of manifests that were replaced"),
    Procedure.column("added_manifests_count", IntegerType, "Number of manifests that were written")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val compaction = new ManifestCompaction(
      table,
      arguments.get(specId),
      arguments.get(sortBy).fold(Vector.empty[String])(_.toVector),
      EngineSummary.of(context.session),
      SnapshotTarget.ofBranch(arguments.get(branch))
    )
    val result =
      if (arguments.get(dryRun).contains(true)) compaction.dryRun()
      else {
        val (after, done) =
          ClusterJob.withDriverWork(context.session.sparkContext, s"Rewriting manifests of ${table.name}")(
            compaction.run()
          )
        context.refreshCachedPlans(name, table, after)
        done
      }
    Seq(Row(result.rewrittenManifests, result.addedManifests))
  }
}
