package iceberglite.tree

import iceberglite.spec.FormatVersion

/**
 * The format version of tests' tables whose version does not matter. It has the same name as the object in `core`, and
 * replaces it because it comes first on the class path, so that the suites write roots.
 */
object DefaultVersion {
  val version: FormatVersion = FormatVersion.V4

  /** The properties with which a table of this version is created. */
  val properties: Map[String, String] = Map("format-version" -> version.toString)
}
