package iceberglite.spark.maintenance

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.storage.StorageLevel

import iceberglite.maintenance.orphan.{ListedFile, PrefixListing}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, distribute, serialize}

/**
 * The files of a listing, distributed over the cluster.
 *
 * @param files the path and the modification time of each file
 * @param stored intermediate results, which are kept until the files are no longer needed
 */
final private[iceberglite] case class ClusterListing(files: RDD[(String, Long)], stored: Vector[RDD[_]] = Vector.empty)

/**
 * Lists all paths below a directory by Spark tasks. The upper levels of directories are listed first, to find prefixes;
 * then each task lists all paths with some of the prefixes. The load of the storage is limited by the number of tasks,
 * because each task sends one request at a time, and by the number of prefixes, because each prefix needs at least one
 * request. A level with too many directories, such as the partitions of a table, is not divided further.
 */
private[iceberglite] object PrefixTasks {

  /** The maximum number of tasks that list paths at the same time. */
  val MaxTasks = 32

  /** The maximum number of prefixes. */
  val MaxPrefixes = 256

  /** The maximum number of levels that are listed to find prefixes. */
  private val MaxLevels = 4

  /** An entry of a listed directory: whether it is a directory, its path and its modification time. */
  private type Entry = (Boolean, String, Long)

  def filesIn(context: SparkContext, listing: PrefixListing): ClusterListing = {
    val shared = context.broadcast(serialize(listing))
    val tasks = math.min(MaxTasks, context.defaultParallelism * ClusterJob.TasksPerCore)
    var upper = Vector.empty[RDD[Entry]]
    var prefixes = Vector(listing.directory)
    var isDivided = true
    while (isDivided && prefixes.nonEmpty && prefixes.size < tasks && upper.size < MaxLevels) {
      // The files in these directories are not listed again.
      val level = distribute(context, prefixes, MaxTasks).flatMap { bytes =>
        val paths = deserialize[PrefixListing](shared.value)
        deserialize[Vector[String]](bytes).iterator.flatMap(entriesIn(paths, _))
      }.persist(StorageLevel.MEMORY_AND_DISK)
      val directories = level.filter(_._1).map(_._2)
      isDivided = directories.count() <= MaxPrefixes
      if (isDivided) {
        upper :+= level
        prefixes = directories.collect().toVector
      } else level.unpersist()
    }
    val below = distribute(context, prefixes, MaxTasks).flatMap { bytes =>
      val paths = deserialize[PrefixListing](shared.value)
      deserialize[Vector[String]](bytes).iterator.flatMap(paths.filesBelow).map(pair)
    }
    ClusterListing(context.union(below +: upper.map(_.filter(!_._1).map { case (_, path, ms) => (path, ms) })), upper)
  }

  private def entriesIn(listing: PrefixListing, directory: String): Iterator[Entry] = {
    val (directories, files) = listing.entries(directory)
    directories.iterator.map((true, _, 0L)) ++ files.iterator.map(file => (false, file.path, file.modifiedMs))
  }

  private def pair(file: ListedFile): (String, Long) = file.path -> file.modifiedMs
}
