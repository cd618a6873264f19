package iceberglite.spark.write

import org.apache.spark.sql.connector.write.RowLevelOperation.Command

/**
 * What became of a row that copy-on-write hands over, in the place where the partition spec of the row's file stands, which
 * is never below zero, as long as the row is what it was.
 */
private[spark] object RowChange {
  val Updated: Int = -1
  val Deleted: Int = -2
  val Inserted: Int = -3
}

/** How many rows became what, of one task or of a whole statement. */
final private[write] case class RowCounts(inserted: Long, updated: Long, deleted: Long, copied: Long) {
  import RowCounts._

  def +(that: RowCounts): RowCounts = RowCounts(
    inserted + that.inserted,
    updated + that.updated,
    deleted + that.deleted,
    copied + that.copied
  )

  /**
   * Entries of a snapshot's summary.
   *
   * @param deletedAreKnown whether the count of deleted rows is right; else it is left out
   */
  def summary(command: Command, deletedAreKnown: Boolean): Map[String, String] = {
    val entries = command match {
      case Command.DELETE => Seq(DeleteDeleted -> deleted, DeleteCopied -> copied)
      case Command.UPDATE => Seq(UpdateUpdated -> updated, UpdateCopied -> copied)
      case Command.MERGE =>
        Seq(MergeInserted -> inserted, MergeUpdated -> updated, MergeDeleted -> deleted, MergeCopied -> copied)
    }
    entries.collect { case (key, count) if deletedAreKnown || !ofDeleted(key) => key -> count.toString }.toMap
  }
}

/**
 * How the rows of copy-on-write are counted.
 *
 * @param marksDeletes whether the tasks count deleted rows
 */
final private[write] case class CountedRows(command: Command, marksDeletes: Boolean) {

  /** @param live how many rows the files had that were read; absent where only the tasks know */
  def summary(counts: RowCounts, live: Option[Long]): Map[String, String] = live match {
    case Some(rows) =>
      counts.copy(deleted = rows - counts.copied - counts.updated).summary(command, deletedAreKnown = true)
    case None => counts.summary(command, deletedAreKnown = marksDeletes)
  }
}

/** The keys are those that Apache Iceberg has from Spark 4.1 on. */
private[spark] object RowCounts {
  val DeleteDeleted: String = "spark.delete.num-deleted-rows"
  val DeleteCopied: String = "spark.delete.num-copied-rows"
  val UpdateUpdated: String = "spark.update.num-updated-rows"
  val UpdateCopied: String = "spark.update.num-copied-rows"
  val MergeInserted: String = "spark.merge-into.num-target-rows-inserted"
  val MergeUpdated: String = "spark.merge-into.num-target-rows-updated"
  val MergeDeleted: String = "spark.merge-into.num-target-rows-deleted"
  val MergeCopied: String = "spark.merge-into.num-target-rows-copied"

  private val ofDeleted: Set[String] = Set(DeleteDeleted, MergeDeleted)

  private[write] val Zero: RowCounts = RowCounts(0, 0, 0, 0)
}
