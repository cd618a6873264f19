package iceberglite.tree

import iceberglite.io.FileIO
import iceberglite.spec.{ManifestEntry, PartSummary}

/**
 * A part of a snapshot's metadata tree that lists files of one partition spec: of versions 1 to 3, a manifest.
 * Serializable, so that executors read it.
 */
trait FilePart extends PartSummary with Serializable {

  /** Identifies what the part lists; the same in all snapshots that share the part. */
  def id: String

  /**
   * Returns the entries, deleted ones too, with everything inherited. Files of one part and one partition share one
   * [[iceberglite.spec.PartitionTuple]] by reference, so that what depends on it is computed once. Nothing is cached;
   * see [[SnapshotFiles.entries]].
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile here or from the iterator: the file is missing or damaged
   */
  def entries(io: FileIO): Iterator[ManifestEntry]

  /** The part without what only its planner needs, to be sent to another JVM. */
  def forReading: FilePart

  /** Identifies the decoded entries in a cache: what they inherit counts too. */
  private[tree] def cacheKey(io: FileIO): PartKey
}

/** Decides which parts of a tree are read. */
trait PartFilter {

  /** False only if no file of the part is wanted: the part is not read. */
  def mightMatch(part: PartSummary): Boolean
}

object PartFilter {

  /** Wants all parts. */
  object All extends PartFilter {
    override def mightMatch(part: PartSummary): Boolean = true
  }
}

/** What was already seen of the trees of several snapshots, by the ids of parts or of files. For one thread. */
final class SeenParts {
  private val ids = new java.util.HashSet[String]

  /** Notes a part, or a file of one. @return false if it was seen before */
  def add(id: String): Boolean = ids.add(id)
}
