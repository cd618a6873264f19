package iceberglite.maintenance.health

import java.util.concurrent.TimeUnit.DAYS

import scala.collection.mutable.ArrayBuffer

import iceberglite.maintenance.orphan.{OrphanOptions, OrphanRemoval, OrphanSearch}
import iceberglite.spec.{IcebergError, Redaction}
import iceberglite.table.Table
import iceberglite.tree.MetadataPool

/** The orphan files in the directory of a table. */
sealed trait OrphanHealth

object OrphanHealth {

  /** The directory was not searched. */
  case object NotSearched extends OrphanHealth

  /** The directory cannot be searched. @param reason why, as a sentence */
  final case class Unknown(reason: String) extends OrphanHealth

  /**
   * The orphan files by the time since their last modification. Files younger than a day may belong to a commit in
   * progress, and are not counted. Files that the removal of orphan files would keep are not counted either.
   *
   * @param recent the number of files that are 1 to 3 days old, which the maintenance does not remove yet
   * @param removable the number of files older than 3 days
   * @param old the number of files older than 30 days; these files are also counted in `removable`
   * @param removableBytes the size of the removable files
   */
  final case class Found(recent: Long, removable: Long, old: Long, removableBytes: Long) extends OrphanHealth

  private val OldMs = DAYS.toMillis(30)

  /** The number of files in a batch, whose sizes and modification times are read together. */
  private val BatchFiles = 10000

  /**
   * Searches the directory of a table without changing anything.
   *
   * @param nowMs the current time in milliseconds since the epoch
   */
  def of(table: Table, search: OrphanSearch, nowMs: Long): OrphanHealth =
    try {
      val options = OrphanOptions(nowMs - OrphanOptions.MinAgeMs)
      val batch = ArrayBuffer.empty[String]
      var found = Found(0, 0, 0, 0)
      def count(): Unit = {
        found = add(found, table, batch.toVector, nowMs)
        batch.clear()
      }
      new OrphanRemoval(table, OrphanRemoval.directory(None), search, options).dryRun { file =>
        if (file.kept.isEmpty) batch += file.path
        if (batch.size == BatchFiles) count()
      }
      count()
      found
    } catch {
      case e: IcebergError => Unknown(Redaction(e.getMessage))
    }

  /** Returns the counts with further orphan files, all of which are older than a day. */
  private def add(found: Found, table: Table, paths: Vector[String], nowMs: Long): Found = {
    val files = MetadataPool.map(paths)(table.io.info(_)).flatten
    val removable = files.filter(_.modifiedMs < nowMs - OrphanOptions.DefaultAgeMs)
    Found(
      found.recent + files.size - removable.size,
      found.removable + removable.size,
      found.old + removable.count(_.modifiedMs < nowMs - OldMs),
      found.removableBytes + removable.map(_.length).sum
    )
  }
}
