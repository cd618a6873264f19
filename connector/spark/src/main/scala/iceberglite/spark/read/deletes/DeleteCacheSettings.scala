package iceberglite.spark.read.deletes

import java.io.File

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.deletes.{DeleteCache, DeleteCacheAccess}
import iceberglite.spark.conf.{DeleteCacheOptions, Settings}
import iceberglite.storage.LruCache
import iceberglite.table.Table

/**
 * The settings of the cache through which the tasks of an executor share decoded delete files.
 *
 * @param storageKey the table's full name and UUID, and a hash of its storage settings. Different credentials result in
 *   different storage keys, so that tasks with different credentials do not share decoded delete files.
 * @param enabled whether tasks share a cache; otherwise, each task has its own cache
 */
final private[iceberglite] case class DeleteCacheSettings(
    storageKey: String,
    enabled: Boolean,
    limits: LruCache.Limits
) {

  /** Returns the access of one task to the cache. This method is called on executors. */
  def cacheAccess: DeleteCacheAccess =
    if (enabled) DeleteCacheAccess(DeleteCache.shared, storageKey, limits, DeleteCacheSettings.localDirectory)
    else
      DeleteCacheAccess(
        new DeleteCache(),
        storageKey,
        limits.copy(idleMs = Long.MaxValue),
        DeleteCacheSettings.localDirectory
      )
}

private[iceberglite] object DeleteCacheSettings {

  /** Reads the settings. @throws iceberglite.spec.IcebergError.InvalidArgument if a value is invalid */
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

  /**
   * Returns Spark's directory for temporary files. The environment variables of the cluster manager take precedence
   * over `spark.local.dir`.
   */
  private def localDirectory: String = {
    val variables = Seq("SPARK_EXECUTOR_DIRS" -> File.pathSeparator, "LOCAL_DIRS" -> ",")
    val envPaths = variables.flatMap { case (name, separator) => sys.env.get(name).toSeq.flatMap(_.split(separator)) }
    val configured = Option(SparkEnv.get).flatMap(_.conf.getOption("spark.local.dir")).toSeq.flatMap(_.split(","))
    (envPaths ++ configured).map(_.trim).find(d => d.nonEmpty && new File(d).isDirectory)
      .getOrElse(System.getProperty("java.io.tmpdir"))
  }
}
