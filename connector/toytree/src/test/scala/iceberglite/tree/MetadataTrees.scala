package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree

/**
 * The registry of formats of metadata trees (manifest lists, or the files of [[ToyTree]]) for these tests. It has the
 * same name as the registry in `core`, and replaces it because it comes first on the class path.
 */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(ToyTree, ManifestListTree)
}
