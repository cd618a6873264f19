package iceberglite.table

import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.metadata.{Operation, Snapshot, SummaryKey, TableMetadata}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.TableProperty
import iceberglite.tree.WrittenTree

/**
 * Creates the summary of a snapshot (spec: "Snapshots"). The counts are defined as in Apache Iceberg. Counts of zero
 * are omitted, except the number of changed partitions; totals of zero are included.
 */
object SnapshotSummary {
  import SummaryKey._

  /**
   * For each total: its key, the key of the count that is added to it, and the key of the count that is subtracted from
   * it.
   */
  private val totals: Vector[(String, String, String)] = Vector(
    (TotalRecords, AddedRecords, DeletedRecords),
    (TotalFilesSize, AddedFilesSize, RemovedFilesSize),
    (TotalDataFiles, AddedDataFiles, DeletedDataFiles),
    (TotalDeleteFiles, AddedDeleteFiles, RemovedDeleteFiles),
    (TotalPositionDeletes, AddedPositionDeletes, RemovedPositionDeletes),
    (TotalEqualityDeletes, AddedEqualityDeletes, RemovedEqualityDeletes)
  )

  /**
   * Returns the summary of a new snapshot.
   *
   * @param base the table metadata, which contains the partition specs and the properties
   * @param engine entries that describe the compute engine, its job and the action; all other entries of the summary
   *   take precedence
   */
  def of(
      operation: Operation,
      base: TableMetadata,
      parent: Option[Snapshot],
      tree: WrittenTree,
      engine: Map[String, String]
  ): Map[String, String] = {
    val removed = tree.removed.map(_.file)
    val changes = counts(tree.added, removed)
    engine ++ changes ++ partitions(base, tree.added, removed) ++ tree.summary ++ totalsAfter(parent, changes) +
      (Snapshot.OperationKey -> operation.name)
  }

  private def counts(added: Vector[ContentFile], removed: Vector[ContentFile]): Map[String, String] = {
    val (newData, newDeletes) = added.partition(_.content == Content.Data)
    val (oldData, oldDeletes) = removed.partition(_.content == Content.Data)
    def records(files: Vector[ContentFile]): Long = files.map(_.recordCountOrZero).sum
    def of(content: Content, files: Vector[ContentFile]): Vector[ContentFile] = files.filter(_.content == content)
    def vectors(files: Vector[ContentFile]): Vector[ContentFile] = files.filter(_.isDeletionVector)
    def positionDeleteFiles(files: Vector[ContentFile]): Vector[ContentFile] =
      of(Content.PositionDeletes, files).filterNot(_.isDeletionVector)
    Vector[(String, Long)](
      AddedDataFiles -> newData.size,
      DeletedDataFiles -> oldData.size,
      AddedDeleteFiles -> newDeletes.size,
      RemovedDeleteFiles -> oldDeletes.size,
      AddedPositionDeleteFiles -> positionDeleteFiles(newDeletes).size,
      RemovedPositionDeleteFiles -> positionDeleteFiles(oldDeletes).size,
      AddedEqualityDeleteFiles -> of(Content.EqualityDeletes, newDeletes).size,
      RemovedEqualityDeleteFiles -> of(Content.EqualityDeletes, oldDeletes).size,
      AddedDeletionVectors -> vectors(newDeletes).size,
      RemovedDeletionVectors -> vectors(oldDeletes).size,
      AddedRecords -> records(newData),
      DeletedRecords -> records(oldData),
      AddedPositionDeletes -> records(of(Content.PositionDeletes, newDeletes)),
      RemovedPositionDeletes -> records(of(Content.PositionDeletes, oldDeletes)),
      AddedEqualityDeletes -> records(of(Content.EqualityDeletes, newDeletes)),
      RemovedEqualityDeletes -> records(of(Content.EqualityDeletes, oldDeletes)),
      AddedFilesSize -> added.map(size).sum,
      RemovedFilesSize -> removed.map(size).sum
    ).collect { case (key, n) if n > 0 => key -> n.toString }.toMap
  }

  /**
   * Returns the size of a file in bytes. For a deletion vector, returns the size of its blob, because its Puffin file
   * may contain the vectors of several data files.
   */
  private def size(file: ContentFile): Long = file.contentSizeInBytes.getOrElse(file.fileSizeInBytes)

  private def partitions(
      base: TableMetadata,
      added: Vector[ContentFile],
      removed: Vector[ContentFile]
  ): Map[String, String] = {
    val changed = (added ++ removed).map(f => (f.specId, f.partition)).distinct
    val counted = Map(ChangedPartitionCount -> changed.size.toString)
    val limit = TableProperty.of(TableProperty.SummaryPartitionLimit, base.properties)
    if (changed.isEmpty || changed.size > limit) counted
    else {
      val (newFiles, oldFiles) = (byPartition(added), byPartition(removed))
      val summaries = changed.flatMap { case key @ (specId, tuple) =>
        val path = DataLocations.partitionPath(base.specsById(specId), tuple)
        val text = counts(newFiles.getOrElse(key, Vector.empty), oldFiles.getOrElse(key, Vector.empty))
          .toVector.sorted.map { case (k, v) => s"$k=$v" }.mkString(",")
        if (path.isEmpty) None else Some((PartitionPrefix + path) -> text)
      }
      counted ++ summaries ++ (if (summaries.nonEmpty) Map(PartitionSummariesIncluded -> "true") else Map.empty)
    }
  }

  private def byPartition(files: Vector[ContentFile]): Map[(Int, PartitionTuple), Vector[ContentFile]] =
    files.groupBy(f => (f.specId, f.partition))

  /**
   * Returns the totals of the new snapshot, computed from the totals of its parent. A total is omitted if it is absent
   * or negative in the parent, or if the result would be negative.
   */
  private def totalsAfter(parent: Option[Snapshot], changes: Map[String, String]): Map[String, String] = {
    def change(key: String): Long = changes.get(key).fold(0L)(_.toLong)
    totals.flatMap { case (total, added, removed) =>
      val before = parent.fold(Option(0L))(_.count(total))
      before.filter(_ >= 0).map(_ + change(added) - change(removed)).filter(_ >= 0).map(n => total -> n.toString)
    }.toMap
  }
}
