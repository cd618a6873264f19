package iceberglite.tree

import iceberglite.spec.file.{ManifestContent, ManifestFile}

/** The numbers of the entries of a metadata file, by their status. */
final case class EntryCounts(added: Int, existing: Int, deleted: Int) {
  def all: Int = added + existing + deleted
}

/**
 * The root of a metadata tree, for metadata tables, if it lists files itself. The counts do not include the files that
 * are listed by the manifests to which the root refers.
 *
 * @param length the length of the root in bytes
 * @param entries the number of all entries, including those that are not files
 * @param deleted the number of the entries with the status `deleted`
 */
final case class TreeRoot(
    path: String,
    length: Long,
    entries: Int,
    deleted: Int,
    data: EntryCounts,
    deletes: EntryCounts
)

/** The kind of a metadata file. */
sealed abstract class NodeKind(val name: String) extends Serializable

object NodeKind {
  case object ManifestList extends NodeKind("manifest list")
  case object Root extends NodeKind("root")
  case object DataManifest extends NodeKind("data")
  case object DeleteManifest extends NodeKind("deletes")
}

/**
 * A metadata file of a snapshot's tree, for the metadata table `tree`.
 *
 * @param level 0 for a root or manifest list, 1 for a manifest below it
 * @param length the length in bytes; absent if no other metadata states it
 * @param specId the partition spec of all files that the node lists; absent if they may have several
 * @param snapshotId the snapshot that added the file
 * @param entries the number of entries in the file, whatever their status; absent if no metadata states it
 * @param deleted the number of entries that are not live: entries with the status `deleted`, and entries that a
 *   deletion vector removes; absent if no metadata states it
 */
final case class TreeNode(
    level: Int,
    kind: NodeKind,
    path: String,
    length: Option[Long],
    specId: Option[Int],
    snapshotId: Long,
    entries: Option[Long],
    deleted: Option[Long]
)

private[tree] object TreeNode {
  def ofRoot(root: TreeRoot, snapshotId: Long): TreeNode = TreeNode(
    0,
    NodeKind.Root,
    root.path,
    Some(root.length),
    None,
    snapshotId,
    Some(root.entries.toLong),
    Some(root.deleted.toLong)
  )

  def ofList(path: String, manifests: Int, snapshotId: Long): TreeNode =
    TreeNode(0, NodeKind.ManifestList, path, None, None, snapshotId, Some(manifests.toLong), Some(0L))

  def ofManifest(m: ManifestFile): TreeNode = TreeNode(
    1,
    if (m.content == ManifestContent.Data) NodeKind.DataManifest else NodeKind.DeleteManifest,
    m.path,
    Some(m.length),
    Some(m.partitionSpecId),
    m.addedSnapshotId,
    for (added <- m.addedFilesCount; existing <- m.existingFilesCount; deleted <- m.deletedFilesCount)
      yield added.toLong + existing + deleted,
    m.deletedFilesCount.map(_.toLong)
  )
}

/**
 * A rule of the layout of metadata trees that a tree violates.
 *
 * @param rule the number of the rule, such as `I4`
 */
final case class TreeViolation(rule: String, reason: String)
