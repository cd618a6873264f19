package iceberglite.table

import scala.annotation.tailrec

import iceberglite.storage.{FileIO, MetadataFiles, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Deletes files, except those that the table does not own. A file that cannot be deleted is reported, and the remaining
 * files are still deleted.
 *
 * On S3, one request deletes up to 1,000 files. On other storages, each file is deleted by a separate request, because
 * the file system interface of Hadoop 3.3, which Spark 3.5 uses, cannot delete several files by one request.
 *
 * @param maxConcurrent the maximum number of requests at the same time
 * @param environment waits before failed deletions are repeated, and runs the deletions
 */
final class OwnedDeletion(
    io: FileIO,
    owned: OwnedPaths,
    maxConcurrent: Int = MetadataPool.Width,
    environment: Environment = Environment.system
) {

  /** Deletes files. @return the number of deleted files, and the files that were kept */
  def apply(paths: Vector[String]): DeletionReport = DeletionReport.ofAll(delete(paths))

  /** Deletes files. @return each path, with the reason if the file was kept */
  def delete(paths: Vector[String]): Vector[(String, Option[KeptReason])] = deleteUnlessKept(owned.reasonsToKeep(paths))

  /**
   * Deletes metadata files that were removed from the metadata log.
   *
   * @param version the current version of the table; only files in the folder of its metadata file are deleted
   * @param hasVersionNames whether the table's metadata files are named `v<N>.metadata.json`
   */
  def deleteExpired(paths: Vector[String], version: TableVersion, hasVersionNames: Boolean): DeletionReport =
    DeletionReport.ofAll(deleteUnlessKept(paths.map { path =>
      path -> owned.reasonToKeepOwnMetadata(path).orElse {
        val isOwnMetadata =
          isInSameFolder(path, version.metadataLocation) && hasExpectedName(path, hasVersionNames) && hasUuid(
            path,
            version
          )
        if (isOwnMetadata) None else Some(KeptReason.NotItsMetadata)
      }
    }))

  private def deleteUnlessKept(
      reasons: Vector[(String, Option[KeptReason])]
  ): Vector[(String, Option[KeptReason])] = {
    val deletable = reasons.collect { case (path, None) => path }
    val failed = deleteWithRetries(deletable, OwnedDeletion.retries(environment)).toSet
    reasons.map { case (path, kept) => path -> kept.orElse(Some(KeptReason.NotDeleted).filter(_ => failed(path))) }
  }

  /**
   * Deletes files, and returns the paths that could not be deleted. Storage systems reject requests if there are too
   * many at a time. Therefore the retries wait with exponential backoff.
   */
  @tailrec
  private def deleteWithRetries(paths: Vector[String], retries: RetryPolicy): Vector[String] = {
    val failed = environment.pool.map(io.deletionGroups(paths), maxConcurrent)(Cleanup.deleteOrList(io, _)).flatten
    if (failed.isEmpty || !mayRetry(retries)) failed else deleteWithRetries(failed, retries)
  }

  /** Waits before the next retry. An interrupt ends the retries, but not the operation that deletes the files. */
  private def mayRetry(retries: RetryPolicy): Boolean =
    try retries.waitForNext()
    catch {
      case _: InterruptedException =>
        Thread.currentThread.interrupt()
        false
    }

  private def isInSameFolder(path: String, other: String): Boolean = {
    def folder(file: String) = StoragePath.of(file, io.defaultFileSystem).map(_.parent)
    folder(path).isDefined && folder(path) == folder(other)
  }

  private def hasExpectedName(path: String, hasVersionNames: Boolean): Boolean =
    MetadataFiles.version(path).isDefined && MetadataFiles.isVersionName(path) == hasVersionNames

  /**
   * Returns whether the metadata file has the table's UUID. If the file is missing or unreadable, returns false and
   * logs a warning.
   */
  private def hasUuid(path: String, version: TableVersion): Boolean = {
    var found = false
    Cleanup.quietly(s"read the table UUID in $path") {
      found = version.metadata.uuid.isDefined && MetadataFiles.uuid(io, path) == version.metadata.uuid
    }
    found
  }
}

private object OwnedDeletion {
  private val Retries = 3
  private val MinWaitMs = 50L
  private val MaxWaitMs = 1000L
  private val TotalMs = 10000L

  def retries(environment: Environment): RetryPolicy =
    new RetryPolicy(Retries, MinWaitMs, MaxWaitMs, TotalMs, environment)
}
