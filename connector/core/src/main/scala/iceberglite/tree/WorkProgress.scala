package iceberglite.tree

/** Receives the progress of work on metadata files in this JVM. Implementations are thread-safe. */
trait WorkProgress {

  /** Called before items are processed. @param items the number of items, at least 1 */
  def begin(items: Int): Unit

  /**
   * Called after an item has been processed.
   *
   * @param bytes the size of the item's metadata file in bytes; 0 if it is unknown
   */
  def completed(bytes: Long): Unit
}

object WorkProgress {
  private val ofThread = new ThreadLocal[Option[WorkProgress]] {
    override def initialValue: Option[WorkProgress] = None
  }

  /** Runs `work`, and reports the items that [[MetadataPool.map]] processes during this time for the calling thread. */
  def within[A](progress: WorkProgress)(work: => A): A = using(Some(progress))(work)

  private def using[A](progress: Option[WorkProgress])(work: => A): A = {
    val previous = ofThread.get
    ofThread.set(progress)
    try work
    finally ofThread.set(previous)
  }

  /**
   * Returns a function that calls `f` and reports each processed item. If `f` calls [[MetadataPool.map]] for parts of
   * an item, these parts are not reported.
   */
  private[tree] def reported[A, B](items: IndexedSeq[A], f: A => B): A => B = ofThread.get match {
    case Some(progress) if items.nonEmpty =>
      progress.begin(items.size)
      item => {
        val result = using(None)(f(item))
        progress.completed(bytesOf(item))
        result
      }
    case _ => f
  }

  private def bytesOf(item: Any): Long = item match {
    case part: FilePart => part.length
    case _ => 0L
  }
}
