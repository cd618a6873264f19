package iceberglite.spark.write.upsert

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast

import iceberglite.maintenance.{DeleteConversion, LiveEqualityDeletes}
import iceberglite.scan.{FileScanTask, Splits}
import iceberglite.spark.cluster.{ClusterJob, WritingJob}
import iceberglite.spark.cluster.ClusterJob.{deserialize, serialize}
import iceberglite.spark.read.SharedDeletes
import iceberglite.spark.read.deletes.DeleteCacheSettings
import iceberglite.spark.read.files.TableStorage
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.file.{ContentFile, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.{Cleanup, DataFileNames, DataLocations, Table}

/**
 * Converts equality deletes to deletion vectors or position delete files, with a Spark job.
 *
 * @param writeCommit determines the names of the new files
 */
final private[iceberglite] class DeleteConversionJob(session: SparkSession, table: Table, writeCommit: WriteCommit) {
  import DeleteConversionJob._

  def this(session: SparkSession, table: Table) = this(session, table, new WriteCommit(table))

  /**
   * Converts the equality deletes of a snapshot. Writes the new delete files and commits them. If the commit has
   * certainly failed, the new files are removed.
   *
   * @param commit commits the new delete files
   */
  def run[A](deletes: LiveEqualityDeletes)(commit: Vector[ContentFile] => A): A = {
    var deleteFiles = Vector.empty[ContentFile]
    try {
      deleteFiles = write(deletes)
      writeCommit.attempt(commit(deleteFiles))
    } catch {
      case e: Throwable =>
        writeCommit.remove(deleteFiles.map(_.path))
        throw e
    }
  }

  private def write(equality: LiveEqualityDeletes): Vector[ContentFile] = {
    val (files, size) = (equality.files.size, ClusterJob.sizeText(equality.files.map(_.fileSizeInBytes).sum))
    val description = s"Converting $files equality delete files ($size) of ${table.name}"
    write(equality.converted, equality.conversion, description)
  }

  /**
   * Writes the positions of deleted rows. The new files are registered with the write. If a task fails with an error of
   * a file, the new files of the other tasks are removed.
   *
   * @param tasks the data files with the deletes that the new delete files contain
   * @param description the description of the job
   */
  def write(tasks: Vector[FileScanTask], conversion: DeleteConversion, description: String): Vector[ContentFile] = {
    val context = session.sparkContext
    val groups = groupsOf(tasks, context)
    if (groups.isEmpty) Vector.empty
    else ClusterJob.withDescription(context, description) {
      val shared = new SharedDeletes
      val parts =
        context.parallelize(groups.map(group => serialize(group.map(withoutPlanningInfo(_, shared)))), groups.size)
      val deletes = DeleteCacheSettings.of(session, table, TableStorage.configuration(table.io, session))
      val settings = serialize((conversion, writeCommit.locations, deletes))
      val results = new Array[Try[Vector[ContentFile]]](groups.size)
      WritingJob.run(context, parts, writeTask(context.broadcast(settings), writeCommit.operationId)) { (i, result) =>
        results(i) = Try(deserialize[Vector[ContentFile]](ClusterJob.decodeResult(result)))
        results(i).foreach(_.foreach(file => writeCommit.registerFile(file.path)))
      }
      val written = results.toVector.flatMap(_.toOption).flatten
      if (results.exists(_.isFailure)) Cleanup.delete(table.io, written.map(_.path).distinct)
      results.foreach(_.get)
      written
    }
  }
}

private[iceberglite] object DeleteConversionJob {

  /** Maximum size of the data files that a task reads, in bytes. */
  private val GroupBytes = 256L << 20

  /** Minimum weight of a data file, in bytes. It represents the cost of opening the file and its deletes. */
  private val OpenCost = 4L << 20

  private val Lookback = 10

  /**
   * Groups the data files into tasks. A data file is not split, because one new delete file must contain all deletes of
   * the data file. If there are enough data files, there are at least as many groups as cores.
   */
  private def groupsOf(tasks: Vector[FileScanTask], context: SparkContext): Vector[Vector[FileScanTask]] = {
    val weight = tasks.iterator.map(t => math.max(t.length, OpenCost)).sum
    val bytesPerCore = weight / context.defaultParallelism
    Splits.ofWholeFiles(tasks, math.max(1, math.min(GroupBytes, bytesPerCore)), OpenCost, Lookback)
  }

  /** Removes information that only planning needs. */
  private def withoutPlanningInfo(task: FileScanTask, shared: SharedDeletes): FileScanTask =
    task.copy(file = task.file.copy(metrics = Metrics.Empty), deletes = shared(task.deletes))

  private def writeTask(
      settings: Broadcast[Array[Byte]],
      operationId: String
  ): (TaskContext, Iterator[Array[Byte]]) => Array[Byte] = { (context, parts) =>
    val (convert, locations, deletes) =
      deserialize[(DeleteConversion, DataLocations, DeleteCacheSettings)](settings.value)
    val names = new DataFileNames(context.partitionId(), context.taskAttemptId(), operationId, convert.extension)
    def newPath() = locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, names.next())
    ClusterJob.encodeResult {
      val tasks = parts.map(part => deserialize[Vector[FileScanTask]](part))
      serialize(tasks.flatMap(convert.write(_, deletes.cacheAccess, () => newPath())).toVector)
    }
  }
}
