package iceberglite.tree

import org.scalatest.Tag

/** Marks tests that look at manifests, and not only at the files of a snapshot: other forms of trees need not pass them. */
object OfManifests extends Tag("iceberglite.manifests")
