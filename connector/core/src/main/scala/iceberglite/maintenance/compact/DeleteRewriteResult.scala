package iceberglite.maintenance.compact

import iceberglite.spec.file.ContentFile

/**
 * The result of a rewrite of position delete files.
 *
 * @param rewrittenFiles the number of delete files that were replaced
 * @param addedFiles the number of new delete files or deletion vectors
 * @param rewrittenBytes the size of the replaced files in bytes
 * @param addedBytes the size of the new delete files in bytes; for a deletion vector, its size in the Puffin file
 */
final case class DeleteRewriteResult(rewrittenFiles: Int, addedFiles: Int, rewrittenBytes: Long, addedBytes: Long) {
  def ++(that: DeleteRewriteResult): DeleteRewriteResult = DeleteRewriteResult(
    rewrittenFiles + that.rewrittenFiles,
    addedFiles + that.addedFiles,
    rewrittenBytes + that.rewrittenBytes,
    addedBytes + that.addedBytes
  )
}

object DeleteRewriteResult {
  val Empty: DeleteRewriteResult = DeleteRewriteResult(0, 0, 0L, 0L)

  def of(groups: Vector[PositionDeleteGroup], added: Vector[ContentFile]): DeleteRewriteResult = DeleteRewriteResult(
    groups.map(_.files).sum,
    added.size,
    groups.map(_.bytes).sum,
    added.iterator.map(file => file.contentSizeInBytes.getOrElse(file.fileSizeInBytes)).sum
  )
}
