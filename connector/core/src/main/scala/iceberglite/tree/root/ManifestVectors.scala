package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{EntryStatus, FileFormat}
import iceberglite.storage.{EncryptedFileIO, FileIO}
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/**
 * Deletion vectors of leaf manifests. A vector contains the positions of the entries that are removed from a leaf. A
 * position is the ordinal of an entry in the file. Entries of every status are counted.
 */
private[root] object ManifestVectors {

  /** Returns the root's entry for a new inline vector. */
  def entry(leaf: ContentEntry, positions: DeletionVector, snapshotId: Long, sequenceNumber: Long): ContentEntry = {
    val number = Some(sequenceNumber)
    entry(leaf, positions, VersionInfo(EntryStatus.Added, Some(snapshotId), number, number))
  }

  /** Returns the root's entry for an inline vector. */
  def entry(leaf: ContentEntry, positions: DeletionVector, version: VersionInfo): ContentEntry =
    ContentEntry(
      content = EntryContent.ManifestVector,
      location = "",
      format = FileFormat.Puffin,
      version = version,
      specId = leaf.specId,
      recordCount = positions.cardinality,
      fileSizeInBytes = None,
      vector = Some(Inline(ByteBuffer.wrap(positions.toBytes))),
      referencedFile = Some(leaf.location)
    )

  /**
   * Reads a vector.
   *
   * @param root the path of the root that lists the vector, for messages
   * @throws EntryFault if the entry has no content, if the content is too large, or if the number of positions differs
   *   from the record count of the entry
   */
  def read(io: FileIO, root: String, entry: ContentEntry): DeletionVector = {
    val leaf = entry.referencedFile.mkString
    val bytes = entry.vector match {
      case Some(Inline(inline)) => copy(inline)
      case Some(InPuffin(offset, size)) if size <= MaxBytes =>
        EncryptedFileIO.reading(io, entry.location, entry.keyMetadata).readRange(entry.location, offset, size.toInt)
      case Some(InPuffin(_, size)) =>
        throw EntryFault(s"The deletion vector of $leaf has $size bytes, over the limit of $MaxBytes")
      case None => throw EntryFault(s"The deletion vector of $leaf has no content")
    }
    parse(entry, bytes, if (entry.location.isEmpty) root else entry.location)
  }

  /**
   * Parses a vector.
   *
   * @param file the file with the bytes, for messages
   * @throws EntryFault if the number of positions differs from the record count of the entry
   */
  def parse(entry: ContentEntry, bytes: Array[Byte], file: String): DeletionVector = {
    val leaf = entry.referencedFile.mkString
    val positions = DeletionVector.parse(file, leaf, bytes)
    if (positions.cardinality != entry.recordCount) throw EntryFault(
      s"The deletion vector of $leaf has ${positions.cardinality} positions, but its entry states ${entry.recordCount}"
    )
    positions
  }

  /** The maximum size of a vector in a Puffin file, in bytes; a leaf has at most a few million entries. */
  val MaxBytes: Long = 16L << 20

  /** Returns the remaining bytes of a buffer. */
  def copy(buffer: ByteBuffer): Array[Byte] = {
    val bytes = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(bytes)
    bytes
  }
}
