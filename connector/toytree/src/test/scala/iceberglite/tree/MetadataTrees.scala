package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree

/**
 * Replaces the registry of the connector with one that has an additional member: this one is first on the class path of
 * these tests.
 */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(ToyTree, ManifestListTree)
}
