package iceberglite.spark.error

import iceberglite.spec.IcebergError.Unsupported

/** Errors for features and types that Spark has, but that tables of this connector or a part of them do not support. */
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

  /**
   * Returns the error for a column of a Spark type that tables and views do not support.
   *
   * @param columnType the type in SQL
   */
  def columnType(column: String, columnType: String): StatementError = error(
    ErrorCondition(
      "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
      "0A000",
      Map("format" -> "iceberg", "columnName" -> column, "columnType" -> columnType)
    ),
    Unsupported(
      s"column $column of Spark's type $columnType",
      "Tables and views do not support this type; cast the column to a supported type"
    )
  )

  private def error(feature: String, unsupported: Unsupported, parameters: (String, String)*): StatementError =
    error(ErrorCondition(s"UNSUPPORTED_FEATURE.$feature", "0A000", parameters.toMap), unsupported)

  private def error(condition: ErrorCondition, error: Unsupported): StatementError =
    new StatementError(condition.in(error.getMessage), error, condition)
}
