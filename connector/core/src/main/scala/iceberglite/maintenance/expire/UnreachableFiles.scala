package iceberglite.maintenance.expire

import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import iceberglite.spec.file.Content
import iceberglite.storage.{FileIO, StoragePath}
import iceberglite.tree.{FilePart, MetadataPool}

/** A data or delete file that no remaining snapshot refers to. */
final case class UnreachableFile(path: String, content: Content)

/**
 * Finds the data and delete files that only expired snapshots refer to. Implementations differ in where they compare
 * the files: in this JVM, or on a cluster.
 */
trait UnreachableFiles {

  /**
   * Returns each live file of the expired parts that is not live in any retained part. Parts of metadata trees are
   * manifests in format versions 1 to 3. The result can be iterated once, and takes bounded memory. The caller may
   * delete the returned files before the iteration ends, but must not delete the parts.
   *
   * @param expired parts that no remaining snapshot has
   * @param retained the parts of all remaining snapshots
   * @throws iceberglite.spec.IcebergError.UnreadableFile if a part is missing or damaged; the iterator may also throw
   *   this error
   */
  def find(io: FileIO, expired: Vector[FilePart], retained: Vector[FilePart]): Iterator[UnreachableFile]
}

object UnreachableFiles {

  /**
   * Returns a function from the path of a file to a key. The key is equal for all spellings of the path, such as
   * `s3://b/f` and `s3a://b//f`, because engines that add a file again may spell its path in another way. A path
   * without a unique meaning is its own key.
   */
  def keys(io: FileIO): String => String = {
    val default = io.defaultFileSystem
    // The path itself is returned if it equals the key, because each of many strings takes memory.
    path => StoragePath.of(path, default).map(_.text).filter(_ != path).getOrElse(path)
  }
}

/**
 * Compares the files in this JVM. About `maxCandidates` files at most are held in memory at a time: if there are more,
 * the parts are read several times, each time for a different subset of the paths.
 */
final class LocalUnreachableFiles(maxCandidates: Int = LocalUnreachableFiles.MaxCandidates) extends UnreachableFiles {

  override def find(io: FileIO, expired: Vector[FilePart], retained: Vector[FilePart]): Iterator[UnreachableFile] = {
    val shares = ((LocalUnreachableFiles.count(expired) + maxCandidates - 1) / maxCandidates).toInt
    (0 until shares).iterator.flatMap(share => ofShare(io, expired, retained, share, shares))
  }

  private def ofShare(
      io: FileIO,
      expired: Vector[FilePart],
      retained: Vector[FilePart],
      share: Int,
      shares: Int
  ): Iterator[UnreachableFile] = {
    def isInShare(key: String) = shares == 1 || Math.floorMod(MurmurHash3.stringHash(key), shares) == share
    val keyOf = UnreachableFiles.keys(io)
    val candidates = new ConcurrentHashMap[String, UnreachableFile]
    MetadataPool.map(expired.filter(_.hasLiveFiles)) { part =>
      part.entries(io).filter(_.isLive).map(_.file).foreach { file =>
        val key = keyOf(file.path)
        if (isInShare(key)) candidates.put(key, UnreachableFile(file.path, file.content))
      }
    }
    MetadataPool.map(LocalUnreachableFiles.possiblyShared(expired, retained)) { part =>
      if (!candidates.isEmpty) part.entries(io).filter(_.isLive)
        .foreach(entry => candidates.remove(keyOf(entry.file.path)))
    }
    candidates.values.iterator.asScala
  }
}

object LocalUnreachableFiles {

  /** The default maximum number of files in memory. A file takes up to 500 bytes of heap. */
  private val MaxCandidates = 500000

  /**
   * Returns the retained parts that may list a file of an expired part. Partition specs and sequence numbers are not
   * compared, because a file that was removed can be added again with a different partition spec and sequence number.
   */
  def possiblyShared(expired: Vector[FilePart], retained: Vector[FilePart]): Vector[FilePart] = {
    val contents = expired.filter(_.hasLiveFiles).map(_.content).toSet
    retained.filter(part => part.hasLiveFiles && contents(part.content))
  }

  /** Returns the estimated number of live files in parts. */
  def count(parts: Vector[FilePart]): Long = parts.iterator.map(_.estimatedLiveFiles).sum
}
