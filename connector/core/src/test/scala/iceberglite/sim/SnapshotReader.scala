package iceberglite.sim

import scala.collection.mutable

import iceberglite.puffin.DeletionVectorFiles
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.storage.FileIO
import iceberglite.tree.{ManifestCache, SequentialPool, SnapshotFiles, TreeReader}

/** The error for a snapshot whose files contradict each other. */
final class BrokenSnapshot(message: String) extends RuntimeException(message)

/**
 * Determines the live rows of snapshots (specification, "Scan Planning"), independently of the code that plans scans.
 * Caches manifests and deletion vectors, because referenced files never change.
 */
final class SnapshotReader(io: FileIO, contents: SimulatedContents) {
  private val cache = new ManifestCache(64L << 20)
  private val vectors = mutable.Map.empty[(String, Option[Long]), Set[Int]]

  def files(metadata: TableMetadata, snapshot: Snapshot): SnapshotFiles =
    new TreeReader(io, metadata, cache, SequentialPool).files(snapshot)

  def live(metadata: TableMetadata, snapshot: Snapshot): Vector[ManifestEntry] = {
    val found = files(metadata, snapshot)
    found.parts.flatMap(found.entries(_).filter(_.isLive))
  }

  /** @throws BrokenSnapshot if a file is listed twice, or has two deletion vectors */
  def rows(metadata: TableMetadata, snapshot: Snapshot): Rows = {
    val (data, deletes) = live(metadata, snapshot).partition(_.file.content == Content.Data)
    val paths = data.map(_.file.path)
    val twice = paths.diff(paths.distinct)
    if (twice.nonEmpty) throw new BrokenSnapshot(s"Snapshot ${snapshot.snapshotId} lists ${twice.mkString(", ")} twice")
    Rows(data.map(e => e.file.path -> livePositions(e, deletes)).toMap)
  }

  private def livePositions(data: ManifestEntry, deletes: Vector[ManifestEntry]): Set[Int] = {
    val simulated = contents.file(data.file.path)
    val ownVectors = deletes.filter(_.file.isDeletionVector).filter(notBefore(_, data))
      .filter(_.file.referencedDataFile.contains(data.file.path))
    if (ownVectors.size > 1) throw new BrokenSnapshot(s"${data.file.path} has ${ownVectors.size} deletion vectors")
    val byPosition =
      if (ownVectors.nonEmpty) ownVectors.flatMap(e => vector(e.file)).toSet
      else positionDeletes(deletes).filter(d => notBefore(d, data) && isInSamePartition(d, data))
        .flatMap(e => contents.deletedBy(e.file.path).getOrElse(data.file.path, Set.empty[Int])).toSet
    val deletedIds = deletes.filter(d => d.file.content == Content.EqualityDeletes && isInSamePartition(d, data))
      .filter(number(_) > number(data)).flatMap(e => contents.keysOf(e.file.path)).toSet
    simulated.ids.indices.filterNot(i => byPosition(i) || deletedIds(simulated.ids(i))).toSet
  }

  private def positionDeletes(deletes: Vector[ManifestEntry]): Vector[ManifestEntry] =
    deletes.filter(e => e.file.content == Content.PositionDeletes && !e.file.isDeletionVector)

  private def isInSamePartition(delete: ManifestEntry, data: ManifestEntry): Boolean =
    delete.file.specId == data.file.specId && delete.file.partition == data.file.partition

  private def notBefore(delete: ManifestEntry, data: ManifestEntry): Boolean = number(delete) >= number(data)

  private def number(entry: ManifestEntry): Long = entry.sequenceNumber.getOrElse(0L)

  def vector(file: ContentFile): Set[Int] = vectors.getOrElseUpdate(
    (file.path, file.contentOffset), {
      val positions = Set.newBuilder[Int]
      DeletionVectorFiles.read(io, file).foreach(p => positions += p.toInt)
      positions.result()
    }
  )
}
