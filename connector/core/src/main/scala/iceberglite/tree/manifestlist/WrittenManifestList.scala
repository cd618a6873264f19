package iceberglite.tree.manifestlist

import iceberglite.encryption.FileKey
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ContentFile, ManifestEntry, ManifestFile}
import iceberglite.tree.{TreePointer, WrittenTree}

/** A file that a commit adds. @param sequenceNumber the data sequence number; absent if the commit assigns it */
final private[iceberglite] case class AddedFile(file: ContentFile, sequenceNumber: Option[Long])

/** A manifest of added files. A later attempt that adds the same files reuses the manifest. */
final private[iceberglite] case class NewManifest(
    manifest: ManifestFile,
    version: FormatVersion,
    files: Vector[AddedFile]
) {

  /**
   * Returns whether the manifest lists exactly these files. The files are compared by reference, because the action
   * passes the same instances in every attempt.
   */
  def matches(others: Vector[AddedFile], formatVersion: FormatVersion): Boolean =
    version == formatVersion && files.size == others.size &&
      files.zip(others).forall { case (a, b) => (a.file eq b.file) && a.sequenceNumber == b.sequenceNumber }
}

/**
 * The replacement of manifests by new manifests with the same live files.
 *
 * @param processed the number of live entries that were written to the new manifests
 */
final private[iceberglite] case class ManifestReplacement(
    oldManifests: Vector[ManifestFile],
    newManifests: Vector[ManifestFile],
    version: FormatVersion,
    processed: Int
)

/**
 * The manifests of an attempt that a later attempt can reuse.
 *
 * @param ofAddedFiles the manifests of the added files
 * @param replaced the rewritten manifests; absent if no rewrite was requested or no manifest was chosen
 */
final private[iceberglite] case class ReusableManifests(
    ofAddedFiles: Vector[NewManifest],
    replaced: Option[ManifestReplacement]
)

/**
 * Compares the manifests of a snapshot to those of its parent.
 *
 * @param created number of manifests of the snapshot that are not in the parent snapshot
 * @param kept number of manifests of the parent that are carried over
 * @param replaced number of manifests with live files that the parent lists and the snapshot does not
 */
final private[iceberglite] case class ManifestTurnover(created: Int, kept: Int, replaced: Int)

/**
 * A manifest list and the manifests that an attempt has written.
 *
 * @param manifests all manifests of the snapshot
 */
final private[iceberglite] case class WrittenManifestList(
    root: TreePointer,
    override val addedRows: Option[Long],
    override val added: Vector[ContentFile],
    override val removed: Vector[ManifestEntry],
    manifests: Vector[ManifestFile],
    reusable: ReusableManifests,
    override val written: Vector[String],
    turnover: ManifestTurnover
) extends WrittenTree {
  override def pointer: String = root.path
  override def rootKey: Option[FileKey] = root.key

  override def changesFiles: Boolean = super.changesFiles || reusable.replaced.nonEmpty

  override lazy val references: Set[String] = manifests.map(_.path).toSet + pointer

  override def summary: Map[String, String] = Map(
    "manifests-created" -> turnover.created.toString,
    "manifests-kept" -> turnover.kept.toString,
    "manifests-replaced" -> turnover.replaced.toString
  ) ++ reusable.replaced.map("entries-processed" -> _.processed.toString)
}
