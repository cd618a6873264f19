package iceberglite.scan

import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  InclusiveMetrics,
  ManifestContent,
  ManifestEntry,
  PartSummary
}
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO
import iceberglite.tree.{FilePart, MetadataPool, PartFilter, PartitionSpecs, SnapshotFiles, TreeTable}
import iceberglite.tree.manifestlist.PackedEntries

/**
 * Selects the files of a scan from the parts of a metadata tree. Serializable, so that other JVMs can read parts.
 *
 * @param schemas all schemas of the table, for the columns of equality deletes
 * @param read a condition that holds for all rows to be read; these may be more than the rows that match the filter
 */
final class PartReading private (
    io: FileIO,
    specs: PartitionSpecs,
    schema: Schema,
    schemas: Vector[Schema],
    bound: Expression,
    read: Expression,
    keeps: StatsToKeep
) extends PartFilter
    with Serializable {

  private[scan] def this(table: TreeTable, bound: Expression, read: Expression, keeps: StatsToKeep) = this(
    table.io,
    table.specs,
    table.schema,
    table.metadata.schemas,
    bound,
    read,
    keeps
  )

  /** Returns a copy that keeps these metrics of the files. */
  private[scan] def keeping(metrics: StatsToKeep): PartReading =
    new PartReading(io, specs, schema, schemas, bound, read, metrics)

  @transient private lazy val filter = new FileFilter(bound, specs)
  @transient private[scan] lazy val keys: KeyColumns = new KeyColumns(schema, schemas)
  @transient private lazy val relevant = new DeletesOf(read, keys)

  override def mightMatch(part: PartSummary): Boolean = filter.mightMatch(part)

  /** Returns the data files of a part that the scan reads. */
  private[scan] def select(part: FilePart, entries: Iterator[ManifestEntry]): PlannedPart =
    PlannedPart.of(entries, specs.of(part), filter.of(part).byPartition, keeps)

  /**
   * Returns the delete files of a part that may apply to the files that the scan reads. Delete files of partitions
   * without matching rows are left out, because the scan reads no data of these partitions.
   */
  private[scan] def deletes(part: FilePart, entries: Iterator[ManifestEntry], oldest: Long): Vector[ManifestEntry] = {
    val partitions = filter.of(part).byPartition
    entries.filter { e =>
      e.isLive && !partitions.of(e.file.partition).isEmpty && e.sequenceNumber.forall(_ >= oldest) && relevant(e.file)
    }.toVector
  }

  /**
   * Reads a part and encodes the entries that the scan needs, to be sent to the JVM that plans the scan. Called in
   * another JVM, which caches nothing.
   *
   * @param oldest for deletes: the sequence number of the oldest data that is read
   */
  def packed(part: FilePart, oldest: Long): Array[Byte] = {
    val entries = part.entries(io)
    val (kept, pruned) = part.content match {
      case ManifestContent.Data =>
        val selected = select(part, entries)
        (selected.tasks.iterator.map(t => PartReading.entry(t.file, t.dataSequenceNumber)), selected.pruned)
      case ManifestContent.Deletes =>
        val found = deletes(part, entries, oldest)
        (found.iterator.map(e => PartReading.entry(e.file, e.sequenceNumber.getOrElse(0L))), 0)
    }
    PackedEntries.write(part, specs, kept, pruned)
  }

  private[scan] def unpacked(part: FilePart, bytes: Array[Byte]): (Iterator[ManifestEntry], Int) =
    PackedEntries.read(part, specs, bytes)
}

private object PartReading {

  /** Returns an entry that inherits no values. */
  def entry(file: ContentFile, dataSequenceNumber: Long): ManifestEntry =
    ManifestEntry(EntryStatus.Existing, Some(0L), Some(dataSequenceNumber), Some(dataSequenceNumber), file)
}

/** Other JVMs that read the parts of a metadata tree for this one. */
trait PlanningCluster {

  /**
   * Returns whether the cluster should read the parts, because this JVM would take longer. Either all parts list data
   * files, or all list delete files.
   */
  def takes(parts: Vector[FilePart]): Boolean

  /**
   * Returns the results of `reading.packed(_, oldest)` for the parts, in their order. Each part is requested once.
   *
   * @throws iceberglite.spec.IcebergError a part cannot be read
   */
  def read(parts: Vector[FilePart], reading: PartReading, oldest: Long): Iterator[Array[Byte]]
}

/** Reads the parts of a snapshot's tree for a scan, in this JVM or with a cluster. */
final private[scan] class PartPlanner(
    val reading: PartReading,
    files: Option[SnapshotFiles],
    cluster: Option[PlanningCluster]
) {

  /** Returns a planner for the same files that keeps these metrics. */
  def keeping(metrics: StatsToKeep): PartPlanner = new PartPlanner(reading.keeping(metrics), files, cluster)

  def select(parts: Vector[FilePart]): Vector[PlannedPart] = clusterFor(parts) match {
    case None => MetadataPool.map(parts)(p => reading.select(p, entries(p)))
    case Some(other) =>
      parts.iterator.zip(other.read(parts, reading, 0L)).map { case (part, bytes) =>
        val (entries, pruned) = reading.unpacked(part, bytes)
        reading.select(part, entries).copy(pruned = pruned)
      }.toVector
  }

  def deletes(parts: Vector[FilePart], oldest: Long): Vector[ManifestEntry] = clusterFor(parts) match {
    case None => MetadataPool.map(parts)(p => reading.deletes(p, entries(p), oldest)).flatten
    case Some(other) =>
      parts.iterator.zip(other.read(parts, reading, oldest)).flatMap { case (part, bytes) =>
        reading.unpacked(part, bytes)._1
      }.toVector
  }

  private def entries(part: FilePart): Iterator[ManifestEntry] = files.iterator.flatMap(_.entries(part))

  private def clusterFor(parts: Vector[FilePart]): Option[PlanningCluster] =
    cluster.filter(other => parts.nonEmpty && other.takes(parts))
}

/**
 * Selects the delete files that may delete rows that are read (spec: "Scan Planning", note 2). An equality delete file
 * without a matching key deletes none of them. The metrics of position deletes are not checked, because most files have
 * no metrics for the deleted rows.
 */
final private class DeletesOf(bound: Expression, keys: KeyColumns) extends (ContentFile => Boolean) {
  private val metrics = new InclusiveMetrics(bound)

  override def apply(deletes: ContentFile): Boolean =
    bound == AlwaysTrue || deletes.content != Content.EqualityDeletes ||
      keys.keyOf(deletes).forall(key => metrics.mightMatch(deletes.copy(metrics = key.metricsOf(deletes))))
}
