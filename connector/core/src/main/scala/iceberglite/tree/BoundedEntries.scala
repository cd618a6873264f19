package iceberglite.tree

import iceberglite.spec.file.ManifestEntry
import iceberglite.storage.FileIO

/** Reads the entries of parts, and limits the memory for entries of parts that are read at the same time. */
private[iceberglite] object BoundedEntries {

  /** The share of the heap that the entries of all parts may use if they are read from the cache. */
  private val HeapShare = 0.1

  /**
   * Returns the files whose cached entries are used; absent if the entries of the parts are so many that they must be
   * streamed. Entries that are not in the cache yet are decoded completely, several parts at the same time.
   */
  def cached(files: SnapshotFiles, parts: Seq[FilePart]): Option[SnapshotFiles] = {
    val bytes = parts.iterator.map(EntrySizeEstimates.maxHeapBytes).sum
    if (bytes <= Runtime.getRuntime.maxMemory * HeapShare) Some(files) else None
  }

  /** Returns the entries of a part. @param cached the files whose cached entries are used; absent to stream entries */
  def of(part: FilePart, io: FileIO, cached: Option[SnapshotFiles]): Iterator[ManifestEntry] =
    cached.fold(part.entries(io))(_.entries(part))
}
