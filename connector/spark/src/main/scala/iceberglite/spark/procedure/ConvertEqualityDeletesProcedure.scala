package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.maintenance.LiveEqualityDeletes
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.write.upsert.DeleteConversionJob
import iceberglite.table.SnapshotTarget

/** `CALL catalog.system.convert_equality_deletes(table, branch)` */
object ConvertEqualityDeletesProcedure extends Procedure {
  private val branch =
    Parameter.optional("branch", ParameterType.Text, "Branch whose equality deletes are converted; by default main")

  override val name = "convert_equality_deletes"
  override val description =
    "Convert equality deletes to deletion vectors, or before version 3 to position delete files"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, branch)

  override val output: StructType = StructType(Seq(
    Procedure.column("converted_delete_files_count", LongType, "Number of equality delete files that were removed"),
    Procedure.column(
      "added_delete_files_count",
      LongType,
      "Number of deletion vectors or position delete files that replace the equality delete files"
    ),
    Procedure.column("deleted_rows_count", LongType, "Number of rows that the added files delete")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val target = SnapshotTarget.ofBranch(arguments.get(branch))
    val counts = LiveEqualityDeletes.of(table, target).map { deletes =>
      val (after, row) = new DeleteConversionJob(context.session, table).run(deletes) { deleteFiles =>
        // The table is not loaded again: a failure to load it would look like a commit with an unknown outcome.
        val after = table.transaction(EngineSummary.of(context.session)).add(deletes.action(deleteFiles)).commit()
        val deletedRows = deleteFiles.iterator.map(_.recordCount).sum
        (after, Row(deletes.files.size.toLong, deleteFiles.size.toLong, deletedRows))
      }
      // Refresh only after the commit: if the refresh fails, the conversion has still succeeded.
      context.refreshCachedPlans(name, table, after)
      row
    }
    Seq(counts.getOrElse(Row(0L, 0L, 0L)))
  }
}
