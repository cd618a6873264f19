package iceberglite.spark.read.deletes

import java.io.File

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{DeleteCache, DeleteCacheLimits, DeleteSharing}
import iceberglite.spark.conf.{DeleteCacheOptions, Settings}
import iceberglite.table.Table

/**
 * How the tasks of a scan share what they read of delete files.
 *
 * @param owner the table by its full name, and a hash of the settings of its storage: the same name with other
 *   credentials is another owner
 */
final private[spark] case class DeleteCacheSettings(owner: String, enabled: Boolean, limits: DeleteCacheLimits) {

  /** On an executor, for one task. */
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

private[spark] object DeleteCacheSettings {

  /** @throws iceberglite.spec.IcebergError.InvalidArgument for a value that cannot be */
  def of(session: SparkSession, table: Table, storage: Configuration): DeleteCacheSettings = {
    val settings = Settings.of(CaseInsensitiveStringMap.empty, session, table.properties)
    val pairs = storage.asScala.map(e => e.getKey -> e.getValue)
    DeleteCacheSettings(
      s"${table.name} ${table.metadata.uuid.fold("")(_.toString)} ${MurmurHash3.unorderedHash(pairs)}",
      settings(DeleteCacheOptions.Enabled) && settings(DeleteCacheOptions.DeleteFilesEnabled),
      DeleteCacheLimits(
        settings(DeleteCacheOptions.MaxEntrySize),
        settings(DeleteCacheOptions.MaxTotalSize),
        settings(DeleteCacheOptions.Timeout)
      )
    )
  }

  /** Where Spark puts its own temporary files, by the cluster's word first. */
  private def localDirectory: String = {
    val variables = Seq("SPARK_EXECUTOR_DIRS" -> File.pathSeparator, "LOCAL_DIRS" -> ",")
    val named = variables.flatMap { case (name, between) => sys.env.get(name).toSeq.flatMap(_.split(between)) }
    val configured = Option(SparkEnv.get).flatMap(_.conf.getOption("spark.local.dir")).toSeq.flatMap(_.split(","))
    (named ++ configured).map(_.trim).find(d => d.nonEmpty && new File(d).isDirectory)
      .getOrElse(System.getProperty("java.io.tmpdir"))
  }
}
