package iceberglite.spark.read.planning

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast

import iceberglite.scan.{PartReader, PlanningCluster}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}
import iceberglite.spark.conf.{PlanningMode, PlanningModes}
import iceberglite.tree.FilePart

/**
 * Reads the parts of a metadata tree ([[FilePart]]), which are usually manifests, on the executors in a Spark job. The
 * result of each part is a small manifest with the entries that the scan needs.
 *
 * @param cores the number of cores of the driver, which reads the parts if no Spark job is used
 * @param localBytes the number of bytes per core of the driver above which a Spark job is faster than reading on the
 *   driver
 */
final private[read] class SparkPlanning(
    context: SparkContext,
    modes: PlanningModes,
    table: String,
    cores: Int,
    localBytes: Long = SparkPlanning.LocalBytes
) extends PlanningCluster {
  import SparkPlanning._

  override def shouldRead(parts: Vector[FilePart]): Boolean = modes.of(parts.head.content) match {
    case PlanningMode.Local => false
    case PlanningMode.Distributed => true
    case PlanningMode.Auto =>
      context.defaultParallelism > cores && parts.size > cores &&
      parts.iterator.map(_.length).sum > cores * localBytes
  }

  override def read(
      parts: Vector[FilePart],
      reading: PartReader,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val shared = context.broadcast(serialize((reading, oldest)))
    val results = new Array[Array[Byte]](parts.size)
    try ClusterJob.withDescription(context, s"Reading ${parts.size} manifests of $table") {
        val slices = math.min(parts.size, context.defaultParallelism * TasksPerCore)
        val (runs, firsts) = splitIntoRuns(parts, slices)
        val tasks = context.parallelize(runs, runs.size)
        context.runJob(
          tasks,
          packTask(shared),
          runs.indices,
          (run: Int, packed: Array[Array[Byte]]) => System.arraycopy(packed, 0, results, firsts(run), packed.length)
        )
      }
    finally shared.destroy()
    results.indices.iterator.map { i =>
      val packed = results(i)
      // Frees the memory of the result, which is not needed again.
      results(i) = Array.emptyByteArray
      ClusterJob.decodeResult(packed)
    }
  }
}

private object SparkPlanning {
  private val LocalBytes = 16L << 20
  private val TasksPerCore = 4

  /**
   * Divides the parts into sequences of about the same length, one for each task.
   *
   * @return the serialized sequences, and the index of the first part of each sequence
   */
  private def splitIntoRuns(parts: Vector[FilePart], slices: Int): (Vector[Array[Byte]], Vector[Int]) = {
    val firsts = (0 until slices).map(i => (i.toLong * parts.size / slices).toInt).toVector
    val runs = firsts.zip(firsts.tail :+ parts.size).map { case (from, until) => parts.slice(from, until) }
    (runs.map(run => serialize(run.map(_.forReading))), firsts)
  }

  private def packTask(
      shared: Broadcast[Array[Byte]]
  ): (TaskContext, Iterator[Array[Byte]]) => Array[Array[Byte]] = { (_, runs) =>
    val (reading, oldest) = deserialize[(PartReader, Long)](shared.value)
    val parts = runs.flatMap(run => deserialize[Vector[FilePart]](run))
    parts.map(part => ClusterJob.encodeResult(reading.encode(part, oldest))).toArray
  }
}
