package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{ArrayType, LongType, StringType, StructField, StructType}

import iceberglite.spec.Redaction
import iceberglite.table.RetainedFiles

/** The result column for files that were not deleted, which several procedures that delete files have. */
private[procedure] object KeptFiles {
  private val group = StructType(Seq(
    Procedure.column("reason", StringType, "Why the files were not deleted"),
    Procedure.column("files_count", LongType, "Number of files"),
    Procedure.column("example", StringType, "Path of one of the files")
  ))

  val column: StructField = Procedure.column(
    "kept_files",
    ArrayType(group, containsNull = false),
    "Files that are no longer needed but were not deleted, grouped by reason; empty if all were deleted"
  )

  /** Returns the value of the result column [[column]]. */
  def rows(kept: Vector[RetainedFiles]): Seq[Row] =
    kept.map(files => Row(Redaction(files.reason.text), files.count, Redaction(files.example)))
}
