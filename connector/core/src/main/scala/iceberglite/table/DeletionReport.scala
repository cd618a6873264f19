package iceberglite.table

import org.slf4j.LoggerFactory

import iceberglite.spec.Redaction

/** The reason why a file was not deleted. */
sealed trait KeptReason {

  /** Returns the reason as the last clause of a log message, in which "they" are the kept files. */
  def text: String
}

object KeptReason {

  case object Outside extends KeptReason {
    override def text: String =
      "they are outside the directories that the table owns; the catalog property owned-locations adds directories"
  }

  /** Storage systems may interpret the path in different ways, so it is unclear which file would be deleted. */
  case object UnclearPath extends KeptReason {
    override def text: String =
      "their paths are relative, begin with two slashes, or contain the segments . or .. or control characters"
  }

  final case class Linked(directory: String) extends KeptReason {
    override def text: String = s"a symbolic link leads out of $directory"
  }

  /** The directory belongs to another table. `evidence` states what shows this. */
  final case class InOtherTable(directory: String, evidence: String) extends KeptReason {
    override def text: String = s"$directory belongs to another table ($evidence)"
  }

  case object InDirectoryOfOther extends KeptReason {
    override def text: String = "they are in a directory that belongs to another table according to its metadata"
  }

  final case class UsedByOther(directory: String) extends KeptReason {
    override def text: String = s"another table in $directory refers to them"
  }

  /** Only the table's metadata, which may be forged, states that the directory belongs to the table. */
  final case class Unproven(directory: String) extends KeptReason {
    override def text: String =
      s"only the table's metadata states that $directory belongs to the table, and the metadata folder of this " +
        "directory does not contain the table's current metadata file"
  }

  final case class Unchecked(directory: String, failure: String) extends KeptReason {
    override def text: String = s"it could not be checked whether $directory belongs to another table ($failure)"
  }

  /**
   * The file's name, folder and UUID do not show that it is a metadata file of the table, or the file could not be
   * read.
   */
  case object NotItsMetadata extends KeptReason {
    override def text: String = "it could not be confirmed that they are metadata files of this table"
  }

  /** Metadata files that list other files. The files that they list remain too. */
  case object Unread extends KeptReason {
    override def text: String =
      "they could not be read, so the files that they list were not deleted either; the log contains the errors"
  }

  case object NotDeleted extends KeptReason {
    override def text: String = "the storage could not delete them; the log contains the errors"
  }
}

/** The files that were kept for the same reason. @param example the path of one of these files */
final case class RetainedFiles(reason: KeptReason, count: Long, example: String)

/**
 * The result of a deletion of files.
 *
 * @param deleted the number of files that were deleted or were already missing
 * @param kept the files that were not deleted, by reason
 */
final case class DeletionReport(deleted: Long, kept: Vector[RetainedFiles]) {
  def ++(that: DeletionReport): DeletionReport = {
    val all = (kept ++ that.kept).groupBy(_.reason).values.map(same => same.head.copy(count = same.map(_.count).sum))
    DeletionReport(deleted + that.deleted, all.toVector.sortBy(_.reason.text))
  }

  /** Logs the files that were kept, one line per reason. @param what the operation, such as "Purging lite.db.t" */
  def warn(what: String): Unit = kept.foreach { files =>
    DeletionReport.log.warn(
      Redaction(s"$what kept ${files.count} file(s), for example ${files.example}: ${files.reason.text}")
    )
  }
}

object DeletionReport {
  private val log = LoggerFactory.getLogger("iceberglite.table.DeletionReport")

  val Empty: DeletionReport = DeletionReport(0, Vector.empty)

  /** Returns a report. @param paths each path, with the reason if the file was kept */
  def ofAll(paths: Vector[(String, Option[KeptReason])]): DeletionReport = {
    val kept = paths.collect { case (path, Some(reason)) => path -> reason }
    of(paths.size.toLong - kept.size, kept)
  }

  /** Returns a report that groups the kept files by reason. @param kept each kept path with the reason */
  def of(deleted: Long, kept: Vector[(String, KeptReason)]): DeletionReport = {
    val groups = kept.groupBy(_._2).map { case (reason, same) => RetainedFiles(reason, same.size.toLong, same.head._1) }
    DeletionReport(deleted, groups.toVector.sortBy(_.reason.text))
  }
}
