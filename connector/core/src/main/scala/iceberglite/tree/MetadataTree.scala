package iceberglite.tree

import java.util.UUID

import iceberglite.spec._

/**
 * A form of metadata tree: how the files of a snapshot are listed, and how a commit writes the list. Open by design: a form
 * is one member of [[MetadataTrees]], and nothing outside of its package knows its files.
 */
trait MetadataTree {

  /**
   * Whether a tree is of this form.
   *
   * @param path that the snapshot names
   * @param head the first bytes of that file, which are read only if they are asked for
   */
  def opens(path: String, head: => Array[Byte]): Boolean

  /** Whether commits to tables of the version write this form. */
  def writes(version: FormatVersion): Boolean

  /** The files of a snapshot. @param cache where decoded parts are kept; [[ManifestCache.Off]] keeps none */
  def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles

  /**
   * Writes the tree of a new snapshot: everything but table metadata. When it throws, it leaves no file behind.
   *
   * @param table the version of the table that the commit is based on
   * @param parent the files of the snapshot that the new one follows, of any form
   * @param earlier what an earlier attempt of the same commit wrote, with the same snapshot id, to be used again as far
   *   as it would be the same
   * @param cache keeps what is written
   */
  def write(
      header: TreeHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree
}

object MetadataTree {
  private val HeadBytes = 16

  /** The files of a snapshot, with the cache of the table's storage. */
  def at(snapshot: Snapshot, table: TreeTable): SnapshotFiles = at(snapshot, table, ManifestCache.of(table.io))

  /**
   * @param cache where decoded parts are kept; [[ManifestCache.Off]] keeps none
   * @throws IcebergError.Unsupported the table is encrypted: this is the way to its files, to read and to write
   */
  def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles = {
    Encryption.refuse(table.metadata)
    of(snapshot, table).at(snapshot, table, cache)
  }

  /** Writes the tree of a new snapshot in the form of the table's format version. */
  def write(
      header: TreeHeader,
      table: TreeTable,
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    Encryption.refuse(table.metadata)
    val version = table.metadata.formatVersion
    val tree = MetadataTrees.all.find(_.writes(version)).getOrElse(
      throw IcebergError.Unsupported(s"a commit to ${table.name}, of format version $version", "Upgrade iceberg-lite")
    )
    tree.write(header, table, header.parent.map(at(_, table, cache)), changes, earlier, cache)
  }

  /** Version 1 may name manifests instead of one file: that is the oldest form. */
  private def of(snapshot: Snapshot, table: TreeTable): MetadataTree = snapshot.manifestList match {
    case Some(path) if MetadataTrees.all.size > 1 =>
      lazy val head = table.io.readRange(path, 0, HeadBytes)
      MetadataTrees.all.find(_.opens(path, head)).getOrElse(throw IcebergError.UnreadableFile(
        path,
        "metadata tree",
        s"It is of no form that this release reads, and snapshot ${snapshot.snapshotId} of ${table.name} names it. " +
          "Upgrade iceberg-lite, or restore the file"
      ))
    case _ => MetadataTrees.all.last
  }
}

/** Decides which files a commit removes from a snapshot. A part that cannot match is carried over unread. */
trait FileSelector extends PartFilter {

  /**
   * Whether a live entry is removed. Called once in each attempt for each live entry of the parts that might match, by
   * several threads.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed where the entry forbids the commit
   */
  def removes(entry: ManifestEntry): Boolean
}

object FileSelector {

  /** Removes no file, as an append does. */
  object NoFiles extends FileSelector {
    override def mightMatch(part: PartSummary): Boolean = false
    override def removes(entry: ManifestEntry): Boolean = false
  }
}

/**
 * A new file whose content is as old as an earlier snapshot: a compaction's, say, to whose rows the deletes of later
 * snapshots still apply (spec: "Sequence Number Inheritance").
 *
 * @param sequenceNumber its data sequence number, which the commit does not assign; its file sequence number is the
 *   commit's like that of every new file
 */
final case class OlderFile(file: ContentFile, sequenceNumber: Long)

/** How a commit spreads the live files of some parts over new ones: files of near partitions share a part. */
trait ManifestRewrite {

  /** Chooses the parts that are replaced. */
  def chosen[P <: PartSummary](parts: Vector[P]): Vector[P]

  /** The order of files of one spec; parts are cut from it. */
  def order(spec: PartitionSpec): Ordering[PartitionTuple]
}

/**
 * What a commit does to the files of a snapshot.
 *
 * @param added new files, data or deletes, of any spec; the commit assigns their numbers and first row ids
 * @param addedOlder new files with data sequence numbers of their own
 * @param merges whether small manifests may become one, by the table's properties
 * @param rewrite rewrites manifests without a change to their files
 */
final case class FileChanges(
    added: Vector[ContentFile],
    remove: FileSelector = FileSelector.NoFiles,
    addedOlder: Vector[OlderFile] = Vector.empty,
    merges: Boolean = true,
    rewrite: Option[ManifestRewrite] = None
) {

  /** All new files. */
  def allAdded: Vector[ContentFile] = if (addedOlder.isEmpty) added else added ++ addedOlder.map(_.file)
}

/**
 * What a new snapshot is to be.
 *
 * @param parent the snapshot it is built on
 * @param firstRowId version 3: the table's next row id; `None` before
 * @param metadataPath the directory of the metadata files
 * @param commitId names the files of this snapshot; no other snapshot has it, not even one of the same transaction
 * @param attempt how often this commit has been tried before; no two attempts use the same file name
 */
final case class TreeHeader(
    snapshotId: Long,
    parent: Option[Snapshot],
    sequenceNumber: Long,
    firstRowId: Option[Long],
    metadataPath: String,
    commitId: UUID,
    attempt: Int
)

/** What an attempt of a commit has written. What a later attempt uses again is known to the tree alone. */
trait WrittenTree {

  /** The path for the snapshot's `manifest-list`. */
  def pointer: String

  /** Version 3: how many row ids the snapshot takes (its `added-rows`). */
  def addedRows: Option[Long]

  /** The added files, as they were handed in. */
  def added: Vector[ContentFile]

  /** The removed entries, as they were while live. */
  def removed: Vector[ManifestEntry]

  /** Whether the tree lists other files, or lists them otherwise, than that of its parent. */
  def changesFiles: Boolean

  /** Every file that this attempt wrote; not those that it took from an earlier one. */
  def written: Vector[String]

  /** The files of the tree: of the files that all attempts wrote, the others may go once this one is committed. */
  def references: Set[String]

  /** Entries of the snapshot's summary that describe the tree (spec: "Metadata Counts"). */
  def summary: Map[String, String]
}
