package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree

/** Replaces the registry of the connector, because it comes first on the class path of these tests. */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(ToyTree, ManifestListTree)
}
