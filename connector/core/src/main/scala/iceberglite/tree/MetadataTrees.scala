package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree
import iceberglite.tree.root.RootTree

/** The supported layouts of metadata trees. */
object MetadataTrees {

  /** All layouts of metadata trees, the oldest last. The snapshots of a table may have different layouts. */
  val all: Seq[MetadataTree] = Seq(new RootTree(_.expressions), ManifestListTree)
}
