package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.compact.{RowFinder, RowIds}
import iceberglite.puffin.DeletionVector
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, distribute, serialize}
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
      val ids = RowIdSearch.run(session, table, rows.map { case (file, vector) => (file, vector.toBytes) }) {
        case (reader, (file, vector)) => reader.of(file, DeletionVector.parse(file.path, file.path, vector))
      }.foldLeft(DeletionVector.Empty)(_ union _)
      newFiles.zip(positions(ids)).filterNot(_._2.isEmpty)
    }

  private def positions(ids: DeletionVector): Vector[DeletionVector] = {
    val wanted = session.sparkContext.broadcast(ids.toBytes)
    try
      RowIdSearch.run(session, table, newFiles) { (reader, file) =>
        reader.positions(file, DeletionVector.parse(file.path, file.path, wanted.value))
      }
    finally wanted.destroy()
  }
}

private object RowIdSearch {

  /** Runs a function on each item, in tasks. @return the results in the order of the items */
  private def run[A <: AnyRef](session: SparkSession, table: Table, items: Vector[A])(
      f: (RowIds, A) => DeletionVector
  ): Vector[DeletionVector] = {
    val rowIds = session.sparkContext.broadcast(serialize(RowIds.of(table)))
    val results =
      try
        distribute(session.sparkContext, items).map { batch =>
          ClusterJob.encodeResult {
            val reader = deserialize[RowIds](rowIds.value)
            serialize(deserialize[Vector[A]](batch).map(item => f(reader, item).toBytes))
          }
        }.collect().toVector
      finally rowIds.destroy()
    results.flatMap(result => deserialize[Vector[Array[Byte]]](ClusterJob.decodeResult(result)))
      .map(DeletionVector.parse("a result of a task", table.name, _))
  }
}
