package iceberglite.spark

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{CloneOptions, CloneResult}
import iceberglite.maintenance.importing.{FileImport, ImportResult}
import iceberglite.maintenance.relocate.{PathRewriteOptions, PathRewriteResult, TablePathRewrite}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.maintenance.{SessionDeleteFileCopies, TableClones}
import iceberglite.spark.maintenance.importing.{ImportSource, SourceImport}
import iceberglite.table.Table
import iceberglite.table.action.{Restore, RestorePoint, RestoreReport}

/**
 * Restores and clones a table, adds files to it and prepares its move by method calls. The methods run the same actions
 * as the procedures with similar names, and return typed results.
 */
trait TableRelocationCalls {
  def spark: SparkSession

  /**
   * Calls a function with the current version of the table, and refreshes cached queries afterwards.
   *
   * @param work returns the newest version of the table, and a result
   */
  protected def change[A](work: Table => (Table, A)): A

  /**
   * Sets any snapshot of the table as the current snapshot.
   *
   * @return the id of the previous snapshot, and the numbers of files and rows that the restore added and removed
   * @throws iceberglite.spec.IcebergError.NotFound if the table does not have the snapshot, branch or tag
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the table had no snapshot at the given time
   */
  def restore(point: RestorePoint): RestoreReport = change { table =>
    val action = new Restore(point)
    val after = table.transaction(EngineSummary.of(spark)).add(action).commit()
    (after, action.report)
  }

  /**
   * Adds the files of another table or of a directory, without copying them.
   *
   * @param source a Parquet, ORC or Avro table of Spark's session catalog, or a path such as `` parquet.`/data/t` ``
   * @param partitionFilter values of partition columns; only the files of partitions with these values are added
   * @param checkDuplicateFiles whether to fail if a file is already in the table
   */
  def addFiles(
      source: String,
      partitionFilter: Map[String, String] = Map.empty,
      checkDuplicateFiles: Boolean = true
  ): ImportResult = change { table =>
    val result = new SourceImport(spark, table)
      .run(ImportSource.of(spark, source), partitionFilter, FileImport(checkDuplicateFiles))
    (result.table, result)
  }

  /**
   * Writes copies of the table's metadata for another location, and lists all files to copy to this location. The table
   * does not change.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if a path does not begin with the source prefix, or a
   *   metadata file is missing
   */
  def rewriteTablePath(options: PathRewriteOptions): PathRewriteResult = change { table =>
    val rewrite = new TablePathRewrite(table, options, new SessionDeleteFileCopies(spark))
    (table, ClusterJob.withDriverWork(spark.sparkContext, s"Rewriting the paths of ${table.name}")(rewrite.run()))
  }

  /**
   * Creates a table that reads the files of this table, without copying them. The property `gc.enabled` of the new
   * table is false.
   *
   * @param name the name of the new table in SQL, in any iceberg-lite catalog
   * @param options select the snapshot, by default the current one, and the location and properties of the new table
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the new table would have files in directories of this
   *   table, or an option is not valid
   * @throws iceberglite.spec.IcebergError.NotFound if this table does not have the snapshot, branch or tag
   */
  def clone(name: String, options: CloneOptions = CloneOptions()): CloneResult = change { table =>
    (table, TableClones.create(spark, table, name, options))
  }
}
