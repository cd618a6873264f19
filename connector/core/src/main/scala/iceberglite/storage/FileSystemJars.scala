package iceberglite.storage

import org.apache.hadoop.util.VersionInfo

import iceberglite.spec.IcebergError.Unsupported

/** Names the jar of a Hadoop file system in errors about missing classes. */
private[storage] object FileSystemJars {

  private def hadoop(module: String): String = s"org.apache.hadoop:$module:${VersionInfo.getVersion}"

  private def jarOf(scheme: String): String = scheme match {
    case "s3" | "s3a" | "s3n" => s"${hadoop("hadoop-aws")} and its com.amazonaws:aws-java-sdk-bundle"
    case "abfs" | "abfss" | "wasb" | "wasbs" => hadoop("hadoop-azure")
    case "oss" => hadoop("hadoop-aliyun")
    case "gs" => "com.google.cloud.bigdataoss:gcs-connector"
    case other => s"the jar of the file system for $other"
  }

  /**
   * Runs `body`, which loads the classes of a file system. If a class is missing, the error names the jar that contains
   * the class.
   */
  def explainMissingJar[A](scheme: String)(body: => A): A =
    try body
    catch {
      case e @ (_: RuntimeException | _: LinkageError | _: java.io.IOException) =>
        throw missingClass(e, 8).fold[Throwable](e) { name =>
          Unsupported(
            s"$scheme:// paths without the jar of their file system: class $name is missing",
            s"Add ${jarOf(scheme)} to the session with --packages or spark.jars.packages"
          )
        }
    }

  /**
   * Returns the name of the missing class if the class belongs to a file system's jar. For any other missing class, the
   * caller throws the original failure, which names the class.
   */
  private def missingClass(e: Throwable, depth: Int): Option[String] = e match {
    case missing @ (_: ClassNotFoundException | _: NoClassDefFoundError) =>
      Option(missing.getMessage).map(_.replace('/', '.').stripPrefix("Class ").stripSuffix(" not found"))
        .filter(name => JarPackages.exists(name.startsWith))
    case _ if depth == 0 => None
    case other => Option(other.getCause).flatMap(missingClass(_, depth - 1))
  }

  private val JarPackages = Seq("org.apache.hadoop.", "com.amazonaws.", "com.google.cloud.hadoop.", "com.aliyun.")
}
