package iceberglite.maintenance.compact

/** Files that are rewritten together. */
trait RewriteGroup {

  /** The number of files. */
  def files: Int

  /** The total size of the files, in bytes. */
  def bytes: Long

  /** Why the group is rewritten, as a phrase. */
  def reason: String
}
