package iceberglite.tree

import org.scalatest.Tag

/** Marks tests that inspect manifests, and not only the files of a snapshot; other tree formats need not pass them. */
object OfManifests extends Tag("iceberglite.manifests")
