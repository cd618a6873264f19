package iceberglite.tree

import iceberglite.tree.manifestlist.ManifestListTree

/** Takes the place of the registry of the connector, with one more member: the class path of these tests has it first. */
object MetadataTrees {
  val all: Seq[MetadataTree] = Seq(ToyTree, ManifestListTree)
}
