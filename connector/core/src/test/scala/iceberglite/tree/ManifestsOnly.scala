package iceberglite.tree

import org.scalatest.Tag

/** Marks tests that depend on manifests, and are therefore not run with other formats of metadata trees. */
object ManifestsOnly extends Tag("iceberglite.manifests")
