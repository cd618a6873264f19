package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree
import iceberglite.tree.root.SmallRoots

/**
 * The registry of formats of metadata trees (manifest lists, or roots of version 4) for these tests. It has the same
 * name as the registry in `core`, and replaces it because it comes first on the class path.
 */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(SmallRoots, ManifestListTree)
}
