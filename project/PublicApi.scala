import sbt._

/** The sources whose Scaladoc is the Scala API reference: the package `iceberglite.spark`, and the types it returns. */
object PublicApi {
  private val calls = "iceberglite/spark"

  /** The files of other packages that declare parameters, results and errors of the public methods. */
  private val types = Seq(
    "iceberglite/maintenance/CloneTable.scala",
    "iceberglite/maintenance/compact/DeleteRewriteResult.scala",
    "iceberglite/maintenance/compact/GroupOptions.scala",
    "iceberglite/maintenance/compact/ManifestCompaction.scala",
    "iceberglite/maintenance/compact/RewriteOptions.scala",
    "iceberglite/maintenance/compact/RewriteResult.scala",
    "iceberglite/maintenance/expire/ExpireResult.scala",
    "iceberglite/maintenance/health/MaintenanceStep.scala",
    "iceberglite/maintenance/importing/FileImport.scala",
    "iceberglite/maintenance/orphan/OrphanRemoval.scala",
    "iceberglite/maintenance/relocate/TablePathRewrite.scala",
    "iceberglite/spark/error/SparkErrors.scala",
    "iceberglite/spec/IcebergError.scala",
    "iceberglite/spec/metadata/Snapshot.scala",
    "iceberglite/spec/metadata/Statistics.scala",
    "iceberglite/table/action/ExpireSnapshots.scala",
    "iceberglite/table/action/Restore.scala"
  )

  /** The API reference of the Spark artefacts whose types the public methods have. */
  def sparkReference(classPath: Seq[File]): Map[File, URL] = {
    val address = url(s"https://spark.apache.org/docs/${Dependencies.sparkVersion}/api/scala/")
    val names = Seq("spark-sql-api", "spark-sql", "spark-catalyst", "spark-core").map(_ + "_2.1")
    classPath.filter(jar => names.exists(jar.getName.startsWith)).map(_ -> address).toMap
  }

  /** Selects the documented files from the sources of all projects. */
  def of(sources: Seq[File]): Seq[File] = {
    def path(file: File) = file.getPath.replace('\\', '/')
    val typeFiles = types.map { name =>
      sources.find(file => path(file).endsWith(s"/$name")).getOrElse(sys.error(s"$name, of PublicApi, does not exist"))
    }
    sources.filter(file => path(file.getParentFile).endsWith(s"/scala/$calls")) ++ typeFiles
  }
}
