package iceberglite.tree

import scala.annotation.nowarn
import scala.collection.mutable

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{ManifestEntry, PartSummary}
import iceberglite.storage.FileIO

/**
 * A part of a snapshot's metadata tree that lists files of one partition spec. In format versions 1 to 3, a part is a
 * manifest. Serializable, so that executors can read parts.
 */
trait FilePart extends PartSummary with Serializable {

  /** The id of the part, which is the same in all snapshots that share the part. */
  def id: String

  /**
   * Reads the entries, including entries of deleted files, with all inherited values. Files of the same part and
   * partition share one [[iceberglite.spec.partition.PartitionTuple]] by reference, so that values that are derived
   * from the tuple are computed once. The entries are not cached; [[SnapshotFiles.entries]] returns cached entries. The
   * file of a long part is open until the iterator ends; see [[CloseableIterator]].
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the file is missing or damaged; the iterator may also throw
   *   this error
   */
  def entries(io: FileIO): CloseableIterator[ManifestEntry]

  /**
   * Writes a copy of the part. The entries do not change, except their `data_file`, which [[TreeCopy.file]] returns.
   * The default implementation writes nothing. This is correct for a layout that stores the parts in the same file as
   * the root of the tree, because [[SnapshotFiles.copyRoot]] writes that file.
   *
   * @param table the table; the copy is written with the table's format version and schema
   * @return the length of the copy in bytes
   */
  @nowarn("cat=unused-params") // unused by default
  def copyTo(table: TreeTable, copy: TreeCopy): Long = length

  /**
   * The estimated number of live files: the count in the metadata or, if there is none, an estimate that is probably
   * too high. The count is at most the length of the part in bytes, because each entry takes at least one byte.
   */
  def estimatedLiveFiles: Long = math.min(liveFiles.getOrElse(length / FilePart.MinEntryBytes + 1), length)

  /**
   * The path of the only part to whose data files the delete files of this part apply; absent if they may apply to
   * files of other parts. A scan that does not read this data part need not read the delete files either.
   */
  def dataPart: Option[String] = None

  /**
   * The part with the entries that its snapshot removed from it without writing the file of the part again (version 4).
   * Other snapshots with the same file may still have these entries.
   */
  def whole: FilePart = this

  /** Returns the part in the form that is sent to executors: without data that only the planning JVM needs. */
  def forReading: FilePart = this

  /** Returns the key of the decoded entries, with their inherited values, in [[ManifestCache]]. */
  private[tree] def cacheKey(io: FileIO): PartKey
}

private object FilePart {

  /** The assumed size in bytes of the shortest entries, which are compressed and have no metrics. */
  val MinEntryBytes = 32L
}

/** Decides which parts of a metadata tree are read. */
trait PartFilter {

  /** Returns whether the part may list a file that the filter accepts. If not, the part is not read. */
  def mightMatch(part: PartSummary): Boolean
}

object PartFilter {

  /** Accepts all parts. */
  object All extends PartFilter {
    override def mightMatch(part: PartSummary): Boolean = true
  }
}

/** The ids of the parts and files that were found so far in the trees of several snapshots. Not thread-safe. */
final class SeenParts {
  private val ids = new java.util.HashSet[String]
  private val unlisted = mutable.Map.empty[String, DeletionVector]

  /** Adds the id of a part, or of a file of a part. @return false if the id was added before */
  def add(id: String): Boolean = ids.add(id)

  /**
   * Adds a manifest without the entries at the given positions. If several snapshots have the manifest, with different
   * removed positions, each of its entries has to be listed only once.
   *
   * @return the positions of the entries that no earlier call has listed, without the removed positions; absent if the
   *   manifest was not added before, and all of its entries except the removed ones have to be listed
   */
  private[tree] def addWithout(path: String, removed: DeletionVector): Option[DeletionVector] = {
    val before = if (ids.contains(path)) Some(DeletionVector.Empty) else unlisted.get(path)
    if (removed.isEmpty) {
      ids.add(path)
      unlisted.remove(path)
    } else if (!ids.contains(path))
      unlisted(path) = before.fold(removed)(known => known.without(known.without(removed)))
    before.map(_.without(removed))
  }
}
