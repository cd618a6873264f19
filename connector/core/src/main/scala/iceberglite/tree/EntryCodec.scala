package iceberglite.tree

import iceberglite.spec.file.ManifestEntry

/** Encodes the entries of a part that one JVM sends to another. */
trait EntryCodec {

  /**
   * Encodes entries of a part.
   *
   * @param part the part that lists the entries
   * @param entries existing entries with all inherited values
   * @param pruned the number of entries of the part that are left out
   */
  def encode(part: FilePart, specs: PartitionSpecs, entries: Iterator[ManifestEntry], pruned: Int): Array[Byte]

  /**
   * Decodes entries.
   *
   * @return the entries, which share partition tuples, and the number of entries that were left out
   */
  def decode(part: FilePart, specs: PartitionSpecs, bytes: Array[Byte]): (Iterator[ManifestEntry], Int)
}
