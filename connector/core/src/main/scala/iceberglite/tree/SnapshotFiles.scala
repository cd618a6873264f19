package iceberglite.tree

import iceberglite.spec.file.{ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.Snapshot

/**
 * The files of one snapshot, as listed by its metadata tree. The list of parts is read once, when it is first needed.
 */
trait SnapshotFiles {
  def snapshot: Snapshot

  /** Returns all parts, of data and of deletes, in the order of the tree. */
  def parts: Vector[FilePart]

  /** Returns the entries of a part of this tree, from the cache if possible; see [[FilePart.entries]]. */
  def entries(part: FilePart): Iterator[ManifestEntry]

  /** Returns the parts that record changes of this snapshot. They may also list files that were carried over. */
  def changedParts: Vector[FilePart]

  /**
   * Returns the files that this snapshot added (status `Added`) and removed (status `Deleted`), for a part that records
   * its changes. A removal also counts if its entry has the id of another snapshot, provided that the parent still had
   * the file; this is assumed for an expired parent.
   */
  def changesIn(part: FilePart): Iterator[ManifestEntry]

  /**
   * Returns the files that this snapshot added and removed. Parts that `where` rejects are not read.
   *
   * @param where must also accept parts with wanted files that were removed, which a part's metrics do not cover
   */
  final def changes(where: PartFilter): Iterator[ManifestEntry] =
    changedParts.iterator.filter(where.mightMatch).flatMap(changesIn)

  /**
   * Returns the files that the snapshot refers to.
   *
   * @param seen files that other snapshots refer to; they are left out, so that each file is listed once
   */
  def reachable(seen: SeenParts): Reachable

  /** Returns the manifests; only for the metadata tables `manifests` and `all_manifests`. */
  def manifests: Vector[ManifestFile]
}

/**
 * The files that a snapshot refers to.
 *
 * @param metadata paths of the files of its metadata tree
 * @param parts list the data and delete files
 */
final case class Reachable(metadata: Vector[String], parts: Vector[FilePart])
