package iceberglite.tree

import scala.annotation.nowarn

import iceberglite.spec.file.{EntryStatus, ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.Snapshot

/**
 * The files of one snapshot, as listed by its metadata tree. The list of the tree's parts (see [[FilePart]]) is read
 * once, when it is first needed.
 */
trait SnapshotFiles {
  def snapshot: Snapshot

  /** Returns all parts, which list data files or delete files, in the order of the tree. */
  def parts: Vector[FilePart]

  /** Returns the entries of a part of this tree, from the cache if possible; see [[FilePart.entries]]. */
  def entries(part: FilePart): CloseableIterator[ManifestEntry]

  /** Returns the parts that record changes of this snapshot. These parts may also list files that were carried over. */
  def changedParts: Vector[FilePart] = partsWrittenBy(_ == snapshot.snapshotId)

  /**
   * Returns the parts that one of the given snapshots wrote, or that it changed by a deletion vector (version 4). These
   * parts may also list files that were carried over.
   */
  def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart]

  /**
   * Returns the entries of the files that this snapshot added (status `Added`) and removed (status `Deleted`), from one
   * of the [[changedParts]]. An entry with the status `Deleted` and the id of another snapshot is also returned if its
   * file was live in the parent snapshot, or if the parent snapshot has expired or does not exist. The default is
   * correct for a layout whose entries always have the id of the snapshot that added or removed the file.
   */
  def changesIn(part: FilePart): Iterator[ManifestEntry] =
    entries(part).filter(e => e.status != EntryStatus.Existing && e.snapshotId.contains(snapshot.snapshotId))

  /**
   * Returns the entries of the files that this snapshot added and removed. Parts that `where` rejects are not read.
   *
   * @param where a filter that must not use the metrics of a part, because these cover only live files and not the
   *   removed files
   */
  final def changes(where: PartFilter): Iterator[ManifestEntry] =
    changedParts.iterator.filter(where.mightMatch).flatMap(changesIn)

  /**
   * Returns the files that the snapshot refers to.
   *
   * @param seen the parts of the snapshots that were visited before. These parts are omitted from the result, and the
   *   parts of this snapshot are added to `seen`
   */
  def reachable(seen: SeenParts): Reachable

  /**
   * Writes a copy of the root of the tree, with the paths that `copy` returns.
   *
   * @param lengths the lengths of the copied parts, by path. The copy lists other parts with their own lengths
   */
  def copyRoot(copy: TreeCopy, lengths: Map[String, Long]): Unit

  /**
   * Returns the manifests of the snapshot, for the metadata tables `manifests`, `all_manifests` and `tree`. Empty for a
   * layout without manifests. In version 4, the number of deleted files of a manifest includes the entries that its
   * deletion vector removes.
   */
  def manifests: Vector[ManifestFile] = Vector.empty

  /** Returns the root of the tree, if it lists files itself; absent for other layouts. */
  def treeRoot: Option[TreeRoot] = None

  /** Returns the root or manifest list, followed by the manifests. */
  final def nodes: Vector[TreeNode] = {
    val below = manifests
    val top = treeRoot.map(TreeNode.ofRoot(_, snapshot.snapshotId))
      .orElse(snapshot.manifestList.map(TreeNode.ofList(_, below.size, snapshot.snapshotId)))
    top.toVector ++ below.map(TreeNode.ofManifest)
  }

  /**
   * Returns additional parts with the entries of files that the snapshot removed, if [[parts]] does not contain them.
   * The metadata tables `entries` and `all_entries` show these entries, which have the status `Deleted`.
   */
  def removedParts: Vector[FilePart] = Vector.empty

  /**
   * Checks the tree against the rules of its layout.
   *
   * @param parent the files of the parent snapshot, in any layout; absent if there is no parent or it has expired
   * @return the violated rules; absent if the layout has no such rules
   */
  @nowarn("cat=unused-params") // unused by default
  def violations(parent: Option[SnapshotFiles]): Option[Vector[TreeViolation]] = None
}

/**
 * The files that a snapshot refers to.
 *
 * @param metadata paths of the files of its metadata tree
 * @param parts the parts that list its data and delete files
 */
final case class Reachable(metadata: Vector[String], parts: Vector[FilePart])
