package iceberglite.tree

import iceberglite.spec.file.{ContentFile, ManifestEntry}

/**
 * Determines how the copies of a tree's metadata files differ from the original files. Several threads call the
 * methods.
 */
trait TreeCopy {

  /** Returns the path with which the copies refer to a metadata file. */
  def referencePath(path: String): String

  /** Returns the path to which the copy of a metadata file is written. */
  def writePath(path: String): String

  /**
   * Returns the data or delete file that the copy of an entry contains, for example with another path. This method is
   * called for every entry that is copied, including entries of removed files. It may be called several times for the
   * same file.
   *
   * @param entry an entry with its snapshot id. Inherited row ids are not filled in, and in versions 1 to 3, inherited
   *   sequence numbers are not filled in either
   */
  def file(entry: ManifestEntry): ContentFile
}
