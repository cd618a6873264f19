package iceberglite.spark.read.planning

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast

import iceberglite.scan.{ManifestCluster, ManifestReading}
import iceberglite.spark.ClusterJob
import iceberglite.spark.ClusterJob.{ofBytes, toBytes}
import iceberglite.spark.conf.{PlanningMode, PlanningModes}
import iceberglite.spec.ManifestFile

/**
 * Manifests that the executors read, by a job of Spark: each gives back the entries that the scan wants, packed as a
 * small manifest.
 *
 * @param cores of the driver, which it would read manifests with
 * @param localBytes what a core of the driver reads before a job of Spark is worth its start, in bytes
 */
final private[read] class SparkManifests(
    context: SparkContext,
    modes: PlanningModes,
    table: String,
    cores: Int,
    localBytes: Long = SparkManifests.LocalBytes
) extends ManifestCluster {
  import SparkManifests._

  override def takes(manifests: Vector[ManifestFile]): Boolean = modes.of(manifests.head.content) match {
    case PlanningMode.Local => false
    case PlanningMode.Distributed => true
    case PlanningMode.Auto =>
      context.defaultParallelism > cores && manifests.size > cores &&
      manifests.iterator.map(_.length).sum > cores * localBytes
  }

  override def read(
      manifests: Vector[ManifestFile],
      reading: ManifestReading,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val shared = context.broadcast(toBytes((reading, oldest)))
    val results = new Array[Array[Byte]](manifests.size)
    try ClusterJob.described(context, s"Reading ${manifests.size} manifests of $table") {
        val slices = math.min(manifests.size, context.defaultParallelism * TasksPerCore)
        val (parts, firsts) = cut(manifests, slices)
        val tasks = context.parallelize(parts, parts.size)
        context.runJob(
          tasks,
          packedBy(shared),
          parts.indices,
          (part: Int, packed: Array[Array[Byte]]) => System.arraycopy(packed, 0, results, firsts(part), packed.length)
        )
      }
    finally shared.destroy()
    results.indices.iterator.map { i =>
      val packed = results(i)
      // What was taken can go.
      results(i) = Array.emptyByteArray
      ClusterJob.opened(packed)
    }
  }
}

private object SparkManifests {
  private val LocalBytes = 16L << 20
  private val TasksPerCore = 4

  /** In runs of about the same count, which are a task each. @return what is sent of each, and where it begins */
  private def cut(manifests: Vector[ManifestFile], slices: Int): (Vector[Array[Byte]], Vector[Int]) = {
    val firsts = (0 until slices).map(i => (i.toLong * manifests.size / slices).toInt).toVector
    val runs = firsts.zip(firsts.tail :+ manifests.size).map { case (from, until) => manifests.slice(from, until) }
    (runs.map(run => toBytes(run.map(_.forReading))), firsts)
  }

  private def packedBy(
      shared: Broadcast[Array[Byte]]
  ): (TaskContext, Iterator[Array[Byte]]) => Array[Array[Byte]] = { (_, parts) =>
    val (reading, oldest) = ofBytes[(ManifestReading, Long)](shared.value)
    val manifests = parts.flatMap(part => ofBytes[Vector[ManifestFile]](part))
    manifests.map(m => ClusterJob.result(reading.packed(m, oldest))).toArray
  }
}
