package iceberglite.spark.maintenance

import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.relocate.{
  CopiedDeleteFile,
  DeleteFileCopier,
  DeleteFileCopies,
  DeleteFileToCopy,
  LocalDeleteFileCopies
}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{deserialize, distribute, serialize}

/**
 * Copies delete files in a Spark session: on the driver if there are few files, and otherwise with a Spark job.
 *
 * @param maxLocalFiles maximum number of files that the driver copies
 */
final private[iceberglite] class SessionDeleteFileCopies(
    session: SparkSession,
    maxLocalFiles: Int = SessionDeleteFileCopies.MaxLocalFiles
) extends DeleteFileCopies {

  override def write(files: Vector[DeleteFileToCopy], copier: DeleteFileCopier): Vector[CopiedDeleteFile] =
    if (files.size <= maxLocalFiles) LocalDeleteFileCopies.write(files, copier)
    else {
      val context = session.sparkContext
      val settings = context.broadcast(serialize(copier))
      val results = distribute(context, files).map { group =>
        ClusterJob.encodeResult {
          val taskCopier = deserialize[DeleteFileCopier](settings.value)
          val toCopy = deserialize[Vector[DeleteFileToCopy]](group)
          // A previous attempt of the task may have left copies. They are deleted, because writers never overwrite a
          // file.
          if (TaskContext.get().attemptNumber() > 0) toCopy.foreach(f => taskCopier.io.delete(f.writePath))
          serialize(toCopy.map(taskCopier.write))
        }
      }.collect()
      results.toVector.flatMap(r => deserialize[Vector[CopiedDeleteFile]](ClusterJob.decodeResult(r)))
    }
}

private[iceberglite] object SessionDeleteFileCopies {

  /**
   * The default of `maxLocalFiles`. The driver copies this number of files in parallel in about the time that a Spark
   * job needs to start.
   */
  private val MaxLocalFiles = 16
}
