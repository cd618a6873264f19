package iceberglite.spec.property

import iceberglite.spec.property.TableProperty.{positiveInt, size}

/** The table properties of the metadata trees of format version 4. Other versions ignore these properties. */
object Version4Property {
  val MaxAddedFiles: TableProperty[Int] = positiveInt(
    "write.v4.single-commit-max-files",
    64,
    "Maximum number of files of the same kind and partition spec that a commit adds to the root manifest (version " +
      "4); if a commit adds more, leaf manifests list all of these files"
  )
  val MaxDataFiles: TableProperty[Int] = positiveInt(
    "write.v4.root.max-data-files",
    64,
    "Number of data files in a root manifest (version 4) above which a commit moves the oldest ones to a leaf manifest"
  )
  val MaxDeleteFiles: TableProperty[Int] = positiveInt(
    "write.v4.root.max-delete-entries",
    200,
    "Number of delete files in a root manifest (version 4) above which a commit moves the oldest ones to a leaf " +
      "manifest"
  )
  val InlineBytes: TableProperty[Long] = size(
    "write.v4.root.inline-target-bytes",
    512L << 10,
    "Estimated size of the entries of data files, or of delete files, in a root manifest (version 4) above which a " +
      "commit moves the oldest ones to a leaf manifest"
  )
  val MaxRootBytes: TableProperty[Long] = size(
    "write.v4.root.max-bytes",
    8L << 20,
    "Estimated size of a root manifest (version 4) above which a commit moves all older files to leaf manifests, and " +
      "all older deletion vectors of leaf manifests to a Puffin file"
  )
  val MaxVectorBytes: TableProperty[Long] = size(
    "write.v4.root.max-vector-bytes",
    16L << 10,
    "Size of a deletion vector of a leaf manifest above which a later commit moves it from the root manifest to a " +
      "Puffin file (version 4)"
  )
  val MaxVectorsBytes: TableProperty[Long] = size(
    "write.v4.root.max-vectors-bytes",
    1L << 20,
    "Size of all deletion vectors of leaf manifests in a root manifest (version 4) above which a commit moves the " +
      "largest older ones to a Puffin file"
  )

  /** All properties, in the order of the documentation. */
  private[iceberglite] def all: Seq[TableProperty[_]] =
    Seq(MaxAddedFiles, MaxDataFiles, MaxDeleteFiles, InlineBytes, MaxRootBytes, MaxVectorBytes, MaxVectorsBytes)
}
