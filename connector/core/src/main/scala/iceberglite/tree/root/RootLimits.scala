package iceberglite.tree.root

import iceberglite.spec.property.{TableProperty, Version4Property}

/**
 * The limits that determine which entries a root manifest lists itself and not in a leaf manifest, and when leaves are
 * rewritten. Sizes are in bytes.
 *
 * @param maxInlineFiles the maximum number of files with the same content (data or deletes) and partition spec that a
 *   commit adds directly to the root; if a commit adds more such files, new leaves list them
 * @param maxDataFiles the number of data files in a root above which the oldest ones move to a leaf
 * @param maxDeleteFiles the number of delete files in a root above which the oldest ones move to a leaf
 * @param flushedShare determines how many of the newest data files or delete files stay in the root when the oldest
 *   ones move to a leaf: at most the maximum number and the maximum size of such files, each divided by this number
 * @param foldShare a leaf is rewritten without its removed entries if these are at least the fraction 1 / `foldShare`
 *   of its entries
 * @param maxFoldBytes the maximum total size of the leaves that a commit rewrites because of `foldShare`
 * @param mergeCount the number of leaves of about the same size that are merged
 * @param maxMergeBytes the maximum total size of the leaves that a commit merges into one leaf
 * @param inlineBytes the estimated size of the data files, or of the delete files, in a root above which the oldest
 *   ones move to a leaf; also the estimated size of the added files with the same content and partition spec above
 *   which new leaves list them
 * @param maxRootBytes the estimated size of the entries that a commit carries over in the root. If it is exceeded, all
 *   files that are carried over move to leaves, and all deletion vectors of leaves that are carried over move to a
 *   Puffin file
 * @param maxVectorBytes the size of a deletion vector of a leaf above which it moves to a Puffin file
 * @param maxVectorsBytes the size of all deletion vectors in a root above which the largest ones move to a Puffin file
 * @param maxRewriteBytes the maximum estimated heap size of the entries that a rewrite of leaves holds at the same time
 */
final private[root] case class RootLimits(
    maxInlineFiles: Int = Version4Property.MaxAddedFiles.default,
    maxDataFiles: Int = Version4Property.MaxDataFiles.default,
    maxDeleteFiles: Int = Version4Property.MaxDeleteFiles.default,
    flushedShare: Int = 4,
    foldShare: Int = 4,
    maxFoldBytes: Long = 16L << 20,
    mergeCount: Int = 8,
    maxMergeBytes: Long = 4L << 20,
    inlineBytes: Long = Version4Property.InlineBytes.default,
    maxRootBytes: Long = Version4Property.MaxRootBytes.default,
    maxVectorBytes: Long = Version4Property.MaxVectorBytes.default,
    maxVectorsBytes: Long = Version4Property.MaxVectorsBytes.default,
    maxRewriteBytes: Long = RootLimits.MaxRewriteBytes
) {

  /** Returns a copy in which the properties of a table replace the limits that they set. */
  def withProperties(properties: Map[String, String]): RootLimits = {
    def set[A](property: TableProperty[A], otherwise: A): A =
      if (properties.contains(property.key)) TableProperty.of(property, properties) else otherwise
    copy(
      maxInlineFiles = set(Version4Property.MaxAddedFiles, maxInlineFiles),
      maxDataFiles = set(Version4Property.MaxDataFiles, maxDataFiles),
      maxDeleteFiles = set(Version4Property.MaxDeleteFiles, maxDeleteFiles),
      inlineBytes = set(Version4Property.InlineBytes, inlineBytes),
      maxRootBytes = set(Version4Property.MaxRootBytes, maxRootBytes),
      maxVectorBytes = set(Version4Property.MaxVectorBytes, maxVectorBytes),
      maxVectorsBytes = set(Version4Property.MaxVectorsBytes, maxVectorsBytes)
    )
  }
}

private object RootLimits {
  val MaxRewriteBytes: Long = math.max(64L << 20, Runtime.getRuntime.maxMemory / 6)
}
