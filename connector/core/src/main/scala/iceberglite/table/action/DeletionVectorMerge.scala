package iceberglite.table.action

import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{CommitContext, DataLocations}

/**
 * The deletion vectors that this writer and another commit wrote for the same data file.
 *
 * @param own the deletion vector that this writer wrote
 * @param concurrent the deletion vector that is live at the head of the branch
 */
final private[action] case class VectorPair(own: ContentFile, concurrent: ContentFile)

/**
 * Merges deletion vectors that two writers wrote for the same data file, because a data file has at most one deletion
 * vector (spec version 3: "Deletion vectors"). Later attempts reuse a merged vector if the pair is the same.
 */
final private[action] class DeletionVectorMerge {
  private var merged = Map.empty[(ListedFileKey, ListedFileKey), ContentFile]
  private var written = Set.empty[String]

  /** The paths of all Puffin files that were written, in any attempt. */
  def writtenPaths: Set[String] = written

  /**
   * Returns the delete files of the merged vectors, in the order of the pairs. Vectors that earlier attempts did not
   * write are written to a single Puffin file.
   */
  def mergePairs(pairs: Vector[VectorPair], base: TableMetadata, context: CommitContext): Vector[ContentFile] = {
    val missing = pairs.filterNot(p => merged.contains(key(p)))
    if (missing.nonEmpty) {
      val rows = missing.map(p => deletedRows(p, read(p.own, context).union(read(p.concurrent, context))))
      val path = newPath(missing.head.own, base, context)
      written += path
      merged ++= missing.map(key).zip(DeletionVectorFiles.write(context.io, path, rows))
    }
    pairs.map(p => merged(key(p)))
  }

  def read(vector: ContentFile, context: CommitContext): DeletionVector = DeletionVectorFiles.read(context.io, vector)

  private def deletedRows(pair: VectorPair, positions: DeletionVector): DeletedRows =
    DeletedRows(pair.own.referencedDataFile.mkString, pair.own.specId, pair.own.partition, positions)

  private def newPath(vector: ContentFile, base: TableMetadata, context: CommitContext): String = {
    val name = s"${context.environment.uuid()}-merged-deletes${FileFormat.Puffin.extension}"
    DataLocations.of(base.location, base.properties).path(base.specsById(vector.specId), vector.partition, name)
  }

  private def key(pair: VectorPair): (ListedFileKey, ListedFileKey) =
    (ListedFileKey.of(pair.own), ListedFileKey.of(pair.concurrent))
}
