package iceberglite.tree

import iceberglite.spec.{ContentFile, FormatVersion, ManifestEntry, ManifestFile}

/** A file that a commit adds, with its data sequence number if it has one of its own. */
final private[tree] case class NewFile(file: ContentFile, sequenceNumber: Option[Long])

/** A manifest of added files, which a later attempt uses again if it adds the same. */
final private[tree] case class NewManifest(manifest: ManifestFile, version: FormatVersion, files: Vector[NewFile]) {

  /** The files are those that the action holds, so that it is enough to compare references. */
  def holds(others: Vector[NewFile], by: FormatVersion): Boolean =
    version == by && files.size == others.size &&
      files.zip(others).forall { case (a, b) => (a.file eq b.file) && a.sequenceNumber == b.sequenceNumber }
}

/**
 * Manifests that replace others, with the same live files.
 *
 * @param processed the number of those files
 */
final private[tree] case class ReplacedManifests(
    from: Vector[ManifestFile],
    to: Vector[ManifestFile],
    version: FormatVersion,
    processed: Int
)

/**
 * A manifest list and the manifests that an attempt has written.
 *
 * @param manifests all of the snapshot's manifests
 * @param newManifests the manifests of the added files
 * @param replaced the manifests that were rewritten, if that was asked for and there was something to do
 * @param createdCount how many of `manifests` are new with this snapshot
 * @param keptCount how many are the parent's
 * @param replacedCount how many of the parent's with live files were rewritten or merged
 */
final private[tree] case class WrittenManifestList(
    override val pointer: String,
    override val addedRows: Option[Long],
    override val added: Vector[ContentFile],
    override val removed: Vector[ManifestEntry],
    manifests: Vector[ManifestFile],
    newManifests: Vector[NewManifest],
    replaced: Option[ReplacedManifests],
    override val written: Vector[String],
    createdCount: Int,
    keptCount: Int,
    replacedCount: Int
) extends WrittenTree {
  override def changesFiles: Boolean = added.nonEmpty || removed.nonEmpty || replaced.nonEmpty

  override lazy val references: Set[String] = manifests.map(_.path).toSet + pointer

  override def summary: Map[String, String] = Map(
    "manifests-created" -> createdCount.toString,
    "manifests-kept" -> keptCount.toString,
    "manifests-replaced" -> replacedCount.toString
  ) ++ replaced.map("entries-processed" -> _.processed.toString)
}
