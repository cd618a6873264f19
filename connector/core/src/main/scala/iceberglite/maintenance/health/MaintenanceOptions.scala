package iceberglite.maintenance.health

import scala.util.Try

import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.spec.metadata.TableMetadata

/**
 * Options of a maintenance.
 *
 * @param maxBytes the maximum number of bytes to rewrite; absent for no limit
 * @param maxSeconds the time after which no further step begins, in seconds; absent for no limit
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

  /** The options of `rewrite_data_files` that also apply here. */
  private val ofRewrite = Seq(
    "target-file-size-bytes",
    "min-file-size-bytes",
    "max-file-size-bytes",
    "min-input-files",
    "delete-ratio-threshold"
  )

  /** All options. */
  val names: Seq[String] = Seq(MaxBytes, MaxSeconds, RemoveOrphans) ++ ofRewrite

  /**
   * Parses options.
   *
   * @throws InvalidArgument an option is unknown or has an invalid value
   */
  def of(options: Map[String, String], metadata: TableMetadata): MaintenanceOptions = {
    options.keys.toVector.sorted.find(!names.contains(_)).foreach { key =>
      val hint = Spelling.closest(key, names).fold(s"The options are ${names.mkString(", ")}")(k => s"Did you mean $k?")
      throw InvalidArgument("option", key, hint)
    }
    val parsed = MaintenanceOptions(
      options.get(MaxBytes).map(positive(MaxBytes, _)),
      options.get(MaxSeconds).map(positive(MaxSeconds, _)),
      options.get(RemoveOrphans).exists(flag(RemoveOrphans, _)),
      options.filter { case (key, _) => ofRewrite.contains(key) }
    )
    parsed.rewrite(metadata)
    parsed
  }

  private def positive(name: String, text: String): Long = Try(text.trim.toLong).toOption.filter(_ > 0).getOrElse(
    throw InvalidArgument(s"option $name", text, s"It must be an integer from 1 to ${Long.MaxValue}")
  )

  private def flag(name: String, text: String): Boolean = Try(text.trim.toLowerCase.toBoolean).getOrElse(
    throw InvalidArgument(s"option $name", text, "It must be true or false")
  )
}
