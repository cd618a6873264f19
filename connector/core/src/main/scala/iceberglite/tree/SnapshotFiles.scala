package iceberglite.tree

import iceberglite.spec.{ManifestEntry, ManifestFile, Snapshot}

/**
 * The files of one snapshot, as its metadata tree lists them. What is read of the tree is read once, when it is first
 * asked for.
 */
trait SnapshotFiles {
  def snapshot: Snapshot

  /** All parts, of data and of deletes, in the order of the tree. */
  def parts: Vector[FilePart]

  /** The entries of a part of this tree, from the cache if it has them; see [[FilePart.entries]]. */
  def entries(part: FilePart): Iterator[ManifestEntry]

  /** The parts that record changes of this snapshot. Carried files may be among theirs. */
  def changed: Vector[FilePart]

  /**
   * The files that this snapshot added (status `Added`) and removed (status `Deleted`), of a part that records its changes.
   * A removal counts also where its entry has the id of another snapshot, if the parent still had the file; a parent that
   * has expired is taken to have had it.
   */
  def changesIn(part: FilePart): Iterator[ManifestEntry]

  /** The files that this snapshot added and removed, of the parts that may have wanted ones. */
  final def changes(where: PartFilter): Iterator[ManifestEntry] =
    changed.iterator.filter(where.mightMatch).flatMap(changesIn)

  /**
   * The files that the snapshot refers to.
   *
   * @param seen what other snapshots refer to, which is left out: each file is listed once
   */
  def reachable(seen: SeenParts): Reachable

  /** The manifests, for the metadata tables `manifests` and `all_manifests` alone. */
  def manifests: Vector[ManifestFile]
}

/**
 * The files that a snapshot refers to.
 *
 * @param metadata paths of the files of its metadata tree
 * @param parts list the data and delete files
 */
final case class Reachable(metadata: Vector[String], parts: Vector[FilePart])
