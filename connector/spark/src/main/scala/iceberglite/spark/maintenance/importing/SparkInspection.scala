package iceberglite.spark.maintenance.importing

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.importing.{FileInspector, Inspection, LocalInspection, SourceFile}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.cluster.ClusterJob.{decodeResult, deserialize, encodeResult, serialize, sizeText}
import iceberglite.spec.file.ContentFile

/** Reads the footers of files: with a Spark job if there are many files, and otherwise on the driver. */
final private[importing] class SparkInspection(session: SparkSession, table: String) extends Inspection {
  import SparkInspection._

  override def inspect(inspector: FileInspector, files: Vector[SourceFile]): Vector[ContentFile] = {
    val size = sizeText(files.map(_.length).sum)
    ClusterJob.withDriverWork(
      session.sparkContext,
      s"Reading the metadata of ${files.size} files ($size) to add to $table"
    ) {
      if (files.size <= LocalFiles) LocalInspection.inspect(inspector, files) else onCluster(inspector, files)
    }
  }

  private def onCluster(inspector: FileInspector, files: Vector[SourceFile]): Vector[ContentFile] = {
    val context = session.sparkContext
    val shared = context.broadcast(serialize(inspector))
    try {
      val tasks = math.min(files.size / FilesPerTask + 1, context.defaultParallelism * TasksPerCore)
      val groups = files.grouped((files.size + tasks - 1) / tasks).map(serialize).toVector
      context.parallelize(groups, groups.size).map { group =>
        encodeResult(serialize(
          deserialize[FileInspector](shared.value).inspect(deserialize[Vector[SourceFile]](group))
        ))
      }.collect().toVector.flatMap(result => deserialize[Vector[ContentFile]](decodeResult(result)))
    } finally shared.destroy()
  }
}

private object SparkInspection {

  /** The maximum number of files whose footers the driver reads. For so few files, a Spark job takes longer. */
  private val LocalFiles = 32
  private val FilesPerTask = 8
  private val TasksPerCore = 4
}
