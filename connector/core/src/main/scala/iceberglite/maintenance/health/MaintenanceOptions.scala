package iceberglite.maintenance.health

import iceberglite.maintenance.OptionValues
import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spec.metadata.TableMetadata

/**
 * Options of the maintenance of a table.
 *
 * @param maxBytes the maximum number of bytes to rewrite; absent for no limit
 * @param maxSeconds the time limit in seconds. After this time, no further step begins, and a running rewrite begins no
 *   further batch of file groups; absent for no limit
 * @param removesOrphans whether orphan files are searched for and removed
 * @param rewriteOptions the options of the rewrite of data files
 */
final case class MaintenanceOptions(
    maxBytes: Option[Long],
    maxSeconds: Option[Long],
    removesOrphans: Boolean,
    rewriteOptions: Map[String, String]
) {

  /** Returns the options of the rewrite of data files for a version of the table. */
  def rewrite(metadata: TableMetadata): RewriteOptions = RewriteOptions.of(rewriteOptions, metadata)
}

object MaintenanceOptions {
  private val MaxBytes = "max-bytes"
  private val MaxSeconds = "max-seconds"
  private val RemoveOrphans = "remove-orphan-files"

  /** The names of the options of `rewrite_data_files` that the maintenance also accepts. */
  private val ofRewrite = Seq(
    "target-file-size-bytes",
    "min-file-size-bytes",
    "max-file-size-bytes",
    "min-input-files",
    "delete-ratio-threshold"
  )

  /** The names of all options. */
  val names: Seq[String] = Seq(MaxBytes, MaxSeconds, RemoveOrphans) ++ ofRewrite

  /**
   * Parses options.
   *
   * @throws InvalidArgument if an option is unknown or has an invalid value
   */
  def of(options: Map[String, String], metadata: TableMetadata): MaintenanceOptions = {
    val values = new OptionValues(options, names)
    val parsed = MaintenanceOptions(
      values.optional(MaxBytes)(values.long(_, 1, 1, Long.MaxValue)),
      values.optional(MaxSeconds)(values.long(_, 1, 1, Long.MaxValue)),
      values.flag(RemoveOrphans, default = false),
      options.filter { case (key, _) => ofRewrite.contains(key) }
    )
    parsed.rewrite(metadata)
    parsed
  }
}
