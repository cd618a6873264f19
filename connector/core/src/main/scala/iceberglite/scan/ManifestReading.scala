package iceberglite.scan

import iceberglite.io.{FileIO, Manifests, PackedEntries}
import iceberglite.spec._
import iceberglite.spec.expr.{Expression, InclusiveMetrics}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.Table
import iceberglite.tree.{InParallel, MetadataTree, PartitionSources}

/**
 * What a scan takes from manifests. Serializable, so that other JVMs can read manifests for it.
 *
 * @param schemas all of the table's, for the columns of equality deletes
 * @param read what the rows satisfy that are read, which may be more than those that match the filter
 */
final class ManifestReading private (
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    schema: Schema,
    schemas: Vector[Schema],
    sources: Schema,
    bound: Expression,
    read: Expression,
    keeps: KeptMetrics
) extends Serializable {

  private[scan] def this(table: Table, schema: Schema, bound: Expression, read: Expression, keeps: KeptMetrics) = this(
    table.io,
    table.metadata.specsById,
    schema,
    table.metadata.schemas,
    PartitionSources.schema(table.metadata, schema),
    bound,
    read,
    keeps
  )

  /** The same, keeping these metrics of the files. */
  private[scan] def keeping(metrics: KeptMetrics): ManifestReading =
    new ManifestReading(io, specs, schema, schemas, sources, bound, read, metrics)

  @transient private lazy val filters = new SpecFilters(bound, specs, sources)
  @transient private[scan] lazy val keys: KeyColumns = new KeyColumns(schema, schemas)
  @transient private lazy val relevant = new DeletesOf(read, keys)

  private[scan] def mightMatch(manifest: ManifestFile): Boolean = filters.of(manifest).mightMatch(manifest)

  /** The data files of a manifest that the scan reads. */
  private[scan] def select(manifest: ManifestFile, entries: Iterator[ManifestEntry]): Selected =
    filters.of(manifest).select(entries, keeps)

  /** The delete files of a manifest that may apply to what the scan reads. */
  private[scan] def deletes(
      manifest: ManifestFile,
      entries: Iterator[ManifestEntry],
      oldest: Long
  ): Vector[ManifestEntry] =
    filters.of(manifest).inPartitions(entries).filter(e => e.sequenceNumber.forall(_ >= oldest) && relevant(e.file))

  /**
   * Reads a manifest and packs what the scan takes from it. For a thread of another JVM, which keeps nothing.
   *
   * @param oldest for deletes: the sequence number of the oldest data that is read
   */
  def packed(manifest: ManifestFile, oldest: Long): Array[Byte] = {
    val entries = Manifests.read(io, manifest, specs, sources)
    val (kept, pruned) = manifest.content match {
      case ManifestContent.Data =>
        val selected = select(manifest, entries)
        (selected.tasks.iterator.map(t => ManifestReading.entry(t.file, t.dataSequenceNumber)), selected.pruned)
      case ManifestContent.Deletes =>
        val found = deletes(manifest, entries, oldest)
        (found.iterator.map(e => ManifestReading.entry(e.file, e.sequenceNumber.getOrElse(0L))), 0)
    }
    PackedEntries.write(manifest, specs(manifest.partitionSpecId), sources, kept, pruned)
  }

  private[scan] def unpacked(manifest: ManifestFile, bytes: Array[Byte]): (Iterator[ManifestEntry], Int) =
    PackedEntries.read(manifest, specs, sources, bytes)
}

private object ManifestReading {

  /** Everything that it inherited is written down. */
  def entry(file: ContentFile, dataSequenceNumber: Long): ManifestEntry =
    ManifestEntry(EntryStatus.Existing, Some(0L), Some(dataSequenceNumber), Some(dataSequenceNumber), file)
}

/** Other JVMs that read manifests for this one. */
trait ManifestCluster {

  /** Whether to read these here would take longer; all of them list data files, or all of them delete files. */
  def takes(manifests: Vector[ManifestFile]): Boolean

  /**
   * What `reading.packed(_, oldest)` gives for each manifest, in their order; each is asked for once.
   *
   * @throws iceberglite.spec.IcebergError what the reading throws
   */
  def read(manifests: Vector[ManifestFile], reading: ManifestReading, oldest: Long): Iterator[Array[Byte]]
}

/** The files of a snapshot's manifests, read here or by a cluster. */
final private[scan] class PlanningFiles(
    val reading: ManifestReading,
    tree: MetadataTree,
    cluster: Option[ManifestCluster]
) {

  /** The same files with other metrics. */
  def keeping(metrics: KeptMetrics): PlanningFiles = new PlanningFiles(reading.keeping(metrics), tree, cluster)

  def select(manifests: Vector[ManifestFile]): Vector[Selected] = clusterFor(manifests) match {
    case None => InParallel.map(manifests)(m => reading.select(m, tree.entries(m)))
    case Some(other) =>
      manifests.iterator.zip(other.read(manifests, reading, 0L)).map { case (m, bytes) =>
        val (entries, pruned) = reading.unpacked(m, bytes)
        reading.select(m, entries).copy(pruned = pruned)
      }.toVector
  }

  def deletes(manifests: Vector[ManifestFile], oldest: Long): Vector[ManifestEntry] = clusterFor(manifests) match {
    case None => InParallel.map(manifests)(m => reading.deletes(m, tree.entries(m), oldest)).flatten
    case Some(other) =>
      manifests.iterator.zip(other.read(manifests, reading, oldest)).flatMap { case (m, bytes) =>
        reading.unpacked(m, bytes)._1
      }.toVector
  }

  private def clusterFor(manifests: Vector[ManifestFile]): Option[ManifestCluster] =
    cluster.filter(other => manifests.nonEmpty && other.takes(manifests))
}

/**
 * Which delete files may take away rows that are read (spec: "Scan Planning", note 2). An equality delete file
 * without a matching key takes away none. What position deletes say of their rows is not asked: most say nothing.
 */
final private class DeletesOf(bound: Expression, keys: KeyColumns) extends (ContentFile => Boolean) {
  private val metrics = new InclusiveMetrics(bound)

  override def apply(deletes: ContentFile): Boolean =
    bound == AlwaysTrue || deletes.content != Content.EqualityDeletes ||
      keys.keyOf(deletes).forall(key => metrics.mightMatch(deletes.copy(metrics = key.metricsOf(deletes))))
}
