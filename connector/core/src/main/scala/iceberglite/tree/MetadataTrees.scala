package iceberglite.tree

object MetadataTrees {

  /** All forms of metadata trees, the oldest last. A table's history may mix them: each snapshot has its own. */
  val all: Seq[MetadataTree] = Seq(ManifestListTree)
}
