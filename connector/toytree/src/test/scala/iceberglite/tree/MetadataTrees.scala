package iceberglite.tree

import iceberglite.tree.manifestlist.{EncodedEntries, ManifestListTree}

/**
 * Replaces the connector's registry of tree formats with one that also contains [[ToyTree]]. This object comes first
 * on the class path of these tests.
 */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(ToyTree, ManifestListTree)
  val entryCodec: EntryCodec = EncodedEntries
}
