package iceberglite.spark.maintenance

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.expire.{LocalUnreachableFiles, UnreachableFile, UnreachableFiles}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}
import iceberglite.spec.file.Content
import iceberglite.storage.FileIO
import iceberglite.tree.FilePart

/**
 * Compares the files of expired snapshots with the files of retained snapshots. A Spark job does this if the manifests
 * are large and the cluster has more cores than the driver; otherwise, the driver does it.
 *
 * @param shouldUseCluster decides whether a Spark job is used, from the number of cores of the cluster and the bytes of
 *   the manifests
 */
final private[iceberglite] class SessionUnreachableFiles(
    session: SparkSession,
    shouldUseCluster: (Int, Long) => Boolean = SessionUnreachableFiles.paysOff
) extends UnreachableFiles {
  import SessionUnreachableFiles._

  override def find(io: FileIO, expired: Vector[FilePart], retained: Vector[FilePart]): Iterator[UnreachableFile] = {
    val context = session.sparkContext
    val possible = LocalUnreachableFiles.possiblyShared(expired, retained)
    val bytes = (expired ++ possible).map(_.length).sum
    if (shouldUseCluster(context.defaultParallelism, bytes)) onCluster(context, io, expired, possible)
    else new LocalUnreachableFiles().find(io, expired, possible)
  }

  private def onCluster(
      context: SparkContext,
      io: FileIO,
      expired: Vector[FilePart],
      retained: Vector[FilePart]
  ): Iterator[UnreachableFile] = {
    val count = LocalUnreachableFiles.count(expired)
    val partitions = math.max(context.defaultParallelism.toLong, count / FilesPerPartition).toInt
    val retainedKeys = liveFiles(context, io, retained).mapValues(_ => ())
    val unreachable = liveFiles(context, io, expired).subtractByKey(retainedKeys, partitions)
    val distinct = unreachable.reduceByKey((file, _) => file)
    distinct.toLocalIterator.map { case (_, (path, code)) => UnreachableFile(path, Content.all(code)) }
  }
}

private[iceberglite] object SessionUnreachableFiles {

  /** The number of bytes of manifests, per core of the driver, above which a Spark job is faster. */
  private val LocalBytes = 16L << 20

  /** The number of paths in a shuffle partition. A task holds the paths of its partition in memory. */
  private val FilesPerPartition = 100000L

  private def paysOff(clusterCores: Int, bytes: Long): Boolean = {
    val cores = Runtime.getRuntime.availableProcessors
    clusterCores > cores && bytes > cores * LocalBytes
  }

  /** Returns the key of each live file ([[UnreachableFiles.keys]]), with its path and content code. */
  private[maintenance] def liveFiles(
      context: SparkContext,
      io: FileIO,
      parts: Vector[FilePart]
  ): RDD[(String, (String, Int))] = {
    val storage = context.broadcast(serialize(io))
    ClusterJob.distribute(context, parts.map(_.forReading)).flatMap { bytes =>
      val files = deserialize[FileIO](storage.value)
      val keyOf = UnreachableFiles.keys(files)
      deserialize[Vector[FilePart]](bytes).iterator.flatMap(_.entries(files)).filter(_.isLive)
        .map(e => keyOf(e.file.path) -> (e.file.path -> e.file.content.code))
    }
  }
}
