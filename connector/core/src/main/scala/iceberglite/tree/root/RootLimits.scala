package iceberglite.tree.root

/**
 * The limits that determine which entries a root lists itself, and when leaves are rewritten. Sizes are in bytes.
 *
 * @param maxInlineFiles the maximum number of files with the same content and partition spec that a commit adds
 *   directly to the root; if a commit adds more such files, new leaves list them
 * @param maxDataFiles the number of data files in a root above which the oldest ones move to a leaf
 * @param maxDeleteFiles the number of delete files in a root above which the oldest ones move to a leaf
 * @param flushedShare determines how many of the newest data files or delete files stay in the root when the oldest
 *   ones move to a leaf: the maximum number of such files, divided by this number
 * @param foldShare a leaf is rewritten without its removed entries if these are at least the fraction 1 / `foldShare`
 *   of its entries
 * @param maxFoldBytes the maximum total size of the leaves that a commit rewrites because of `foldShare`
 * @param mergeCount the number of leaves of about the same size that are merged
 * @param maxMergeBytes the maximum total size of the leaves that a commit merges into one leaf
 */
final private[root] case class RootLimits(
    maxInlineFiles: Int = 1000,
    maxDataFiles: Int = 1000,
    maxDeleteFiles: Int = 2000,
    flushedShare: Int = 4,
    foldShare: Int = 4,
    maxFoldBytes: Long = 16L << 20,
    mergeCount: Int = 8,
    maxMergeBytes: Long = 4L << 20
)
