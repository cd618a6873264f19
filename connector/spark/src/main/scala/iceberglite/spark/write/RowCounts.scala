package iceberglite.spark.write

import org.apache.spark.sql.connector.write.RowLevelOperation.Command

/**
 * Codes for the change of a row in copy-on-write. The `_spec_id` column of a changed row contains a code instead of the
 * partition spec id of the row's file. Codes are negative, and partition spec ids are not. The column of an unchanged
 * row contains the partition spec id.
 */
private[iceberglite] object RowChangeCode {
  val Updated: Int = -1
  val Deleted: Int = -2
  val Inserted: Int = -3

  /** Whether a value is a code of a changed row, and not a partition spec id. */
  def isChange(value: Int): Boolean = value < 0
}

/** The numbers of changed rows, and of rows copied unchanged, of one task or of a whole statement. */
final private[iceberglite] case class RowCounts(inserted: Long, updated: Long, deleted: Long, copied: Long) {
  import RowCounts._

  def +(that: RowCounts): RowCounts = RowCounts(
    inserted + that.inserted,
    updated + that.updated,
    deleted + that.deleted,
    copied + that.copied
  )

  /**
   * Returns the counts as entries of a snapshot's summary.
   *
   * @param deletedAreKnown whether the count of deleted rows is correct; if not, the count is omitted
   */
  def summary(command: Command, deletedAreKnown: Boolean): Map[String, String] = {
    val entries = command match {
      case Command.DELETE => Seq(DeleteDeleted -> deleted, DeleteCopied -> copied)
      case Command.UPDATE => Seq(UpdateUpdated -> updated, UpdateCopied -> copied)
      case Command.MERGE =>
        Seq(MergeInserted -> inserted, MergeUpdated -> updated, MergeDeleted -> deleted, MergeCopied -> copied)
    }
    entries.collect { case (key, count) if deletedAreKnown || !deletedKeys(key) => key -> count.toString }.toMap
  }
}

/**
 * Determines how the changed rows of a copy-on-write statement are counted.
 *
 * @param marksDeletes whether the tasks count deleted rows
 */
final private[iceberglite] case class RowCounting(command: Command, marksDeletes: Boolean) {

  /**
   * Returns the entries of a snapshot's summary.
   *
   * @param live the number of rows in the files that were read, without deleted rows; absent if the driver does not
   *   know the number
   */
  def summary(counts: RowCounts, live: Option[Long]): Map[String, String] = live match {
    case Some(liveRows) =>
      counts.copy(deleted = liveRows - counts.copied - counts.updated).summary(command, deletedAreKnown = true)
    case None => counts.summary(command, deletedAreKnown = marksDeletes)
  }
}

/** The keys of the counts in the snapshot summary, as in Apache Iceberg for Spark 4.1 and later. */
private[iceberglite] object RowCounts {
  val DeleteDeleted: String = "spark.delete.num-deleted-rows"
  val DeleteCopied: String = "spark.delete.num-copied-rows"
  val UpdateUpdated: String = "spark.update.num-updated-rows"
  val UpdateCopied: String = "spark.update.num-copied-rows"
  val MergeInserted: String = "spark.merge-into.num-target-rows-inserted"
  val MergeUpdated: String = "spark.merge-into.num-target-rows-updated"
  val MergeDeleted: String = "spark.merge-into.num-target-rows-deleted"
  val MergeCopied: String = "spark.merge-into.num-target-rows-copied"

  private val deletedKeys: Set[String] = Set(DeleteDeleted, MergeDeleted)

  private[iceberglite] val Zero: RowCounts = RowCounts(0, 0, 0, 0)
}
