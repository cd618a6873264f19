package iceberglite.maintenance.compact

/**
 * The result of a rewrite of data files.
 *
 * @param rewrittenFiles the number of data files that were replaced
 * @param addedFiles the number of new data files
 * @param rewrittenBytes the size of the replaced data files in bytes
 * @param failedFiles the number of data files whose rewrite failed, which is possible only with partial progress
 * @param removedDeleteFiles the number of delete files that were removed, because they apply to no data file
 */
final case class RewriteResult(
    rewrittenFiles: Int,
    addedFiles: Int,
    rewrittenBytes: Long,
    failedFiles: Int,
    removedDeleteFiles: Int
) {
  def ++(that: RewriteResult): RewriteResult = RewriteResult(
    rewrittenFiles + that.rewrittenFiles,
    addedFiles + that.addedFiles,
    rewrittenBytes + that.rewrittenBytes,
    failedFiles + that.failedFiles,
    removedDeleteFiles + that.removedDeleteFiles
  )
}

object RewriteResult {
  val Empty: RewriteResult = RewriteResult(0, 0, 0L, 0, 0)
}
