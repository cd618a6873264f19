package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.storage.EncryptedFileIO
import iceberglite.tree.TreeTable
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/**
 * Reads the deletion vectors of leaf manifests. Vectors that are close together in the same Puffin file are read
 * together.
 *
 * @param root the path of the root that lists the vectors, for messages
 */
final private[root] class StoredVectors(table: TreeTable, root: String) {

  /**
   * Reads vectors.
   *
   * @throws EntryFault if the number of positions of a vector differs from the record count of its entry, or if a
   *   vector or all vectors together are too large. If all vectors together are too large, nothing is read
   */
  def read(entries: Vector[ContentEntry]): Map[ContentEntry, DeletionVector] = {
    val total = entries.iterator.flatMap(_.vector).map(content => BigInt(StoredVectors.sizeOf(content))).sum
    if (total > StoredVectors.MaxTotalBytes) throw EntryFault(
      s"The deletion vectors of all leaves have $total bytes, over the limit of ${StoredVectors.MaxTotalBytes}"
    )
    val files = entries.groupBy(_.location).toVector
    table.pool.map(files) { case (location, inFile) =>
      if (location.isEmpty) inFile.map(e => e -> ManifestVectors.read(table.io, root, e))
      else readFile(location, inFile)
    }.flatten.toMap
  }

  /** Reads the vectors of a Puffin file by one request, if they are close together. */
  private def readFile(location: String, entries: Vector[ContentEntry]): Vector[(ContentEntry, DeletionVector)] = {
    val blobs = entries.flatMap(_.vector).collect { case blob: InPuffin => blob }
    val start = if (blobs.isEmpty) 0L else blobs.map(_.offset).min
    val end = if (blobs.isEmpty) 0L else blobs.map(b => b.offset + b.size).max
    val used = blobs.map(_.size).sum
    if (blobs.size < 2 || end - start > ManifestVectors.MaxBytes || end - start > 2 * used)
      entries.map(e => e -> ManifestVectors.read(table.io, root, e))
    else {
      val io = EncryptedFileIO.reading(table.io, location, entries.head.keyMetadata)
      val bytes = io.readRange(location, start, (end - start).toInt)
      entries.map { e =>
        e -> ManifestVectors.parse(e, e.vector.fold(Array.emptyByteArray)(slice(_, bytes, start)), location)
      }
    }
  }

  private def slice(content: VectorContent, bytes: Array[Byte], start: Long): Array[Byte] = content match {
    case InPuffin(offset, size) => bytes.slice((offset - start).toInt, (offset - start + size).toInt)
    case _: Inline => Array.emptyByteArray
  }
}

private object StoredVectors {

  /** The maximum size of all vectors of a root, in bytes. */
  private val MaxTotalBytes = 256L << 20

  private def sizeOf(content: VectorContent): Long = content match {
    case InPuffin(_, size) => size
    case Inline(bytes) => bytes.remaining.toLong
  }
}
