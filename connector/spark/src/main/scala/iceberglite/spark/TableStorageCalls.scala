package iceberglite.spark

import org.apache.spark.sql.{DataFrame, SparkSession}

import iceberglite.spark.cluster.ClusterJob
import iceberglite.spec.FormatVersion
import iceberglite.storage.FileIO
import iceberglite.table.Table

/** Examines the stored files and the metadata of a table, with the storage settings of the table's catalog. */
trait TableStorageCalls {
  def spark: SparkSession

  /** Calls a function with the current version of the table. The function returns this version, and a result. */
  protected def change[A](work: Table => (Table, A)): A

  /**
   * Returns the path and the length of each file in the table's directory, at all depths, in the columns `path` and
   * `length`. The directory is listed when the rows are read. Contents of files are not read.
   */
  def storedFiles(): DataFrame = change { table =>
    (table, StoredFiles.below(spark, table.io, table.metadata.location))
  }

  /** Returns the length of a file in bytes; absent if the file does not exist. */
  def storedLength(path: String): Option[Long] = change(table => (table, table.io.info(path).map(_.length)))

  /**
   * Returns the row id that the next added row gets. All row ids of the table are lower (spec: `next-row-id`). It is
   * absent in format versions 1 and 2, which have no row ids.
   */
  def nextRowId(): Option[Long] = change { table =>
    (table, Some(table.metadata.nextRowId).filter(_ => table.metadata.formatVersion >= FormatVersion.V3))
  }
}

private object StoredFiles {

  def below(session: SparkSession, io: FileIO, directory: String): DataFrame = {
    val shared = ClusterJob.serialize(io)
    val files = session.sparkContext.parallelize(Seq(directory), 1).flatMap { path =>
      ClusterJob.deserialize[FileIO](shared).listBelow(path).map(file => file.path -> file.length)
    }
    session.createDataFrame(files).toDF("path", "length")
  }
}
