package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree

object MetadataTrees {

  /** All forms of metadata trees, the oldest last. A table's snapshots may have different forms. */
  val all: Seq[MetadataTree] = Seq(ManifestListTree)
}
