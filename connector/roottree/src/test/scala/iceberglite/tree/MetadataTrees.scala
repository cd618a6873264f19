package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree
import iceberglite.tree.root.SmallRoots

/**
 * The registry of tree formats for these tests. It has the same name as the registry in `core`, and replaces it because
 * it comes first on the class path.
 */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(SmallRoots, ManifestListTree)
}
