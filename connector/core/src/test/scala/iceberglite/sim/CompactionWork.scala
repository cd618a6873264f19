package iceberglite.sim

import iceberglite.maintenance.compact.{IncrementalCarrier, RowMoves}
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestEntry, Metrics}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.action.RewriteFiles

/**
 * Compactions of some files of a category. Each compaction writes the live rows of the files to one new file, either in
 * the same order or in a random order.
 *
 * @param carries probability that a compaction carries concurrent deletes over to the new file, 0 to 1. A compaction
 *   that does not carry them over fails because of concurrent deletes.
 */
final private class CompactionWork(carries: Double) extends Work {
  override def name: String = "rewrite files"
  override def weight: Int = 4

  override def plan(state: WriterState): Option[Plan] = for {
    since <- state.metadata.currentSnapshotId
    category <- state.oneOf(WriterState.Categories)
    paths = state.random.shuffle(state.contents.inCategory(state.rows, category)).take(3)
    ids = paths.flatMap(p => state.rows.live(p).toVector.sorted.map(state.contents.file(p).ids))
    if ids.nonEmpty
  } yield {
    val entries = state.entries.filter(_.isLive).map(_.file)
    val oldPaths = paths.toSet
    val compacted = state.dataFile(category, if (state.chance(0.5)) ids else state.random.shuffle(ids))
    val carrier =
      if (state.chance(carries)) Some(new IncrementalCarrier(new SimulatedMoves(state, compacted))) else None
    val removed = entries.filter { f =>
      oldPaths(f.path) || carrier.isEmpty && f.isDeletionVector && f.referencedDataFile.exists(oldPaths)
    }
    val action = new RewriteFiles(removed, Vector(compacted.file), since, carrier = carrier)
    Plan(Vector(action), Vector(Effect.Rewritten(oldPaths, compacted)))
  }
}

object CompactionWork {
  val Sometimes: Work = new CompactionWork(0.7)

  /** Compactions that always carry concurrent deletes over. */
  val Carrying: Work = new CompactionWork(1.0)

  /** Returns the entry of a position delete file in the partition of a data file. */
  def positionDeletes(path: String, data: ContentFile, count: Long, referencedDataFile: Option[String]): ContentFile =
    ContentFile(
      Content.PositionDeletes,
      path,
      FileFormat.Parquet,
      data.specId,
      data.partition,
      count,
      100L,
      Metrics.Empty,
      referencedDataFile = referencedDataFile
    )
}

/** Finds deleted rows in the new file of a compaction by their ids, and writes their deletes. */
final private class SimulatedMoves(state: WriterState, compacted: SimulatedFile) extends RowMoves {
  private var writtenFiles = 0

  override def positions(data: ContentFile, deletes: Vector[ManifestEntry], base: TableMetadata): DeletionVector =
    deletes.map { entry =>
      if (entry.file.isDeletionVector) DeletionVectorFiles.read(state.io, entry.file)
      else vector(state.contents.deletedBy(entry.file.path).getOrElse(data.path, Set.empty))
    }.reduce(_ union _)

  override def find(
      rows: Vector[(ContentFile, DeletionVector)],
      taken: Map[String, DeletionVector]
  ): Vector[(ContentFile, DeletionVector)] = {
    val ids = rows.flatMap { case (file, deleted) =>
      val all = state.contents.file(file.path).ids
      all.indices.filter(i => deleted.isDeleted(i.toLong)).map(all)
    }.toSet
    val found = vector(compacted.ids.indices.filter(i => ids(compacted.ids(i))).toSet)
    val twice = taken.get(compacted.path).exists(earlier => !found.without(earlier).equals(found))
    if (twice) throw new IllegalStateException(s"A row of ${compacted.path} was already carried over")
    if (found.isEmpty) Vector.empty else Vector((compacted.file, found))
  }

  override def write(rows: Vector[DeletedRows], base: TableMetadata): Vector[ContentFile] =
    if (rows.isEmpty) Vector.empty
    else if (base.formatVersion >= FormatVersion.V3) DeletionVectorFiles.write(state.io, newPath(".puffin"), rows)
    else rows.map { deleted =>
      val path = newPath(".parquet")
      state.writePlaceholder(path)
      val positions = Set.newBuilder[Int]
      deleted.positions.foreach(position => positions += position.toInt)
      state.contents.keepPositions(path, Map(deleted.dataFile -> positions.result()))
      CompactionWork.positionDeletes(path, compacted.file, deleted.positions.cardinality, Some(deleted.dataFile))
    }

  private def vector(positions: Set[Int]): DeletionVector = DeletionVector.of(positions.toSeq.sorted.map(_.toLong): _*)

  private def newPath(ending: String): String = {
    writtenFiles += 1
    s"${state.metadata.location}/data/carried-${state.operation}-$writtenFiles$ending"
  }
}
