package iceberglite.spark.read.deletes

import java.io.File

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{DeleteCache, DeleteSharing}
import iceberglite.spark.conf.{DeleteCacheOptions, Settings}
import iceberglite.storage.LruCache
import iceberglite.table.Table

/**
 * The settings for sharing loaded delete files among the tasks of a scan.
 *
 * @param owner the table's full name with a hash of its storage settings. A table that is read with other credentials
 *   has another owner, so that it does not share delete files.
 */
final private[iceberglite] case class DeleteCacheSettings(owner: String, enabled: Boolean, limits: LruCache.Limits) {

  /** Returns the cache on an executor, for one task. */
  def sharing: DeleteSharing =
    if (enabled) DeleteSharing(DeleteCache.shared, owner, limits, DeleteCacheSettings.localDirectory)
    else
      DeleteSharing(
        new DeleteCache(),
        owner,
        limits.copy(idleMs = Long.MaxValue),
        DeleteCacheSettings.localDirectory
      )
}

private[iceberglite] object DeleteCacheSettings {

  /** Reads the settings. @throws iceberglite.spec.IcebergError.InvalidArgument for an invalid value */
  def of(session: SparkSession, table: Table, storage: Configuration): DeleteCacheSettings = {
    val settings = Settings.of(CaseInsensitiveStringMap.empty, session, table.properties)
    val pairs = storage.asScala.map(e => e.getKey -> e.getValue)
    DeleteCacheSettings(
      s"${table.name} ${table.metadata.uuid.fold("")(_.toString)} ${MurmurHash3.unorderedHash(pairs)}",
      settings(DeleteCacheOptions.Enabled) && settings(DeleteCacheOptions.DeleteFilesEnabled),
      LruCache.Limits(
        settings(DeleteCacheOptions.MaxEntrySize),
        settings(DeleteCacheOptions.MaxTotalSize),
        settings(DeleteCacheOptions.Timeout)
      )
    )
  }

  /** Returns Spark's directory for temporary files; the setting of the cluster takes precedence. */
  private def localDirectory: String = {
    val variables = Seq("SPARK_EXECUTOR_DIRS" -> File.pathSeparator, "LOCAL_DIRS" -> ",")
    val envPaths = variables.flatMap { case (name, separator) => sys.env.get(name).toSeq.flatMap(_.split(separator)) }
    val configured = Option(SparkEnv.get).flatMap(_.conf.getOption("spark.local.dir")).toSeq.flatMap(_.split(","))
    (envPaths ++ configured).map(_.trim).find(d => d.nonEmpty && new File(d).isDirectory)
      .getOrElse(System.getProperty("java.io.tmpdir"))
  }
}
