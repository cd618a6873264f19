package iceberglite.table

import iceberglite.spec.file.{Content, ContentFile, ManifestContent}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.tree.{MetadataTree, PartFilter}

/** Counts the rows of the data files that a snapshot removed, without rows that were already deleted. */
object RemovedRows {

  /**
   * Returns the number of rows of the removed data files that were live in the parent snapshot. If the table has delete
   * files, the counts in the summary of the snapshot are not sufficient, because a removed delete file may reference a
   * data file that was removed earlier. In this case, the entries of delete files are read from the metadata tree.
   *
   * @return absent if the number could be determined only by reading the contents of delete files. This is the case if
   *   equality deletes, or position delete files for several data files, may apply to a removed data file. It is also
   *   the case if several position delete files apply to one data file, because they may delete the same row
   */
  def count(table: Table, snapshot: Snapshot): Option[Long] = {
    def sum(keys: String*): Long = keys.flatMap(snapshot.count(_)).sum
    val records = sum(SummaryKey.DeletedRecords)
    val equalityDeletes = sum(SummaryKey.TotalEqualityDeletes, SummaryKey.RemovedEqualityDeletes)
    val positionDeletes = sum(SummaryKey.TotalPositionDeletes, SummaryKey.RemovedPositionDeletes)
    // A snapshot has no totals if its parent, from another writer, has none.
    val hasTotals =
      Seq(SummaryKey.TotalEqualityDeletes, SummaryKey.TotalPositionDeletes).forall(snapshot.count(_).isDefined)
    if (records == 0 || hasTotals && equalityDeletes == 0 && positionDeletes == 0) Some(records)
    else if (equalityDeletes > 0) None
    else ofFiles(table, snapshot)
  }

  private def ofFiles(table: Table, snapshot: Snapshot): Option[Long] = {
    val tree = MetadataTree.at(snapshot, table.tree())
    val removed = tree.changes(PartFilter.All).filterNot(_.isLive).map(_.file).toVector
    val (data, removedDeletes) = removed.partition(_.content == Content.Data)
    // Position delete files that reference no single data file apply to the data files of their partition (spec: "Scan
    // Planning").
    val (paths, partitions) = (data.map(_.path).toSet, data.map(file => (file.specId, file.partition)).toSet)
    def mayApply(file: ContentFile): Boolean = file.onlyDataFile match {
      case Some(path) => paths(path)
      case None => file.content == Content.EqualityDeletes || partitions((file.specId, file.partition))
    }
    val kept = tree.parts.iterator.filter(_.content == ManifestContent.Deletes).flatMap(tree.entries(_))
      .filter(_.isLive).map(_.file)
    val deletes = (removedDeletes.iterator ++ kept).filter(mayApply).toVector
    if (deletes.exists(_.onlyDataFile.isEmpty)) None
    else {
      val byFile = deletes.groupBy(_.onlyDataFile.mkString)
      val deletedRows = data.map(file => byFile.get(file.path).fold[Option[Long]](Some(0L))(deletedIn))
      if (deletedRows.contains(None)) None else Some(data.map(_.recordCountOrZero).sum - deletedRows.flatten.sum)
    }
  }

  /**
   * Returns the number of rows that the delete files of one data file delete; absent if it is unknown. If there is a
   * deletion vector, position delete files do not apply.
   */
  private def deletedIn(deletes: Vector[ContentFile]): Option[Long] =
    deletes.find(_.isDeletionVector).orElse(deletes.headOption.filter(_ => deletes.size == 1)).map(_.recordCountOrZero)
}
