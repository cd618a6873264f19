package iceberglite.maintenance.compact

import java.nio.ByteBuffer
import java.util.TreeMap

import scala.collection.JavaConverters._

import iceberglite.puffin.DeletionVector
import iceberglite.scan.deletes.{DeleteFile, DeleteReader}
import iceberglite.spec.file.{Content, ManifestContent, ManifestEntry}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.storage.FileIO
import iceberglite.tree.{FilePart, MetadataPool, SnapshotFiles}

/**
 * Identifies a data file from which the position deletes of a group remove rows.
 *
 * @param group the index of the group
 * @param path the path of the data file
 */
final case class DeleteTargetKey(group: Int, path: String)

object DeleteTargetKey {

  /** The order in which deletes are written. */
  implicit val ordering: Ordering[DeleteTargetKey] = Ordering.by(key => (key.group, key.path))
}

/** What a delete file or a manifest states about a data file. */
sealed trait DeleteFinding {

  /** Returns the finding as bytes, so that Spark tasks can exchange it with any serializer. */
  def toBytes: Array[Byte]
}

object DeleteFinding {
  private val LiveKind: Byte = 0
  private val VectorKind: Byte = 1
  private val PositionsKind: Byte = 2

  /** The data file is live. @param sequenceNumber its data sequence number */
  final case class LiveData(sequenceNumber: Long) extends DeleteFinding {
    override def toBytes: Array[Byte] = encode(LiveKind, sequenceNumber, Array.emptyByteArray)
  }

  /** The data file has a deletion vector, so position delete files do not apply to the data file. */
  case object HasVector extends DeleteFinding {
    override def toBytes: Array[Byte] = encode(VectorKind, 0L, Array.emptyByteArray)
  }

  /**
   * A position delete file deletes rows of the data file.
   *
   * @param sequenceNumber the data sequence number of the delete file
   */
  final case class Positions(sequenceNumber: Long, positions: DeletionVector) extends DeleteFinding {
    override def toBytes: Array[Byte] = encode(PositionsKind, sequenceNumber, positions.toBytes)
  }

  private def encode(kind: Byte, number: Long, vector: Array[Byte]): Array[Byte] =
    ByteBuffer.allocate(1 + java.lang.Long.BYTES + vector.length).put(kind).putLong(number).put(vector).array

  /** Parses the result of `toBytes`. @param dataFile the path of the data file, for messages */
  def parse(dataFile: String, bytes: Array[Byte]): DeleteFinding = {
    val buffer = ByteBuffer.wrap(bytes)
    val (kind, number) = (buffer.get(), buffer.getLong())
    kind match {
      case LiveKind => LiveData(number)
      case VectorKind => HasVector
      case _ => Positions(number, DeletionVector.parse("a task", dataFile, bytes.drop(buffer.position())))
    }
  }
}

/** Combines all findings about one data file of one group. */
final class DeleteFindings {
  private var dataNumber: Option[Long] = None
  private var hasVector = false
  private var positions = Map.empty[Long, DeletionVector]

  def +=(finding: DeleteFinding): Unit = finding match {
    case DeleteFinding.LiveData(number) => dataNumber = Some(dataNumber.fold(number)(math.min(_, number)))
    case DeleteFinding.HasVector => hasVector = true
    case DeleteFinding.Positions(number, vector) =>
      positions = positions.updated(number, positions.get(number).fold(vector)(_.union(vector)))
  }

  /**
   * Returns the deletes that apply to the data file (spec: "Scan Planning"): none if the data file is not live or has a
   * deletion vector; otherwise, only those of delete files that are not older than the data file.
   */
  def applicable: DeletionVector = dataNumber.filterNot(_ => hasVector).fold(DeletionVector.Empty) { data =>
    positions.iterator.filter(_._1 >= data).map(_._2).foldLeft(DeletionVector.Empty)(_ union _)
  }
}

/**
 * Merges the position deletes of groups, and drops those that apply to no live data file. The class is serializable, so
 * that Spark tasks can read delete files and parts of the metadata tree (manifests in format versions 1 to 3).
 *
 * @param groups the indexes of the groups of each partition
 */
final class PositionDeleteMerge(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    groups: Map[(Int, PartitionTuple), Vector[Int]]
) extends Serializable {

  /**
   * Returns the findings in a delete file of a group.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is missing or damaged
   */
  def findings(group: Int, delete: DeleteFile): Iterator[(DeleteTargetKey, DeleteFinding)] =
    new DeleteReader(io, specs, nameMapping = None).positionsByDataFile(delete.file).iterator.map {
      case (path, positions) =>
        DeleteTargetKey(group, path) -> DeleteFinding.Positions(delete.dataSequenceNumber, positions)
    }

  /** Returns the findings in the live entries of a part about data files in the partitions of the groups. */
  def findings(entries: Iterator[ManifestEntry]): Iterator[(DeleteTargetKey, DeleteFinding)] = for {
    entry <- entries if entry.isLive
    (path, finding) <- findingOf(entry).iterator
    group <- groups.getOrElse((entry.file.specId, entry.file.partition), Vector.empty)
  } yield DeleteTargetKey(group, path) -> finding

  private def findingOf(entry: ManifestEntry): Option[(String, DeleteFinding)] =
    if (entry.file.isDeletionVector) entry.file.referencedDataFile.map(_ -> DeleteFinding.HasVector)
    else if (entry.file.content != Content.Data) None
    else Some(entry.file.path -> DeleteFinding.LiveData(entry.sequenceNumber.getOrElse(0L)))

  def findings(part: FilePart): Iterator[(DeleteTargetKey, DeleteFinding)] = findings(part.entries(io))

  /**
   * Merges the deletes in this JVM, which must have enough memory for all of them.
   *
   * @param deletes the delete files with the indexes of their groups
   * @param parts the parts that may list data files or deletion vectors of the groups
   * @return the applicable deletes, sorted by group and path
   */
  def merge(
      deletes: Vector[(Int, DeleteFile)],
      tree: SnapshotFiles,
      parts: Vector[FilePart]
  ): Vector[(DeleteTargetKey, DeletionVector)] = {
    val found = new TreeMap[DeleteTargetKey, DeleteFindings](DeleteTargetKey.ordering)
    MetadataPool.map(deletes) { case (group, delete) =>
      val ofFile = findings(group, delete)
      found.synchronized {
        ofFile.foreach { case (key, finding) => found.computeIfAbsent(key, _ => new DeleteFindings) += finding }
      }
    }
    // The parts are read after the delete files, so that only the data files that the deletes name are kept in memory.
    MetadataPool.map(parts) { part =>
      findings(tree.entries(part)).foreach { case (key, finding) =>
        Option(found.get(key)).foreach(known => known.synchronized(known += finding))
      }
    }
    found.entrySet.iterator.asScala.map(e => e.getKey -> e.getValue.applicable).filterNot(_._2.isEmpty).toVector
  }
}

object PositionDeleteMerge {

  def of(io: FileIO, specs: Map[Int, PartitionSpec], groups: Vector[PositionDeleteGroup]): PositionDeleteMerge = {
    val byPartition = groups.zipWithIndex.groupBy { case (group, _) => (group.specId, group.partition) }
    new PositionDeleteMerge(io, specs, byPartition.map { case (partition, all) => partition -> all.map(_._2) })
  }

  /**
   * Returns the parts that may list data files or deletion vectors of the groups.
   *
   * @param usesVectors whether the snapshot may have deletion vectors
   */
  def parts(tree: SnapshotFiles, mightMatch: FilePart => Boolean, usesVectors: Boolean): Vector[FilePart] =
    tree.parts.filter(p => p.hasLiveFiles && (usesVectors || p.content == ManifestContent.Data) && mightMatch(p))
}
