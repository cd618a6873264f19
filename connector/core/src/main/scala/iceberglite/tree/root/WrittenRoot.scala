package iceberglite.tree.root

import iceberglite.encryption.FileKey
import iceberglite.spec.file.{ContentFile, ManifestEntry}
import iceberglite.spec.metadata.SummaryKey
import iceberglite.tree.WrittenTree

/** A leaf manifest of added files. A later attempt that adds the same files reuses the leaf. */
final private[root] case class NewLeaf(entry: ContentEntry, files: Vector[ManifestEntry]) {

  /**
   * Returns whether the leaf lists exactly these files. The files are compared by reference, because the action passes
   * the same instances in every attempt.
   */
  def lists(others: Vector[ManifestEntry]): Boolean = files.size == others.size && files.zip(others).forall {
    case (a, b) => (a.file eq b.file) && a.sequenceNumber == b.sequenceNumber
  }
}

/**
 * Numbers of deletion vectors of leaf manifests, for the summary of a snapshot.
 *
 * @param added the number of the vectors that the commit wrote
 * @param folded the number of the vectors that the commit dropped, because it rewrote their leaves without the removed
 *   entries
 */
final private[root] case class VectorCounts(added: Int, folded: Int)

/**
 * The content of a written root.
 *
 * @param length the length of its file in bytes
 * @param key the key of its file; absent if the table is not encrypted
 * @param vectors the changes to the deletion vectors of leaves
 */
final private[root] case class RootContent(
    entries: Vector[ContentEntry],
    length: Long,
    key: Option[FileKey],
    vectors: VectorCounts
)

/**
 * The root manifest and the leaf manifests that an attempt has written.
 *
 * @param newLeaves the leaves of added files; their entries do not have first row ids yet
 * @param rewritten the rewrite of leaves that the commit requested; absent if nothing was rewritten
 */
final private[root] case class WrittenRoot(
    override val pointer: String,
    override val addedRows: Option[Long],
    override val added: Vector[ContentFile],
    override val removed: Vector[ManifestEntry],
    root: RootContent,
    newLeaves: Vector[NewLeaf],
    rewritten: Option[RewrittenLeaves],
    override val written: Vector[String]
) extends WrittenTree {
  override def rootKey: Option[FileKey] = root.key

  override lazy val references: Set[String] =
    root.entries.filter(e => !e.isFile && e.location.nonEmpty).map(_.location).toSet + pointer

  override def changesFiles: Boolean = super.changesFiles || rewritten.nonEmpty

  override def summary: Map[String, String] =
    Map(SummaryKey.RootLength -> root.length.toString) ++ vectorCounts ++ rewritten.toVector.flatMap {
      result =>
        Map(
          "manifests-created" -> result.written.size,
          "manifests-kept" -> (root.entries.count(_.manifest.isDefined) - result.written.size),
          "manifests-replaced" -> result.parts,
          "entries-processed" -> result.written.map(_.recordCount).sum
        ).map { case (key, count) => key -> count.toString }
    }

  private def vectorCounts: Map[String, String] =
    Map(
      SummaryKey.AddedManifestVectors -> root.vectors.added,
      SummaryKey.FoldedManifestVectors -> root.vectors.folded
    ).collect { case (key, count) if count > 0 => key -> count.toString }
}
