package iceberglite.tree.root

/**
 * The limits that determine which entries a root lists itself, and when leaves are rewritten. Sizes are in bytes.
 *
 * @param maxInlineFiles the number of added files of one content and partition spec up to which a commit adds them to
 *   the root
 * @param maxDataFiles the number of data files in a root above which the oldest ones move to a leaf
 * @param maxDeleteFiles the number of delete files in a root above which the oldest ones move to a leaf
 * @param flushedShare the root keeps one of this number of its data files or delete files when files move to a leaf
 * @param foldShare a leaf is rewritten if at least one of this number of its entries is removed
 * @param maxFoldBytes the maximum size of the leaves that a commit rewrites without their removed entries
 * @param mergeCount the number of leaves of about the same size that are merged
 * @param maxMergeBytes the maximum size of the leaves that a commit merges into one
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
