package iceberglite.maintenance.health

/**
 * An action that maintains a table.
 *
 * @param name the name in results, and the name of the procedure that runs only this action, if there is one
 */
sealed abstract class MaintenanceAction(val name: String) extends Serializable

object MaintenanceAction {

  /**
   * Combines small files by bin-packing or, if the table has clustering columns, rewrites files along a Hilbert curve.
   * Also removes deleted rows from files that have many of them.
   */
  case object RewriteDataFiles extends MaintenanceAction("rewrite_data_files")

  /** Converts equality deletes to position deletes. */
  case object ConvertEqualityDeletes extends MaintenanceAction("convert_equality_deletes")

  /** Removes delete files that apply to no data file. */
  case object RemoveDanglingDeletes extends MaintenanceAction("remove_dangling_deletes")

  /** Combines small position delete files; in format version 3 and later, converts them to deletion vectors. */
  case object RewritePositionDeleteFiles extends MaintenanceAction("rewrite_position_delete_files")
  case object RewriteManifests extends MaintenanceAction("rewrite_manifests")

  /**
   * Expires snapshots according to the retention properties of the table, and deletes the files that only these
   * snapshots need.
   */
  case object ExpireSnapshots extends MaintenanceAction("expire_snapshots")
  case object ComputePartitionStats extends MaintenanceAction("compute_partition_stats")

  /** Computes the numbers of distinct values of columns for the current snapshot. */
  case object ComputeTableStats extends MaintenanceAction("compute_table_stats")
  case object RemoveOrphanFiles extends MaintenanceAction("remove_orphan_files")

  /** All actions. Actions with the same gain are run in this order. */
  val all: Vector[MaintenanceAction] = Vector(
    RemoveDanglingDeletes,
    ConvertEqualityDeletes,
    RewriteDataFiles,
    RewritePositionDeleteFiles,
    RewriteManifests,
    ExpireSnapshots,
    ComputePartitionStats,
    ComputeTableStats,
    RemoveOrphanFiles
  )
}

/**
 * What an action would do to a table.
 *
 * @param isDue whether the action is worthwhile
 * @param reason a sentence that states why the action is or is not worthwhile, with the counts or sizes that decide
 * @param filesBefore the number of files that the action would replace or delete, or the number of snapshots for an
 *   expiration; absent if it is unknown
 * @param filesAfter the expected number of new files, or the number of remaining snapshots for an expiration
 * @param bytesToRewrite the number of bytes that the action would rewrite
 * @param gainPerByte the benefit divided by `bytesToRewrite`. The benefit is the number of saved bytes, plus
 *   `read.split.open-file-cost` for each file by which the number of files decreases
 * @param measures the numbers of the table that the decision is based on, by name
 */
final case class MaintenanceStep(
    action: MaintenanceAction,
    isDue: Boolean,
    reason: String,
    filesBefore: Option[Long],
    filesAfter: Option[Long],
    bytesToRewrite: Long,
    gainPerByte: Double,
    measures: Map[String, Long]
)

/** The outcome of a step. */
sealed abstract class StepStatus(val name: String) extends Serializable

object StepStatus {
  case object Planned extends StepStatus("planned")
  case object Done extends StepStatus("done")

  /** The step is not due, or the budget of bytes or time does not suffice. */
  case object Skipped extends StepStatus("skipped")

  /**
   * The step failed. Its commits before the error remain. The report contains the file and byte counts of these
   * commits, if they are known.
   */
  case object Failed extends StepStatus("failed")
}

/**
 * The result of a step, or the expected result of a step that was only planned.
 *
 * @param filesBefore the number of files that were replaced or deleted, as for [[MaintenanceStep]]
 * @param filesAfter the number of new files
 * @param bytesRewritten the size of the replaced files in bytes
 * @param seconds the duration; 0 if the step did not run
 * @param message further numbers, or why the step was skipped or failed
 */
final case class StepReport(
    step: MaintenanceStep,
    status: StepStatus,
    filesBefore: Option[Long],
    filesAfter: Option[Long],
    bytesRewritten: Long,
    seconds: Double,
    message: Option[String]
)
