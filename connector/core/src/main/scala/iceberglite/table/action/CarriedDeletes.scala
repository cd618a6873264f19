package iceberglite.table.action

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.conflict.{BranchHistory, DeleteApplicability}
import iceberglite.tree.FilePartitions

/**
 * A data file and delete files with positions of its rows.
 *
 * @param deletes the manifest entries of position delete files or deletion vectors
 */
final case class DeletedPositions(dataFile: ContentFile, deletes: Vector[ManifestEntry])

/**
 * Applies deletes to the new files of a rewrite: the rows that other commits have deleted from the replaced files are
 * also deleted from the new files.
 */
trait DeleteCarrier {

  /**
   * Writes delete files for the new data files. If another commit comes first, this method is called again, with all
   * deletes since the rewrite read the data files. The result may contain delete files that earlier calls returned.
   *
   * @param deleted the replaced data files that have new deletes. The delete files may also name rows that were already
   *   deleted when the rewrite read the data files
   * @param base the version of the table that the commit is based on
   * @return the delete files. If they cannot all be written, none of them remains
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the rows cannot be found in the new files
   */
  def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile]
}

/**
 * The position deletes that other commits added for the data files of a rewrite, carried over to the new files. A later
 * attempt of the commit reuses the carried deletes if no further deletes were added.
 *
 * @param data the replaced data files
 * @param since the id of the snapshot that the rewrite has read
 */
final private[action] class CarriedDeletes(carrier: DeleteCarrier, data: Vector[ContentFile], since: Long) {
  private val byPath = data.map(f => f.path -> f).toMap
  private var carried: Option[(CarriedDeletes.Key, Vector[ContentFile])] = None
  private var written = Set.empty[String]
  private var carriedMore = false

  /** Whether the last call of [[of]] carried over deletes that no earlier call had carried over. */
  def hasCarriedMore: Boolean = carriedMore

  /** The paths of all delete files that were written, in any attempt. */
  def writtenPaths: Set[String] = written

  /** Returns delete files for the new data files. @param sinceNumber the sequence number of the snapshot `since` */
  def of(sinceNumber: Long, base: TableMetadata, history: BranchHistory): Vector[ContentFile] = {
    val deletes = newDeletes(sinceNumber, base, history)
    val key = CarriedDeletes.Key(deletes.iterator.map(e => ListedFileKey.of(e.file)).toSet, base.formatVersion)
    carriedMore = false
    carried.collect { case (earlier, files) if earlier == key => files }.getOrElse {
      val deleted = byDataFile(deletes, base)
      carriedMore = deleted.nonEmpty
      val files = if (deleted.isEmpty) Vector.empty else carrier.carry(deleted, base)
      written ++= files.map(_.path)
      carried = Some((key, files))
      files
    }
  }

  /**
   * Returns the live position deletes that were added after the snapshot. Only live delete files are relevant, because
   * a delete file that was removed since then was replaced by a delete file with the same positions.
   */
  private def newDeletes(sinceNumber: Long, base: TableMetadata, history: BranchHistory): Vector[ManifestEntry] =
    if (data.isEmpty || history.concurrentCommits(Some(since)).isEmpty) Vector.empty
    else history.liveEntries(ManifestContent.Deletes, new FilePartitions(data, base)) { e =>
      e.file.content == Content.PositionDeletes && e.sequenceNumber.exists(_ > sinceNumber) &&
      DeleteApplicability.affectedFile(e.file, byPath, base).isDefined
    }

  private def byDataFile(deletes: Vector[ManifestEntry], base: TableMetadata): Vector[DeletedPositions] = {
    val (ofOneFile, ofSeveralFiles) = deletes.partition(_.file.onlyDataFile.isDefined)
    val ofFile = ofOneFile.groupBy(_.file.onlyDataFile.mkString)
    val deleted = data.flatMap { file =>
      val shared =
        ofSeveralFiles.filter(e => DeleteApplicability.affectedFile(e.file, Map(file.path -> file), base).isDefined)
      val all = ofFile.getOrElse(file.path, Vector.empty) ++ shared
      if (all.isEmpty) None else Some(DeletedPositions(file, all))
    }
    checkPaths(deleted)
    deleted
  }

  /**
   * Fails if a data file with new deletes is replaced several times. A position then names a row of each entry of the
   * file, but a carrier finds rows by path and position, so it would find only one of them.
   */
  private def checkPaths(deleted: Vector[DeletedPositions]): Unit =
    deleted.map(_.dataFile.path).groupBy(identity).find(_._2.size > 1).foreach { case (path, entries) =>
      throw ConcurrentChange(
        s"Cannot rewrite $path: the table contains the file ${entries.size} times, and another commit has deleted " +
          "rows of it. Run the rewrite again"
      )
    }
}

private object CarriedDeletes {

  /**
   * Identifies the input of a call of the carrier. The format version determines whether the carried deletes are
   * deletion vectors.
   */
  final private case class Key(deletes: Set[ListedFileKey], version: FormatVersion)
}
