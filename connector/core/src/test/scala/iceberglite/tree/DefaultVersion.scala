package iceberglite.tree

import iceberglite.spec.FormatVersion

/**
 * The format version of tests' tables whose version does not matter. A project that runs the suites with another form
 * of metadata tree can replace this object by one with the same name, so that these tables have such trees.
 */
object DefaultVersion {
  val version: FormatVersion = FormatVersion.V2

  /** The properties with which a table of this version is created. */
  val properties: Map[String, String] = Map.empty
}
