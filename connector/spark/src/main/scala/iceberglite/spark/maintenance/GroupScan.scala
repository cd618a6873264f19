package iceberglite.spark.maintenance

import org.apache.spark.sql.connector.read.{Batch, Scan}
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.types.{Metadata, StructType}

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.read.planning.GivenPacking

/**
 * Reads the files of a rewrite.
 *
 * @param inner a scan of the table, for its columns and settings
 * @param table the name of the table
 * @param taskFiles the files, or splits of files, of each Spark task
 */
final private[maintenance] class GroupScan(
    inner: IcebergScan,
    table: String,
    taskFiles: Vector[Vector[FileScanTask]]
) extends Scan {

  /** Returns the schema. Row ids and sequence numbers are ordinary columns, because the write stores them. */
  override def readSchema(): StructType = StructType(inner.readSchema().map(_.copy(metadata = Metadata.empty)))

  override def columnarSupportMode(): ColumnarSupportMode = inner.columnarSupportMode()

  override def toBatch: Batch = inner.batchOf(taskFiles.flatten, Some(GivenPacking(taskFiles)))

  /** Describes the scan without planning the table, which may have many more files. */
  override def description(): String =
    s"iceberg-lite $table [files=${taskFiles.iterator.flatten.map(_.file.path).toSet.size}, tasks=${taskFiles.size}]"

  override def toString: String = s"GroupScan($table)"
}
