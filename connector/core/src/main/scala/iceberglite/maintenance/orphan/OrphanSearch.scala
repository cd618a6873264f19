package iceberglite.maintenance.orphan

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import iceberglite.storage.FileIO
import iceberglite.tree.{FilePart, MetadataPool}

/**
 * The files that a version of a table needs.
 *
 * @param named paths of metadata and statistics files
 * @param parts the parts of metadata trees that list the data and delete files (manifests in format versions 1 to 3)
 */
final case class NeededFiles(named: Vector[String], parts: Vector[FilePart])

/**
 * A listed file that the table does not need.
 *
 * @param conflict the path in the metadata that differs only in its scheme or authority, if there is one
 */
final case class OrphanCandidate(path: String, conflict: Option[String])

/** The listed files that a table does not need. Implementations use a bounded amount of memory in this JVM. */
trait OrphanCandidates extends AutoCloseable {

  /** Returns all candidates. A second call may compare the files again. */
  def iterator: Iterator[OrphanCandidate]

  /** Returns one of the candidates that have a conflict; absent if there is none. */
  def conflict: Option[OrphanCandidate]

  override def close(): Unit = ()
}

/** Finds listed files that a table does not need. Implementations differ in where they compare the files. */
trait OrphanSearch {

  /**
   * Returns the listed files that are old enough and that the table does not need. The caller closes the result.
   *
   * @param olderThanMs only files that were modified before this time are returned
   * @throws iceberglite.spec.IcebergError if a directory or a part cannot be read, or if the metadata has a path that
   *   cannot be compared. The methods of the result may also throw this error
   */
  def find(
      io: FileIO,
      listing: FileListing,
      needed: NeededFiles,
      olderThanMs: Long,
      prefixes: EqualPrefixes
  ): OrphanCandidates
}

/**
 * Compares the files in this JVM. About `maxCandidates` listed files are held in memory at a time: if there are more,
 * the directory and the metadata are read several times, each time for a different share (subset) of the paths.
 *
 * @param ifMore compares the files instead of this search if there are more than `maxCandidates`
 */
final class LocalOrphanSearch(
    maxCandidates: Int = LocalOrphanSearch.MaxCandidates,
    ifMore: Option[OrphanSearch] = None
) extends OrphanSearch {
  import LocalOrphanSearch._

  override def find(
      io: FileIO,
      listing: FileListing,
      needed: NeededFiles,
      olderThanMs: Long,
      prefixes: EqualPrefixes
  ): OrphanCandidates = {
    val shares = new AtomicInteger(1)
    val old = oldPaths(listing, olderThanMs)
    val first = firstShare(old, prefixes, shares)
    ifMore.filter(_ => shares.get > 1) match {
      case Some(other) => other.find(io, listing, needed, olderThanMs, prefixes)
      case None =>
        first.removeNeeded(io, needed)
        new LocalCandidates(
          first,
          (1 until shares.get).iterator.map { share =>
            val candidates = new Candidates(prefixes, shares, share)
            old(candidates.add)
            candidates.removeNeeded(io, needed)
            candidates
          }
        )
    }
  }

  /** Returns a function that lists the files again, and calls its argument with the path of each old file. */
  private def oldPaths(listing: FileListing, olderThanMs: Long): (String => Unit) => Unit =
    add => listing.foreach(file => if (file.modifiedMs < olderThanMs) add(file.path))

  /** Returns the listed files of the first share. Doubles the number of shares while there are too many files. */
  private def firstShare(old: (String => Unit) => Unit, prefixes: EqualPrefixes, shares: AtomicInteger): Candidates = {
    val first = new Candidates(prefixes, shares, 0)
    old { path =>
      first.add(path)
      if (first.size > maxCandidates) first.synchronized {
        if (first.size > maxCandidates) {
          shares.set(shares.get * 2)
          first.removeOtherShares()
        }
      }
    }
    // Other threads may have added files of other shares after the number of shares grew.
    first.removeOtherShares()
    first
  }
}

object LocalOrphanSearch {

  /** The default maximum number of listed files in memory. A path takes about 500 bytes of heap. */
  val MaxCandidates = 500000

  /** @param others finds the candidates of the other shares, one after the other */
  final private class LocalCandidates(first: Candidates, others: => Iterator[Candidates]) extends OrphanCandidates {
    override def iterator: Iterator[OrphanCandidate] = (Iterator(first) ++ others).flatMap(_.remaining)

    override def conflict: Option[OrphanCandidate] = iterator.find(_.conflict.isDefined)
  }

  /**
   * The listed files of one share, by their paths without scheme and authority. Thread-safe.
   *
   * @param shares the number of shares, which may grow
   */
  final private class Candidates(prefixes: EqualPrefixes, shares: AtomicInteger, share: Int) {
    private val byPath = new ConcurrentHashMap[String, Vector[OrphanCandidate]]

    def size: Int = byPath.size

    def add(path: String): Unit = {
      val key = FileUri.of(path).path
      if (isInShare(key))
        byPath.merge(key, Vector(OrphanCandidate(path, None)), (known, added) => (known ++ added).distinct)
    }

    def removeOtherShares(): Unit = {
      byPath.keySet.removeIf(key => !isInShare(key))
      ()
    }

    private def isInShare(key: String): Boolean =
      shares.get == 1 || Math.floorMod(MurmurHash3.stringHash(key), shares.get) == share

    def removeNeeded(io: FileIO, needed: NeededFiles): Unit = {
      needed.named.foreach(removeNeeded)
      MetadataPool.map(needed.parts)(_.entries(io).filter(_.isLive).foreach(entry => removeNeeded(entry.file.path)))
      ()
    }

    private def removeNeeded(path: String): Unit = {
      val uri = FileUri.ofMetadata(path)
      byPath.computeIfPresent(
        uri.path,
        (_, candidates) => {
          val others = candidates.filterNot(candidate => prefixes.matches(uri, FileUri.of(candidate.path)))
          if (others.isEmpty) null else others.map(_.copy(conflict = Some(path)))
        }
      )
      ()
    }

    def remaining: Iterator[OrphanCandidate] = byPath.values.iterator.asScala.flatMap(_.iterator)
  }
}
