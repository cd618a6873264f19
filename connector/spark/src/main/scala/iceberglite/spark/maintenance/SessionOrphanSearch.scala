package iceberglite.spark.maintenance

import org.apache.spark.{HashPartitioner, SparkContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.storage.StorageLevel

import iceberglite.maintenance.expire.LocalUnreachableFiles
import iceberglite.maintenance.orphan._
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, distribute, serialize}
import iceberglite.storage.FileIO

/**
 * Lists the files of a table's directory and compares them with the files that the table needs. If there are many
 * files, Spark jobs do this, and the driver holds neither the listed files nor the paths of the needed data files in
 * memory. Otherwise, the driver does this without a job.
 *
 * @param shouldUseCluster decides whether Spark jobs are used, from the number of cores of the cluster, the number of
 *   live files in the metadata, and the bytes of the manifests. If more files than `maxLocalFiles` are listed, Spark
 *   jobs are always used
 */
final private[iceberglite] class SessionOrphanSearch(
    session: SparkSession,
    shouldUseCluster: (Int, Long, Long) => Boolean = SessionOrphanSearch.paysOff,
    maxLocalFiles: Int = LocalOrphanSearch.MaxCandidates
) extends OrphanSearch {
  import SessionOrphanSearch._

  override def find(
      io: FileIO,
      listing: FileListing,
      needed: NeededFiles,
      olderThanMs: Long,
      prefixes: EqualPrefixes
  ): OrphanCandidates = {
    val context = session.sparkContext
    val onCluster = listing match {
      case directories: DirectoryListing =>
        Some(new ClusterOrphanSearch(context, () => ClusterListing(filesIn(context, directories))))
      case prefix: PrefixListing => Some(new ClusterOrphanSearch(context, () => PrefixTasks.filesIn(context, prefix)))
      case view: ViewListing => Some(new ClusterOrphanSearch(context, () => ClusterListing(view.distributed)))
      case _ => None
    }
    val (files, bytes) = (LocalUnreachableFiles.count(needed.parts), needed.parts.iterator.map(_.length).sum)
    val search = onCluster.filter(_ => shouldUseCluster(context.defaultParallelism, files, bytes))
      .getOrElse(new LocalOrphanSearch(maxLocalFiles, onCluster))
    search.find(io, listing, needed, olderThanMs, prefixes)
  }
}

/** Compares the files with Spark jobs. @param list lists the files */
final private class ClusterOrphanSearch(context: SparkContext, list: () => ClusterListing) extends OrphanSearch {
  import SessionOrphanSearch._

  override def find(
      io: FileIO,
      listing: FileListing,
      needed: NeededFiles,
      olderThanMs: Long,
      prefixes: EqualPrefixes
  ): OrphanCandidates = {
    val listed = ClusterJob.withTaskErrors(list())
    val old = listed.files.filter(_._2 < olderThanMs).keys
    val count = LocalUnreachableFiles.count(needed.parts)
    val partitions = math.max(context.defaultParallelism.toLong, count / FilesPerPartition).toInt
    new ClusterCandidates(compare(old, neededPaths(context, io, needed), partitions, prefixes), listed.stored)
  }
}

private[iceberglite] object SessionOrphanSearch {

  /** The number of bytes of manifests, per core of the driver, above which a Spark job is faster. */
  private val LocalBytes = 16L << 20

  /** The number of paths in a shuffle partition. A task holds the paths of its partition in memory. */
  private[maintenance] val FilesPerPartition = 100000L

  /** The maximum number of upper directory levels that are listed level by level, to find directories for the tasks. */
  private val MaxLevels = 4

  private def paysOff(clusterCores: Int, files: Long, bytes: Long): Boolean = {
    val cores = Runtime.getRuntime.availableProcessors
    files > LocalOrphanSearch.MaxCandidates || clusterCores > cores && bytes > cores * LocalBytes
  }

  /**
   * Lists a directory. The upper levels are listed first, to find enough directories for all tasks. Then each task
   * lists some of these directories recursively.
   */
  private[maintenance] def filesIn(context: SparkContext, listing: DirectoryListing): RDD[(String, Long)] = {
    val shared = context.broadcast(serialize(listing))
    var upper = Vector.empty[String]
    var level = Vector(listing.directory)
    var depth = 0
    while (level.nonEmpty && level.size < context.defaultParallelism * ClusterJob.TasksPerCore && depth < MaxLevels) {
      upper ++= level
      level = distribute(context, level).flatMap { bytes =>
        val directories = deserialize[DirectoryListing](shared.value)
        deserialize[Vector[String]](bytes).flatMap(directories.entries(_)._1)
      }.collect().toVector
      depth += 1
    }
    val startDepth = depth
    val ofUpper = distribute(context, upper).flatMap { bytes =>
      val directories = deserialize[DirectoryListing](shared.value)
      deserialize[Vector[String]](bytes).iterator.flatMap(directories.entries(_)._2).map(pair)
    }
    val ofOthers = distribute(context, level).flatMap { bytes =>
      val directories = deserialize[DirectoryListing](shared.value)
      deserialize[Vector[String]](bytes).iterator.flatMap(directories.filesBelow(_, startDepth)).map(pair)
    }
    ofUpper ++ ofOthers
  }

  private def pair(file: ListedFile): (String, Long) = file.path -> file.modifiedMs

  private[maintenance] def neededPaths(context: SparkContext, io: FileIO, needed: NeededFiles): RDD[String] =
    SessionUnreachableFiles.liveFiles(context, io, needed.parts).keys ++ context.parallelize(needed.named)

  /**
   * Returns the listed paths that are equal to no needed path. If a needed path differs from a listed path only in the
   * scheme or the authority, the needed path is returned with the listed path.
   */
  private[maintenance] def compare(
      listed: RDD[String],
      needed: RDD[String],
      partitions: Int,
      prefixes: EqualPrefixes
  ): RDD[(String, Option[String])] = {
    val byPath = new HashPartitioner(partitions)
    val listedByPath = listed.map(path => FileUri.of(path).path -> path)
    val neededByPath = needed.map(path => FileUri.ofMetadata(path).path -> path)
    // A file can be listed in many manifests. `distinct` keeps its path only once.
    distinct(listedByPath, byPath).cogroup(distinct(neededByPath, byPath), byPath).flatMap {
      case (_, (listedPaths, neededPaths)) =>
        val inMetadata = neededPaths.iterator.flatten.toVector
        val uris = inMetadata.map(FileUri.ofMetadata)
        listedPaths.iterator.flatten.filterNot(path => uris.exists(prefixes.matches(_, FileUri.of(path))))
          .map(path => path -> inMetadata.headOption)
    }
  }

  private def distinct(paths: RDD[(String, String)], byPath: HashPartitioner): RDD[(String, Set[String])] =
    paths.aggregateByKey(Set.empty[String], byPath)(_ + _, _ ++ _)

  /**
   * The candidates for removal, on the executors. They are computed once, and stored until this object is closed.
   *
   * @param intermediate stored results from which the candidates are computed
   */
  final private[maintenance] class ClusterCandidates(
      compared: RDD[(String, Option[String])],
      intermediate: Vector[RDD[_]] = Vector.empty
  ) extends OrphanCandidates {
    private val stored = compared.persist(StorageLevel.MEMORY_AND_DISK)

    override def iterator: Iterator[OrphanCandidate] = ClusterJob.withTaskErrors {
      // All files are compared before the first candidate is returned, so that an error occurs before the first
      // deletion.
      stored.count()
      stored.toLocalIterator.map { case (path, conflict) => OrphanCandidate(path, conflict) }
    }

    override def conflict: Option[OrphanCandidate] = ClusterJob.withTaskErrors {
      stored.filter(_._2.isDefined).take(1).headOption.map { case (path, conflict) => OrphanCandidate(path, conflict) }
    }

    override def close(): Unit = {
      (stored +: intermediate).foreach(_.unpersist())
    }
  }
}
