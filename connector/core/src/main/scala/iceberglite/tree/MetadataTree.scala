package iceberglite.tree

import java.util.UUID

import iceberglite.io.FileIO
import iceberglite.spec._

/**
 * What the files of a snapshot are, and how a commit writes them. Open by design: versions 1 to 3 hang on a manifest
 * list ([[ManifestListTree]]), and nobody outside this package knows it.
 */
trait MetadataTree {

  /** The manifests of a snapshot, data and deletes, in the order of the list. */
  def manifests(snapshot: Snapshot): Vector[ManifestFile]

  /**
   * The rows of a manifest, deleted ones too, with everything inherited. Files of one manifest and one partition share
   * one [[PartitionTuple]] by reference, so that what depends on it is computed once.
   */
  def entries(manifest: ManifestFile): Iterator[ManifestEntry]

  /**
   * Writes the tree of a new snapshot: everything but table metadata. When it throws, it leaves no file behind.
   *
   * @param reuse what an earlier attempt of the same commit wrote, with the same snapshot id: its manifests of added
   *   files are taken again where they would be the same (spec: "Sequence Number Inheritance" makes that possible), and
   *   its regrouped manifests where those that they stand for are all still there
   */
  def write(header: TreeHeader, changes: FileChanges, reuse: Option[WrittenTree]): WrittenTree
}

object MetadataTree {

  /** The tree of a table. */
  def of(io: FileIO, metadata: TableMetadata): MetadataTree = of(io, metadata, ManifestCache.of(io))

  /** @param cache where decoded manifests are kept; [[ManifestCache.Off]] keeps none */
  def of(io: FileIO, metadata: TableMetadata, cache: ManifestCache): MetadataTree =
    of(io, metadata, metadata.schema, cache)

  /**
   * The same with partition values of the types that they have under `schema`, perhaps that of an old snapshot.
   *
   * @throws IcebergError.Unsupported the table is encrypted: this is the way to its files, to read and to write
   */
  def of(io: FileIO, metadata: TableMetadata, schema: Schema, cache: ManifestCache): MetadataTree = {
    Encryption.refuse(metadata)
    new ManifestListTree(io, metadata.specsById, PartitionSources.schema(metadata, schema), cache)
  }
}

/** Which files a commit takes out of a snapshot. */
trait FileSelector {

  /** False only where no entry of the manifest is to be removed: it is carried over unread. */
  def mightMatch(manifest: ManifestFile): Boolean

  /**
   * Whether a live entry is removed. Called once an attempt for each live entry of the manifests that might match, from
   * several threads.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed where the entry forbids the commit
   */
  def removes(entry: ManifestEntry): Boolean
}

object FileSelector {

  /** Removes nothing, as an append does. */
  object Nothing extends FileSelector {
    override def mightMatch(manifest: ManifestFile): Boolean = false
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

/** How a commit spreads the live files of some manifests over new ones: files that are near each other share one. */
trait Regrouping {

  /** The manifests that are to be replaced, of those that are there. */
  def chosen(manifests: Vector[ManifestFile]): Vector[ManifestFile]

  /** The order of files of one spec; manifests are cut from it. */
  def order(spec: PartitionSpec): Ordering[PartitionTuple]
}

/**
 * What a commit does to the files of a snapshot.
 *
 * @param added new files, data or deletes, of any spec; their numbers and first row ids are assigned by the commit
 * @param addedOlder the same with data sequence numbers of their own
 * @param merges whether small manifests may become one, by the table's properties
 * @param regroup manifests that are written anew without a change to their files
 */
final case class FileChanges(
    added: Vector[ContentFile],
    remove: FileSelector = FileSelector.Nothing,
    addedOlder: Vector[OlderFile] = Vector.empty,
    merges: Boolean = true,
    regroup: Option[Regrouping] = None
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
 * @param commitId names the files of this snapshot; no other snapshot has it, also not one of the same transaction
 * @param attempt how often this commit has been tried before; two attempts name no file alike
 */
final case class TreeHeader(
    formatVersion: FormatVersion,
    snapshotId: Long,
    parent: Option[Snapshot],
    sequenceNumber: Long,
    firstRowId: Option[Long],
    schema: Schema,
    specs: Map[Int, PartitionSpec],
    properties: Map[String, String],
    metadataPath: String,
    commitId: UUID,
    attempt: Int
)

/** A file that a commit adds, with its data sequence number if it has one of its own. */
final case class NewFile(file: ContentFile, sequenceNumber: Option[Long])

/** A manifest of added files, and what another one must be like to be the same. */
final case class NewManifest(manifest: ManifestFile, version: FormatVersion, files: Vector[NewFile]) {

  /** The files are those that the action holds, so that it is enough to ask whether they are the same objects. */
  private[tree] def holds(others: Vector[NewFile], by: FormatVersion): Boolean =
    version == by && files.size == others.size &&
      files.zip(others).forall { case (a, b) => (a.file eq b.file) && a.sequenceNumber == b.sequenceNumber }
}

/**
 * Manifests that stand for others, with the same live files.
 *
 * @param processed how many files that were
 */
final case class RegroupedManifests(
    from: Vector[ManifestFile],
    to: Vector[ManifestFile],
    version: FormatVersion,
    processed: Int
)

/**
 * What an attempt has written.
 *
 * @param manifestList the path for the snapshot's `manifest-list`
 * @param addedRows version 3: how many row ids the snapshot takes (its `added-rows`)
 * @param added the added files, as they were handed in
 * @param removed the removed entries, as they were while live
 * @param manifests all of the snapshot's manifests
 * @param newManifests the manifests of the added files; a later attempt takes them again
 * @param regrouped the manifests that were written anew, if that was asked for and there was something to do
 * @param written every file that this attempt wrote; not those that it took from an earlier one
 * @param created how many of `manifests` are new with this snapshot (summary `manifests-created`)
 * @param kept how many are the parent's (`manifests-kept`)
 * @param replaced how many of the parent's with live files were rewritten or merged (`manifests-replaced`)
 */
final case class WrittenTree(
    manifestList: String,
    addedRows: Option[Long],
    added: Vector[ContentFile],
    removed: Vector[ManifestEntry],
    manifests: Vector[ManifestFile],
    newManifests: Vector[NewManifest],
    regrouped: Option[RegroupedManifests],
    written: Vector[String],
    created: Int,
    kept: Int,
    replaced: Int
) {

  /** Whether the snapshot differs from its parent in more than its manifest list. */
  def changesFiles: Boolean = added.nonEmpty || removed.nonEmpty || regrouped.nonEmpty

  /** What the snapshot needs: of the files of all attempts, the rest may go once this one is committed. */
  lazy val references: Set[String] = manifests.map(_.path).toSet + manifestList
}
