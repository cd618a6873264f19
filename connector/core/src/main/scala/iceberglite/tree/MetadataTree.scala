package iceberglite.tree

import java.util.UUID

import iceberglite.encryption.FileKey
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.file.{ContentFile, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}

/**
 * A layout of metadata trees. The metadata tree of a snapshot consists of the metadata files that list its data and
 * delete files: a manifest list and manifests in format versions 1 to 3, or a root and leaf manifests in version 4. The
 * layout defines how the files of a snapshot are listed, and how a commit writes this list. To add a layout, add it to
 * [[MetadataTrees.all]]. Code outside this package does not depend on the layout.
 */
trait MetadataTree {

  /**
   * Returns whether a tree has this layout.
   *
   * @param path the `manifest-list` of the snapshot
   * @param head the first bytes of the file at `path`; evaluated only if needed
   */
  def canRead(path: String, head: => Array[Byte]): Boolean

  /** Returns whether commits to tables with this format version write this layout. */
  def canWrite(version: FormatVersion): Boolean

  /** Returns the files of a snapshot. @param cache cache of decoded parts, possibly [[ManifestCache.Disabled]] */
  def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles

  /**
   * Writes the tree of a new snapshot: all of its metadata files except the table metadata. On failure, the files that
   * were already written are deleted.
   *
   * @param table the version of the table that the commit is based on
   * @param parent the files of the parent snapshot, in any layout
   * @param earlier the result of an earlier attempt of the same commit, with the same snapshot id; its unchanged parts
   *   are reused
   * @param cache receives the contents of the written files
   */
  def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree

  /**
   * Returns a codec that encodes the entries of parts of any layout, if this layout provides one. At least one layout
   * must provide a codec.
   */
  def entryCodec: Option[EntryCodec] = None
}

object MetadataTree {
  private val HeadBytes = 16

  /** Encodes the entries of parts of all layouts. */
  lazy val entryCodec: EntryCodec = MetadataTrees.all.flatMap(_.entryCodec).head

  /** Returns the files of a snapshot, with the cache of the table's storage. */
  def at(snapshot: Snapshot, table: TreeTable): SnapshotFiles = at(snapshot, table, ManifestCache.of(table.io))

  /**
   * Returns the files of a snapshot.
   *
   * @param cache cache of decoded parts, possibly [[ManifestCache.Disabled]]
   * @throws IcebergError.Unsupported if the table is encrypted and its catalog has no key management service. The
   *   readers of the table's files need no check of their own, because each of them calls this method first
   */
  def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles = {
    table.keys
    of(snapshot, table).at(snapshot, table, cache)
  }

  /** Writes the tree of a new snapshot in the layout of the table's format version. */
  def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    val version = table.metadata.formatVersion
    val tree = MetadataTrees.all.find(_.canWrite(version)).getOrElse(
      throw IcebergError.Unsupported(
        s"a commit to ${table.name}, which has format version $version",
        "Upgrade iceberg-lite"
      )
    )
    table.keys
    tree.write(header, table, header.parent.map(at(_, table, cache)), changes, earlier, cache)
  }

  /**
   * Returns the layout of a snapshot's tree. A version 1 snapshot without a manifest list has the oldest layout: table
   * metadata lists its manifests.
   */
  private def of(snapshot: Snapshot, table: TreeTable): MetadataTree = snapshot.manifestList match {
    case Some(path) if MetadataTrees.all.size > 1 =>
      lazy val head = table.reading(table.rootIO(snapshot, path).readRange(path, 0, HeadBytes))
      MetadataTrees.all.find(_.canRead(path, head)).getOrElse(throw IcebergError.UnreadableFile(
        path,
        "metadata tree",
        s"The layout of this file, to which snapshot ${snapshot.snapshotId} of ${table.name} refers, is not " +
          "supported. Upgrade iceberg-lite, or restore the file"
      ))
    case _ => MetadataTrees.all.last
  }
}

/**
 * Selects the files that a commit removes from a snapshot. Parts of the metadata tree (see [[FilePart]]) that cannot
 * list such files are carried over without being read.
 */
trait FileSelector extends PartFilter {

  /**
   * Returns whether the commit removes a live entry. Each commit attempt calls this method once for each live entry of
   * the parts that may match, from several threads.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the entry prevents the commit
   */
  def removes(entry: ManifestEntry): Boolean
}

object FileSelector {

  /** Removes no files. Appends use this selector. */
  object NoFiles extends FileSelector {
    override def mightMatch(part: PartSummary): Boolean = false
    override def removes(entry: ManifestEntry): Boolean = false
  }
}

/**
 * A new file with the data sequence number of an earlier snapshot. For example, a compacted file has such a number, so
 * that the deletes of later snapshots apply to its rows (spec: "Sequence Number Inheritance").
 *
 * @param sequenceNumber the data sequence number of the file. The file sequence number is that of the commit, as for
 *   every new file
 */
final case class OlderFile(file: ContentFile, sequenceNumber: Long)

/**
 * A rewrite of parts of the metadata tree (see [[FilePart]]), as by the procedure `rewrite_manifests`. The commit
 * writes the entries of live files in the chosen parts to new parts, sorted by partition.
 */
trait ManifestRewrite {

  /** Chooses the parts to replace. */
  def choose[P <: PartSummary](parts: Vector[P]): Vector[P]

  /** Returns the order in which the entries of one partition spec are written to new parts. */
  def order(spec: PartitionSpec): Ordering[PartitionTuple]
}

/**
 * The changes of a commit to the files of a snapshot.
 *
 * @param added new data and delete files of any partition spec; the commit assigns their sequence numbers and first row
 *   ids
 * @param remove selects the files to remove
 * @param addedOlder new files with the data sequence numbers of earlier snapshots
 * @param mergesManifests whether small manifests may be merged, according to the table's properties
 * @param rewrite the rewrite of manifests, which keeps their live files; absent if the commit does not rewrite
 *   manifests
 */
final case class FileChanges(
    added: Vector[ContentFile],
    remove: FileSelector = FileSelector.NoFiles,
    addedOlder: Vector[OlderFile] = Vector.empty,
    mergesManifests: Boolean = true,
    rewrite: Option[ManifestRewrite] = None
) {

  /** Returns all new files. */
  def allAdded: Vector[ContentFile] = if (addedOlder.isEmpty) added else added ++ addedOlder.map(_.file)
}

/**
 * The properties of a new snapshot.
 *
 * @param parent the parent snapshot
 * @param firstRowId the table's next row id; `None` before format version 3
 * @param metadataPath the directory of the metadata files
 * @param commitId an id that the names of this snapshot's files contain; unique per snapshot, even within a transaction
 * @param attempt the number of earlier attempts of this commit. The file names contain it, so that they differ between
 *   attempts
 */
final case class NewSnapshotHeader(
    snapshotId: Long,
    parent: Option[Snapshot],
    sequenceNumber: Long,
    firstRowId: Option[Long],
    metadataPath: String,
    commitId: UUID,
    attempt: Int
)

/** The file to which a snapshot refers. @param key its key; absent if the table is not encrypted */
final case class TreePointer(path: String, key: Option[FileKey])

/** The tree that a commit attempt has written. The implementation determines what a later attempt can reuse. */
trait WrittenTree {

  /** Returns the path for the snapshot's `manifest-list`. */
  def pointer: String

  /** Returns the key of the file at [[pointer]]; absent if the table is not encrypted. */
  def rootKey: Option[FileKey] = None

  /** Returns the number of row ids that the snapshot assigns (its `added-rows`); absent before version 3. */
  def addedRows: Option[Long]

  /** Returns the added files, as passed to [[MetadataTree.write]]. */
  def added: Vector[ContentFile]

  /** Returns the removed entries as they were in the parent snapshot. */
  def removed: Vector[ManifestEntry]

  /** Returns whether the tree differs from the parent's tree in its files or its parts. */
  def changesFiles: Boolean = added.nonEmpty || removed.nonEmpty

  /**
   * Returns the paths of all metadata files that this attempt wrote. Files that it reuses from an earlier attempt are
   * not included.
   */
  def written: Vector[String]

  /**
   * Returns the paths of the metadata files of the tree. After this attempt is committed, all other metadata files that
   * the attempts wrote can be deleted. The default is correct for a layout that never reuses files.
   */
  def references: Set[String] = written.toSet

  /** Returns entries of the snapshot's summary that describe the tree (spec: "Metadata Counts"). */
  def summary: Map[String, String] = Map.empty
}
