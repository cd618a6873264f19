package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{DoubleType, LongType, StringType, StructType}

import iceberglite.maintenance.health.{MaintenanceOptions, StepReport, TableMaintenance}
import iceberglite.spark.maintenance.SessionSteps

/** `CALL catalog.system.maintain(table, options, dry_run)` */
object MaintainProcedure extends Procedure {
  private val maintainOptions = Parameter.optional(
    "options",
    ParameterType.Options,
    s"Limits of the call, and options for rewriting data files: ${MaintenanceOptions.names.mkString(", ")}"
  )
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return the steps that would be run, without changing anything; by default false"
  )

  override val name = "maintain"
  override val description =
    "Run the maintenance actions that the metadata table `health` shows as due, highest gain per byte first"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, maintainOptions, dryRun)

  override val output: StructType = StructType(Seq(
    Procedure.column("action", StringType, "Action of the step; the rows are in the order in which the steps run"),
    Procedure.column("status", StringType, "done, planned (for a dry run), skipped or failed"),
    Procedure.column("reason", StringType, "Why the step is or is not due"),
    Procedure.column(
      "files_before",
      LongType,
      "Number of files that the step replaces or deletes; snapshots for expire_snapshots",
      nullable = true
    ),
    Procedure.column(
      "files_after",
      LongType,
      "Number of files that replace the files in files_before; remaining snapshots for expire_snapshots",
      nullable = true
    ),
    Procedure.column("bytes_rewritten", LongType, "Size of the replaced files in bytes"),
    Procedure.column("seconds", DoubleType, "Duration of the step in seconds"),
    Procedure.column("message", StringType, "Further numbers, or why the step failed or was skipped", nullable = true),
    Procedure.column(
      "gain_per_byte",
      DoubleType,
      "Bytes that later scans save for each rewritten byte; each saved file counts as read.split.open-file-cost"
    )
  ))

  override val manyRows = true

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val options = MaintenanceOptions.of(arguments.get(maintainOptions).getOrElse(Map.empty), table.metadata)
    val maintenance = new TableMaintenance(table, options, new SessionSteps(context.session))
    if (arguments.get(dryRun).contains(true)) maintenance.plan().map(row)
    else {
      val reports = maintenance.run()
      context.refreshCachedPlans(name, table, context.table(name).current)
      reports.map(row)
    }
  }

  private def row(report: StepReport): Row = ResultRow(
    report.step.action.name,
    report.status.name,
    report.step.reason,
    report.filesBefore,
    report.filesAfter,
    report.bytesRewritten,
    report.seconds,
    report.message,
    report.step.gainPerByte
  )
}
