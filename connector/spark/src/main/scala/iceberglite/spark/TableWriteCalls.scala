package iceberglite.spark

import org.apache.spark.sql.{Column, DataFrame, DataFrameWriterV2, Row}
import org.apache.spark.sql.functions.lit

import iceberglite.spark.conf.UpsertOptions
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * Writes the rows of DataFrames by method calls, which return the numbers of changed rows. Columns are matched by name.
 * The options of the [[IcebergTable]] are the options of the write.
 */
trait TableWriteCalls {

  /**
   * Writes rows, and returns the counts of the write.
   *
   * @param options additional options of the write. They are evaluated within this method, which throws their errors as
   *   StatementErrors
   * @param counts reads the counts from the table and the snapshot of the write
   */
  protected def write(rows: DataFrame, options: => Map[String, String], counts: (Table, Snapshot) => WrittenRows)(
      action: DataFrameWriterV2[Row] => Unit
  ): WrittenRows

  /**
   * Adds rows.
   *
   * @throws org.apache.spark.sql.AnalysisException if the columns do not match the table
   */
  def append(rows: DataFrame): WrittenRows = write(rows, Map.empty, WrittenRows.ofWholeFiles(_, _))(_.append())

  /** Replaces all rows of the table. Earlier snapshots keep the replaced rows. */
  def overwrite(rows: DataFrame): WrittenRows =
    write(rows, Map.empty, WrittenRows.ofWholeFiles(_, _))(_.overwrite(lit(true)))

  /** Replaces the partitions to which the new rows belong. Other partitions keep their rows. */
  def overwritePartitions(rows: DataFrame): WrittenRows =
    write(rows, Map.empty, WrittenRows.ofWholeFiles(_, _))(_.overwritePartitions())

  /**
   * Replaces the rows that satisfy a condition.
   *
   * @param condition the condition, as a column or as SQL. Files that also have other rows are rewritten, and keep the
   *   other rows
   */
  def replaceWhere(rows: DataFrame, condition: Condition): WrittenRows =
    write(rows, Map.empty, (_, snapshot) => WrittenRows.ofPartialOverwrite(snapshot))(
      _.overwrite(new Column(condition.expression))
    )

  /**
   * Replaces each row whose identifier fields have the same values as those of a new row, and adds the other new rows,
   * without reading the table.
   *
   * @param rows new rows; no two of them may have the same values of the identifier fields
   */
  def upsert(rows: DataFrame): WrittenRows =
    write(rows, Map(UpsertOptions.Upsert.key -> "true"), TableWriteCalls.ofUpsert)(_.append())

  /**
   * Replaces each row that has the same key as a new row, and adds the other new rows, without reading the table.
   *
   * @param rows new rows; no two of them may have the same key
   * @param keys the names of the key columns
   * @throws iceberglite.spark.error.StatementError if there is no key column, or the name of a key column is blank or
   *   has a comma
   */
  def upsert(rows: DataFrame, keys: Seq[String]): WrittenRows =
    write(rows, Map(UpsertOptions.Keys.key -> TableWriteCalls.keyColumns(keys)), TableWriteCalls.ofUpsert)(_.append())
}

private object TableWriteCalls {
  private val ofUpsert: (Table, Snapshot) => WrittenRows = (_, snapshot) => WrittenRows.ofUpsert(snapshot)

  private def keyColumns(keys: Seq[String]): String =
    if (keys.nonEmpty && keys.forall(key => key.trim.nonEmpty && !key.contains(','))) keys.mkString(",")
    else throw InvalidArgument(
      "keys of an upsert",
      keys.mkString("[", ", ", "]"),
      "Specify the names of key columns, without commas"
    )
}
