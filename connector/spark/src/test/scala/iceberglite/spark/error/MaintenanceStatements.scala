package iceberglite.spark.error

import java.nio.file.Files

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, expr}

import iceberglite.spark.SharedSession

/** Calls of maintenance procedures on the tables of [[ErrorBoundaryStatements]]. */
private[error] object MaintenanceStatements {
  private def changing(label: String)(run: SparkSession => Any): Case = Case(label, changes = true)(run)

  /** Calls that keep the rows of a table and change its files or metadata, each with the name of the table. */
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
  ).map { case (table, call) =>
    val statement = s"CALL faulty.system.$call"
    table -> changing(statement)(_.sql(statement).collect())
  }

  val addFiles: Case = changing("add_files") { session =>
    val source = Files.createTempDirectory(SharedSession.root, "source")
    session.range(100, 105, 1, 1).select(col("id"), expr("id / 2D v")).write.mode("overwrite").parquet(s"file:$source")
    session.sql(s"CALL faulty.system.add_files('db.d', 'parquet.`file:$source`')").collect()
  }
}
