package iceberglite.tree

import iceberglite.tree.manifestlist.{EncodedEntries, ManifestListTree}

object MetadataTrees {

  /** All layouts of metadata trees, the oldest last. The snapshots of a table may have different layouts. */
  val all: Seq[MetadataTree] = Seq(ManifestListTree)

  /** Encodes the entries of all forms of trees. */
  val entryCodec: EntryCodec = EncodedEntries
}
