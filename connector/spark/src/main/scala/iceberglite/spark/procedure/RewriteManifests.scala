package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.table.{Table, action}

/** `CALL catalog.system.rewrite_manifests(table, ...)` */
object RewriteManifests extends Procedure {
  private val useCaching = Parameter.optional(
    "use_caching",
    ParameterType.Flag,
    "Accepted for compatibility, without effect: manifests are rewritten without Spark's cache"
  )
  private val specId = Parameter.optional(
    "spec_id",
    ParameterType.Count,
    "Id of the partition spec whose manifests are rewritten; by default the current spec"
  )
  private val sortBy = Parameter.optional(
    "sort_by",
    ParameterType.Texts,
    "Partition fields by which the entries are sorted first; by default all fields in the order of the spec"
  )

  override val name = "rewrite_manifests"
  override val description = "Rewrite manifests with their entries sorted by partition, so that scans skip most of them"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, useCaching, specId, sortBy)

  override val output: StructType = StructType(Seq(
    Procedure.column("rewritten_manifests_count", IntegerType, "Number of manifests that were replaced"),
    Procedure.column("added_manifests_count", IntegerType, "Number of manifests that were written")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val rewrite =
      new action.RewriteManifests(arguments.get(specId), arguments.get(sortBy).fold(Vector.empty[String])(_.toVector))
    val (before, after) = context.change(arguments(Parameter.table))(_ => rewrite)
    val isCommitted = after.metadata.currentSnapshotId != before.metadata.currentSnapshotId
    def count(key: String) = if (isCommitted) summaryCount(after, key) else 0
    Seq(Row(count("manifests-replaced"), count("manifests-created")))
  }

  private def summaryCount(table: Table, key: String): Int =
    table.currentSnapshot.flatMap(_.summary.get(key)).fold(0)(_.toInt)
}
