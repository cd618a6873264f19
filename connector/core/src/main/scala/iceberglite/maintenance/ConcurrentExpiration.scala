package iceberglite.maintenance

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.table.Table

/** Reads the metadata of a table whose snapshots may be expired at the same time. */
private[maintenance] object ConcurrentExpiration {
  private val Attempts = 5

  /**
   * Reads the metadata of a version of a table. If a file cannot be read and the table has a newer version, a
   * concurrent expiration may have deleted the file, and the newest version is read instead.
   *
   * @param attempts the number of remaining attempts
   * @throws UnreadableFile if a file of the newest version cannot be read, or in the last attempt
   */
  @tailrec
  def retry[A](version: Table, attempts: Int = Attempts)(read: Table => A): A = {
    val result =
      try Right(read(version))
      catch {
        case lost: UnreadableFile =>
          val newer = version.refresh()
          if (attempts == 1 || newer.metadataLocation == version.metadataLocation) throw lost
          Left(newer)
      }
    result match {
      case Right(a) => a
      case Left(newer) => retry(newer, attempts - 1)(read)
    }
  }
}
