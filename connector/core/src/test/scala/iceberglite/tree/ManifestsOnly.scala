package iceberglite.tree

import org.scalatest.Tag

/**
 * Marks tests that depend on manifest lists and manifests, for example because they count the reads of these files. The
 * tests are not run with other formats of metadata trees, for example with the roots of format version 4.
 */
object ManifestsOnly extends Tag("iceberglite.manifests")
