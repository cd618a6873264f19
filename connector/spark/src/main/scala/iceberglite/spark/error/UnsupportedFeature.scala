package iceberglite.spark.error

import iceberglite.spec.IcebergError.Unsupported

/** Errors for features that Spark has, but that tables of this connector or a part of them do not support. */
private[iceberglite] object UnsupportedFeature {

  /**
   * Returns the error for an operation that the table does not support.
   *
   * @param operation the operation as a part of a sentence, such as `DROP PARTITION of`
   * @param advice an alternative
   */
  def operation(table: String, operation: String, advice: String): StatementError =
    error("TABLE_OPERATION", Unsupported(s"$operation $table", advice), "tableName" -> table, "operation" -> operation)

  /** Returns the error for `DROP PARTITION ... PURGE`. */
  def purgePartition(table: String): StatementError = error(
    "PURGE_PARTITION",
    Unsupported(
      s"DROP PARTITION ... PURGE of $table",
      "Earlier snapshots need the files. Drop the partition without PURGE, and expire the snapshots"
    )
  )

  private def error(feature: String, error: Unsupported, parameters: (String, String)*): StatementError = {
    val condition = ErrorCondition(s"UNSUPPORTED_FEATURE.$feature", "0A000", parameters.toMap)
    new StatementError(condition.in(error.getMessage), error, condition)
  }
}
