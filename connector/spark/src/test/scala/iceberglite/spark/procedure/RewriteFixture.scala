package iceberglite.spark.procedure

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** Creates tables for tests of `CALL rewrite_data_files`, and calls the procedure. */
trait RewriteFixture extends StatementFixture { self: Suite =>
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with deleted rows, and with 18 data files in three partitions or 6 unpartitioned data files. */
  protected def written(version: Int, partitioned: Boolean = true): String = {
    val mode = if (version == 1) "copy-on-write" else "merge-on-read"
    val t = create("id BIGINT, p INT, s STRING", version, mode, "write.distribution-mode" -> "none")
    if (partitioned) sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    for (i <- 0 until 2)
      sql(s"INSERT INTO ${inApacheIceberg(t)} SELECT id, id % 3, 'x' FROM range(${i * 90}, ${i * 90 + 90}, 1, 3)")
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % 7 = 1")
    sql(s"REFRESH TABLE $t")
    t
  }

  protected def call(table: String, arguments: String*): Row = {
    val Array(catalog, rest) = table.split("\\.", 2)
    val Seq(row) =
      rows(s"CALL $catalog.system.rewrite_data_files(${(s"table => '$rest'" +: arguments).mkString(", ")})")
    row
  }

  /** Calls the procedure of Apache Iceberg. */
  protected def callPeer(table: String, arguments: String*): Row = {
    sql(s"REFRESH TABLE ${inApacheIceberg(table)}")
    val row = call(inApacheIceberg(table), arguments: _*)
    sql(s"REFRESH TABLE $table")
    row
  }

  /**
   * Returns the numbers of a result that are the same for two equal tables: of rewritten, added and failed data files,
   * and of removed delete files. The rewritten bytes are omitted, because two writes of the same rows may make files of
   * slightly different sizes.
   */
  protected def counts(row: Row): Seq[Any] = Seq(0, 1, 3, 4).map(row.get)

  /** Returns the numbers of rewritten, added and failed data files from the result of a call. */
  protected def fileCounts(row: Row): Seq[Any] = Seq(row.get(0), row.get(1), row.get(3))

  /** Returns the rows of a table. In version 3, the rows include their row ids and sequence numbers. */
  protected def contents(t: String, version: Int): Seq[Row] = {
    val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
    rows(s"SELECT *$lineage FROM $t ORDER BY id")
  }
}
