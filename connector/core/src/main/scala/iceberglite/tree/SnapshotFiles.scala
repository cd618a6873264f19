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
   * its changes. A removed file is also returned if its entry has the id of another snapshot, provided that the file
   * was live in the parent snapshot. If the parent has expired, this is assumed.
   */
  def changesIn(part: FilePart): Iterator[ManifestEntry]

  /**
   * Returns the files that this snapshot added and removed. Parts that `where` rejects are not read.
   *
   * @param where must also accept parts that list only removed files of interest; the metrics of a part cover only its
   *   live files
   */
  final def changes(where: PartFilter): Iterator[ManifestEntry] =
    changedParts.iterator.filter(where.mightMatch).flatMap(changesIn)

  /**
   * Returns the files that the snapshot refers to.
   *
   * @param seen the parts of other snapshots, which are omitted from the result; the parts of this snapshot are added
   *   to it
   */
  def reachable(seen: SeenParts): Reachable

  /** Returns the manifests of the snapshot, for the metadata tables `manifests` and `all_manifests`. */
  def manifests: Vector[ManifestFile]
}

/**
 * The files that a snapshot refers to.
 *
 * @param metadata paths of the files of its metadata tree
 * @param parts the parts that list its data and delete files
 */
final case class Reachable(metadata: Vector[String], parts: Vector[FilePart])
