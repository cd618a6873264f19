package iceberglite.spark.error

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, expr}

import iceberglite.spark.SharedSession

/** Maintenance statements, most of them procedure calls, on the tables of [[ErrorBoundaryStatements]]. */
private[error] object MaintenanceStatements {
  private def changing(label: String)(run: SparkSession => Any): Case = Case(label, changes = true)(run)

  /**
   * Statements that change the files or metadata of a table, each with the name of the table. After a failed statement,
   * the table has no files that its metadata does not refer to.
   */
  val all: Seq[(String, Case)] = Seq(
    "t" -> "remove_orphan_files('db.t')",
    "m" -> "rewrite_data_files(table => 'db.m', options => map('rewrite-all', 'true'))",
    "t" -> "rewrite_data_files(table => 'db.t', sort_order => 'v DESC', options => map('rewrite-all', 'true'))",
    "t" -> "rewrite_data_files(table => 'db.t', sort_order => 'hilbert(id, v)', options => map('rewrite-all', 'true'))",
    "t" -> ("rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true', 'partial-progress.enabled', " +
      "'true', 'max-file-group-input-files', '1'))"),
    "m" -> "rewrite_position_delete_files(table => 'db.m', options => map('rewrite-all', 'true'))",
    "t" -> "rewrite_manifests('db.t')",
    "t" -> "compute_partition_stats('db.t')",
    "t" -> "compute_table_stats('db.t')",
    "m" -> "maintain(table => 'db.m', options => map('min-input-files', '2'))"
  ).map { case (table, call) => table -> statement(s"CALL faulty.system.$call") } ++ Seq(
    "m" -> statement("CALL faulty.system.convert_equality_deletes('db.m')"),
    "t" -> statement("OPTIMIZE faulty.db.t ZORDER BY (id, v)"),
    "t" -> statement("CALL faulty.system.clone('db.t', 'db.n')"),
    "t" -> statement("CALL faulty.system.restore(table => 'db.t', ref => 'b')")
  )

  /**
   * Statements that may leave files that no metadata refers to: an expiration that fails after its commit, and the
   * copies of metadata files for another location.
   */
  val leavingFiles: Seq[(String, Case)] = Seq(
    "t" -> statement(
      "CALL faulty.system.expire_snapshots(table => 'db.t', older_than => current_timestamp(), retain_last => 1)"
    ),
    "t" -> statement("VACUUM faulty.db.t RETAIN 0 HOURS"),
    "t" -> changing("rewrite_table_path") { session =>
      val file = session.sql("SELECT file FROM faulty.db.t.metadata_log_entries").head.getString(0)
      val location = file.substring(0, file.indexOf("/metadata/"))
      session.sql(s"CALL faulty.system.rewrite_table_path('db.t', '$location', '$location-moved')").collect()
    }
  )

  private def statement(text: String): Case = changing(text)(_.sql(text).collect())

  val addFiles: Case = changing("add_files") { session =>
    val source = Files.createTempDirectory(SharedSession.root, "source")
    session.range(100, 105, 1, 1).select(col("id"), expr("id / 2D v")).write.mode("overwrite").parquet(s"file:$source")
    session.sql(s"CALL faulty.system.add_files('db.d', 'parquet.`file:$source`')").collect()
  }
}
