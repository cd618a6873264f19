package iceberglite.spec.rest

import iceberglite.spec.expr.Expression
import iceberglite.spec.file.ContentFile
import iceberglite.spec.rest.RestResponseJson.{Credential, ErrorResponse}

/**
 * A request to plan a scan (REST OpenAPI description: `PlanTableScanRequest`).
 *
 * @param minRows the number of rows that are sufficient; absent if all rows are needed
 * @param usesSnapshotSchema whether the columns of the filter are those of the snapshot's schema, and not those of the
 *   table's current schema
 * @param statsFields the full names of the fields whose statistics the files need
 */
final case class ScanPlanRequest(
    snapshotId: Long,
    filter: Expression,
    minRows: Option[Long],
    caseSensitive: Boolean,
    usesSnapshotSchema: Boolean,
    statsFields: Vector[String]
)

/**
 * A data file that a server planned (REST OpenAPI description: `FileScanTask`).
 *
 * @param deletes the delete files that apply to the data file
 * @param residual the filter for the rows of the file, unbound; if absent, the filter of the scan applies
 */
final case class PlannedFile(dataFile: ContentFile, deletes: Vector[ContentFile], residual: Option[Expression])

/**
 * A part of a plan (REST OpenAPI description: `ScanTasks`).
 *
 * @param planTasks the tokens of further parts
 */
final case class PlannedFiles(files: Vector[PlannedFile], planTasks: Vector[String])

/** The state of a plan on the server (REST OpenAPI description: `PlanStatus`). */
sealed trait PlanState

object PlanState {

  /**
   * @param planId the id of the plan; absent if the server holds no state for the plan
   * @param credentials the credentials for the planned files; empty if the credentials of the table apply
   */
  final case class Completed(planId: Option[String], result: PlannedFiles, credentials: Vector[Credential])
      extends PlanState {
    override def toString: String = s"Completed($planId)"
  }

  /** @param planId the id of the plan; absent in the response to a request for a known plan */
  final case class Submitted(planId: Option[String]) extends PlanState

  case object Cancelled extends PlanState

  final case class Failed(error: ErrorResponse) extends PlanState
}
