package iceberglite.tree

import org.scalatest.Tag

/** Marks tests that depend on manifests. Other formats of metadata trees need not pass them. */
object OfManifests extends Tag("iceberglite.manifests")
