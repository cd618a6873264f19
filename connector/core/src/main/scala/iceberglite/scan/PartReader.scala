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
import iceberglite.tree.{FilePart, MetadataPool, MetadataTree, PartFilter, PartitionSpecs, SnapshotFiles, TreeTable}
import iceberglite.scan.deletes.EqualityIdColumns

/**
 * Selects the files of a scan from the parts of a metadata tree (in format versions 1 to 3, the manifests).
 * Serializable, so that executors can read parts.
 *
 * @param schemas all schemas of the table, which define the columns of equality deletes
 * @param bound the filter, bound to `schema`
 * @param read a condition that all rows of the scan's result satisfy. Delete files that apply only to other rows are
 *   omitted. The condition is the filter, or always true if the scan reads whole files
 */
final class PartReader private (
    io: FileIO,
    specs: PartitionSpecs,
    schema: Schema,
    schemas: Vector[Schema],
    bound: Expression,
    read: Expression,
    statsToKeep: StatsToKeep
) extends PartFilter
    with Serializable {

  private[scan] def this(table: TreeTable, bound: Expression, read: Expression, statsToKeep: StatsToKeep) = this(
    table.io,
    table.specs,
    table.schema,
    table.metadata.schemas,
    bound,
    read,
    statsToKeep
  )

  /** Returns a copy that retains the given metrics of the files. */
  private[scan] def keeping(metrics: StatsToKeep): PartReader =
    new PartReader(io, specs, schema, schemas, bound, read, metrics)

  @transient private lazy val filter = new FileFilter(bound, specs)
  @transient private[scan] lazy val keys: EqualityIdColumns = new EqualityIdColumns(schema, schemas)
  @transient private lazy val mayDeleteReadRows = new DeleteFileFilter(read, keys)

  override def mightMatch(part: PartSummary): Boolean = filter.mightMatch(part)

  /** Returns the data files of a part that the scan reads. */
  private[scan] def select(part: FilePart, entries: Iterator[ManifestEntry]): PlannedPart =
    PlannedPart.of(entries, specs.of(part), filter.of(part).byPartition, statsToKeep)

  /**
   * Returns the delete files of a part that may apply to the files that the scan reads. Delete files of partitions
   * without matching rows are omitted, because the scan does not read data of these partitions.
   *
   * @param oldest the lowest data sequence number of the data files that are read
   */
  private[scan] def deletes(part: FilePart, entries: Iterator[ManifestEntry], oldest: Long): Vector[ManifestEntry] = {
    val partitions = filter.of(part).byPartition
    entries.filter { e =>
      e.isLive && !partitions.of(e.file.partition).isEmpty && e.sequenceNumber.forall(_ >= oldest) &&
      mayDeleteReadRows(e.file)
    }.toVector
  }

  /**
   * Reads a part and encodes the entries that the scan needs, so that an executor can send them to the JVM that plans
   * the scan. The part is not read from a cache, because executors do not cache manifests.
   *
   * @param oldest for a part with deletes, the lowest data sequence number of the data files that are read
   */
  def encode(part: FilePart, oldest: Long): Array[Byte] = {
    val entries = part.entries(io)
    val (kept, pruned) = part.content match {
      case ManifestContent.Data =>
        val selected = select(part, entries)
        (selected.tasks.iterator.map(t => PartReader.entry(t.file, t.dataSequenceNumber)), selected.pruned)
      case ManifestContent.Deletes =>
        val found = deletes(part, entries, oldest)
        (found.iterator.map(e => PartReader.entry(e.file, e.sequenceNumber.getOrElse(0L))), 0)
    }
    MetadataTree.entryCodec.encode(part, specs, kept, pruned)
  }

  /** Decodes the result of [[encode]]. Returns the entries, and the number of data files that `encode` has omitted. */
  private[scan] def decode(part: FilePart, bytes: Array[Byte]): (Iterator[ManifestEntry], Int) =
    MetadataTree.entryCodec.decode(part, specs, bytes)
}

private[scan] object PartReader {

  /** Returns a reader that selects all files, without their metrics. */
  def ofAllFiles(table: TreeTable): PartReader =
    new PartReader(table, AlwaysTrue, AlwaysTrue, StatsToKeep.Of(Set.empty))

  /** Returns an entry that has its own sequence numbers and inherits no values from a manifest. */
  def entry(file: ContentFile, dataSequenceNumber: Long): ManifestEntry =
    ManifestEntry(EntryStatus.Existing, Some(0L), Some(dataSequenceNumber), Some(dataSequenceNumber), file)
}

/** Reads parts of a metadata tree on the executors of a cluster. */
trait PlanningCluster {

  /**
   * Returns whether the cluster should read the parts, because it is expected to be faster than this JVM.
   *
   * @param parts the parts to read; either all of them list data files, or all of them list delete files
   */
  def shouldRead(parts: Vector[FilePart]): Boolean

  /**
   * Returns the results of `reader.encode(_, oldest)` for the parts, in the order of `parts`. Each part is requested
   * once.
   *
   * @throws iceberglite.spec.IcebergError if a part cannot be read
   */
  def read(parts: Vector[FilePart], reader: PartReader, oldest: Long): Iterator[Array[Byte]]
}

/** Reads the parts of a snapshot's tree for a scan, in this JVM or with a cluster. */
final private[scan] class PartPlanner(
    val reader: PartReader,
    files: Option[SnapshotFiles],
    cluster: Option[PlanningCluster]
) {

  /** Returns a planner for the same files that retains the given metrics. */
  def keeping(metrics: StatsToKeep): PartPlanner = new PartPlanner(reader.keeping(metrics), files, cluster)

  /** Returns the data files that the scan reads, for each of the parts. */
  def select(parts: Vector[FilePart]): Vector[PlannedPart] = clusterFor(parts) match {
    case None => MetadataPool.map(parts)(p => reader.select(p, entries(p)))
    case Some(remote) =>
      parts.iterator.zip(remote.read(parts, reader, 0L)).map { case (part, bytes) =>
        val (entries, pruned) = reader.decode(part, bytes)
        reader.select(part, entries).copy(pruned = pruned)
      }.toVector
  }

  /**
   * Returns the delete files of the parts that may apply to the files that the scan reads; see [[PartReader.deletes]].
   */
  def deletes(parts: Vector[FilePart], oldest: Long): Vector[ManifestEntry] = clusterFor(parts) match {
    case None => MetadataPool.map(parts)(p => reader.deletes(p, entries(p), oldest)).flatten
    case Some(remote) =>
      parts.iterator.zip(remote.read(parts, reader, oldest)).flatMap { case (part, bytes) =>
        reader.decode(part, bytes)._1
      }.toVector
  }

  private def entries(part: FilePart): Iterator[ManifestEntry] = files.iterator.flatMap(_.entries(part))

  private def clusterFor(parts: Vector[FilePart]): Option[PlanningCluster] =
    cluster.filter(remote => parts.nonEmpty && remote.shouldRead(parts))
}

/**
 * Selects the delete files that may delete some of the rows to be read (spec: "Scan Planning", note 2). An equality
 * delete file is omitted if its metrics show that none of its keys match. The metrics of position delete files are not
 * checked, because few of these files have metrics for the deleted rows.
 */
final private class DeleteFileFilter(bound: Expression, keys: EqualityIdColumns) extends (ContentFile => Boolean) {
  private val metrics = new InclusiveMetrics(bound)

  override def apply(deletes: ContentFile): Boolean =
    bound == AlwaysTrue || deletes.content != Content.EqualityDeletes ||
      keys.keyOf(deletes).forall(key => metrics.mightMatch(deletes.copy(metrics = key.metricsOf(deletes))))
}
