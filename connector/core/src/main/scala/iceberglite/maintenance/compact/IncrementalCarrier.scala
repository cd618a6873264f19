package iceberglite.maintenance.compact

import iceberglite.puffin.{DeletedRows, DeletionVector}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ContentFile, ManifestEntry}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.action.{DeleteCarrier, DeletedPositions, ListedFileKey}

/** Finds the positions to which a rewrite has moved the rows of the replaced data files. */
trait RowMoves {

  /** Returns the positions of the rows that delete files remove from a replaced data file. */
  def positions(dataFile: ContentFile, deletes: Vector[ManifestEntry], base: TableMetadata): DeletionVector

  /**
   * Finds rows in the new data files.
   *
   * @param rows the rows to find, by replaced data file and position. Rows that the rewrite has not written are ignored
   * @param taken the positions in new files, by path, that earlier calls have already returned for other rows
   * @return new data files with the positions of the rows
   * @throws iceberglite.spec.IcebergError.ValidationFailed if a row that the rewrite has written is in no new file
   */
  def find(
      rows: Vector[(ContentFile, DeletionVector)],
      taken: Map[String, DeletionVector]
  ): Vector[(ContentFile, DeletionVector)]

  /** Writes delete files. On failure, none of them remains. */
  def write(rows: Vector[DeletedRows], base: TableMetadata): Vector[ContentFile]
}

/**
 * Carries deletes over to the new files of a rewrite: the deletes that other writers have committed for the replaced
 * files since the rewrite began. A commit attempt reuses the deletes of the previous attempt if they are still valid:
 * it reads only delete files that were added after the previous attempt, and finds only rows that were deleted after
 * it. Therefore a rewrite can succeed even if other writers commit faster than the rewrite could find all deleted rows.
 */
final class IncrementalCarrier(moves: RowMoves) extends DeleteCarrier {
  import IncrementalCarrier._

  private var last = Carried(usesVectors = false)

  override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] = {
    val read = deleted.map(d => d.dataFile.path -> readNew(d, base)).toMap
    val earlier = last.continuedBy(read, base.formatVersion >= FormatVersion.V3)
    val rows =
      deleted.map(d => (d.dataFile, read(d.dataFile.path).positions.without(earlier.positionsOf(d.dataFile.path))))
        .filterNot(_._2.isEmpty)
    val taken = earlier.found.map { case (path, found) => path -> found.positions }
    val found = if (rows.isEmpty) Vector.empty
    else moves.find(rows, taken).groupBy(_._1.path).toVector.sortBy(_._1).map {
      case (path, ofFile) =>
        val file = ofFile.head._1
        DeletedRows(path, file.specId, file.partition, ofFile.map(_._2).reduce(_ union _))
    }
    val carried = earlier.plus(read, found)
    val files = moves.write(if (carried.usesVectors) found.map(f => carried.found(f.dataFile)) else found, base)
    last = carried.plus(files)
    last.files
  }

  /** Reads the delete files that the previous attempt has not read. */
  private def readNew(deleted: DeletedPositions, base: TableMetadata): ReadDeletes = {
    val keys = deleted.deletes.map(e => ListedFileKey.of(e.file)).toSet
    val known = last.read.get(deleted.dataFile.path).filter(_.keys.subsetOf(keys)).getOrElse(ReadDeletes.None)
    val others = deleted.deletes.filterNot(e => known.keys(ListedFileKey.of(e.file)))
    if (others.isEmpty) known
    else ReadDeletes(keys, known.positions.union(moves.positions(deleted.dataFile, others, base)))
  }
}

private object IncrementalCarrier {

  /** The positions that the delete files of one data file contain. */
  final private case class ReadDeletes(keys: Set[ListedFileKey], positions: DeletionVector)

  private object ReadDeletes {
    val None: ReadDeletes = ReadDeletes(Set.empty, DeletionVector.Empty)
  }

  /**
   * The deletes that an attempt has carried over.
   *
   * @param usesVectors whether `files` are deletion vectors
   * @param read the deletes of the replaced data files, by path
   * @param found the deleted rows of the new data files, by path
   * @param files the delete files of the new data files
   */
  final private case class Carried(
      usesVectors: Boolean,
      read: Map[String, ReadDeletes] = Map.empty,
      found: Map[String, DeletedRows] = Map.empty,
      files: Vector[ContentFile] = Vector.empty
  ) {
    def positionsOf(replaced: String): DeletionVector = read.get(replaced).fold(DeletionVector.Empty)(_.positions)

    /**
     * Returns these deletes if they are still valid, and no deletes otherwise. They are not valid any more if the
     * branch was rolled back, so that a row is no longer deleted, or if the table was upgraded and now requires
     * deletion vectors.
     */
    def continuedBy(now: Map[String, ReadDeletes], needsVectors: Boolean): Carried = {
      val areIncluded = read.forall { case (path, before) =>
        now.get(path).exists(r => before.positions.isSubsetOf(r.positions))
      }
      if (areIncluded && usesVectors == needsVectors) this else Carried(needsVectors)
    }

    /**
     * Returns these deletes with further deleted rows of the new data files.
     *
     * @param now the deletes of the replaced data files that have been read so far, by path
     */
    def plus(now: Map[String, ReadDeletes], more: Vector[DeletedRows]): Carried = {
      val merged = more.map { rows =>
        rows.dataFile -> found.get(rows.dataFile).fold(rows) { earlier =>
          rows.copy(positions = rows.positions.union(earlier.positions))
        }
      }
      copy(read = now, found = found ++ merged)
    }

    /**
     * Returns these deletes with further delete files. A new deletion vector replaces the earlier one of its data file.
     */
    def plus(more: Vector[ContentFile]): Carried = {
      val replaced = if (usesVectors) more.flatMap(_.referencedDataFile).toSet else Set.empty[String]
      copy(files = files.filterNot(_.referencedDataFile.exists(replaced)) ++ more)
    }
  }
}
