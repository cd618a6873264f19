package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.compact.{RowFinder, RowIds}
import iceberglite.puffin.DeletionVector
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}
import iceberglite.spec.file.ContentFile
import iceberglite.table.Table

/**
 * Finds rows of replaced files in new files by their row ids, with Spark jobs.
 *
 * @param table the table at the version that the rewrite has read
 * @param newFiles the new files
 */
final private[maintenance] class RowIdSearch(session: SparkSession, table: Table, newFiles: Vector[ContentFile])
    extends RowFinder {

  override def find(rows: Vector[(ContentFile, DeletionVector)]): Vector[(ContentFile, DeletionVector)] =
    ClusterJob.withDescription(session.sparkContext, s"Finding deleted rows in new files of ${table.name}") {
      val ids = RowIdSearch.read(session, table, rows)(_.of(_, _)).foldLeft(DeletionVector.Empty)(_ union _)
      val positions = RowIdSearch.read(session, table, newFiles.map((_, ids)))(_.positions(_, _))
      newFiles.zip(positions).filterNot(_._2.isEmpty)
    }
}

private object RowIdSearch {

  /** Reads each file in a task. @return the results in the order of the files */
  private def read(session: SparkSession, table: Table, files: Vector[(ContentFile, DeletionVector)])(
      f: (RowIds, ContentFile, DeletionVector) => DeletionVector
  ): Vector[DeletionVector] = {
    val rowIds = RowIds.of(table)
    val tasks = files.map { case (file, vector) => (serialize((rowIds, file)), vector.toBytes) }
    val results = session.sparkContext.parallelize(tasks, math.max(1, tasks.size)).map { case (arguments, bytes) =>
      ClusterJob.encodeResult {
        val (reader, file) = deserialize[(RowIds, ContentFile)](arguments)
        f(reader, file, DeletionVector.parse(file.path, file.path, bytes)).toBytes
      }
    }.collect()
    files.zip(results).map { case ((file, _), result) =>
      DeletionVector.parse(file.path, file.path, ClusterJob.decodeResult(result))
    }
  }
}
