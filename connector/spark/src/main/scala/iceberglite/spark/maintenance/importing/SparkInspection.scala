package iceberglite.spark.maintenance.importing

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.importing.{FileInspector, Inspection, LocalInspection, SourceFile}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{decodeResult, deserialize, encodeResult, serialize}
import iceberglite.spec.file.ContentFile

/** Reads the footers of files: with a Spark job if there are many files, and otherwise on the driver. */
final private[importing] class SparkInspection(session: SparkSession, table: String) extends Inspection {
  import SparkInspection._

  override def inspect(inspector: FileInspector, files: Vector[SourceFile]): Vector[ContentFile] =
    if (files.size <= LocalFiles) LocalInspection.inspect(inspector, files)
    else {
      val context = session.sparkContext
      val shared = context.broadcast(serialize(inspector))
      try ClusterJob.withDescription(context, s"Reading the footers of ${files.size} files to add to $table") {
          val tasks = math.min(files.size / FilesPerTask + 1, context.defaultParallelism * TasksPerCore)
          val groups = files.grouped((files.size + tasks - 1) / tasks).map(serialize).toVector
          context.parallelize(groups, groups.size).map { group =>
            encodeResult(serialize(
              deserialize[FileInspector](shared.value).inspect(deserialize[Vector[SourceFile]](group))
            ))
          }.collect().toVector.flatMap(result => deserialize[Vector[ContentFile]](decodeResult(result)))
        }
      finally shared.destroy()
    }
}

private object SparkInspection {

  /** The maximum number of files whose footers the driver reads. For so few files, a Spark job takes longer. */
  private val LocalFiles = 32
  private val FilesPerTask = 8
  private val TasksPerCore = 4
}
