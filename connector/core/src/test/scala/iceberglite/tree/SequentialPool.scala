package iceberglite.tree

/**
 * Runs each operation immediately and in the calling thread, so that the order of storage requests is deterministic.
 */
object SequentialPool extends MetadataPool {
  override def map[A, B](items: IndexedSeq[A], width: Int)(f: A => B): Vector[B] = items.iterator.map(f).toVector

  override private[iceberglite] def submit(body: => Unit): MetadataPool.Submitted = {
    val submitted = new MetadataPool.Submitted(() => body)
    submitted.awaitQuietly()
    submitted
  }
}
