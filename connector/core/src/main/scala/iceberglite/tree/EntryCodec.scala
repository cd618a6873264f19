package iceberglite.tree

import iceberglite.spec.file.ManifestEntry

/**
 * Encodes the manifest entries of a part of a metadata tree (see [[FilePart]]), so that Spark executors can send them
 * to the driver, which plans the scan.
 */
trait EntryCodec {

  /**
   * Encodes entries of a part.
   *
   * @param part the part that lists the entries
   * @param entries the entries to encode; their status is `existing`, and inherited values, such as the snapshot id and
   *   the sequence numbers, are already filled in
   * @param pruned the number of live entries of the part that are omitted
   */
  def encode(part: FilePart, specs: PartitionSpecs, entries: Iterator[ManifestEntry], pruned: Int): Array[Byte]

  /**
   * Decodes entries.
   *
   * @return the entries, and the number of entries that were omitted. Entries of the same partition share one partition
   *   tuple by reference
   */
  def decode(part: FilePart, specs: PartitionSpecs, bytes: Array[Byte]): (Iterator[ManifestEntry], Int)
}
