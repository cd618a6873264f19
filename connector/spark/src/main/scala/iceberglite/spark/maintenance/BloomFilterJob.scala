package iceberglite.spark.maintenance

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{FileFilterJob, FileFilters}
import iceberglite.puffin.BloomFilter
import iceberglite.scan.FileScanTask
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}

/** Computes the Bloom filters of data files with a Spark job. */
final private[maintenance] class BloomFilterJob(session: SparkSession, table: String) extends FileFilterJob {
  override def compute(filters: FileFilters, tasks: Vector[FileScanTask]): Vector[Vector[BloomFilter]] = {
    val context = session.sparkContext
    ClusterJob.withDescription(context, s"Computing Bloom filters of ${tasks.size} files of $table") {
      val results = BloomFilterJob.run(ClusterJob.distribute(context, tasks), serialize(filters))
      results.iterator.flatMap { result =>
        deserialize[Vector[Vector[BloomFilter]]](ClusterJob.decodeResult(result))
      }.toVector
    }
  }
}

private object BloomFilterJob {

  /** Runs the job. This method is in an object so that the closure does not contain the session. */
  private def run(batches: RDD[Array[Byte]], filters: Array[Byte]): Array[Array[Byte]] =
    batches.map { batch =>
      ClusterJob.encodeResult {
        val compute = deserialize[FileFilters](filters)
        serialize(deserialize[Vector[FileScanTask]](batch).map(compute.of))
      }
    }.collect()
}
