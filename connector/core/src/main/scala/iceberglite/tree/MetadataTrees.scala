package iceberglite.tree

import iceberglite.tree.manifestlist.{EncodedEntries, ManifestListTree}

object MetadataTrees {

  /** All forms of metadata trees, the oldest last. A table's snapshots may have different forms. */
  val all: Seq[MetadataTree] = Seq(ManifestListTree)

  /** Encodes the entries of all forms of trees. */
  val entryCodec: EntryCodec = EncodedEntries
}
