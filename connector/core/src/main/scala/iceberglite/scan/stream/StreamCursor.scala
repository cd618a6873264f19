package iceberglite.scan.stream

import scala.collection.mutable

/**
 * The steps of a stream after a position. A batch takes its steps from the cursor, which is then at the position after
 * the batch. Therefore, a commit that is divided among several batches is decoded only once.
 *
 * A cursor whose methods have failed must not be used again, because it may have lost steps.
 *
 * @param start the position before the first step
 * @param end the id of the snapshot with which the steps end
 */
final private[stream] class StreamCursor(start: StreamPosition, end: Option[Long], steps: Iterator[StreamStep]) {
  private var current = start
  private var newest = end
  private var unread = steps

  /** Steps that were read, but that no batch contains yet. */
  private val ready = mutable.Queue.empty[StreamStep]

  /** The position before the next step. */
  def position: StreamPosition = current

  /** The id of the snapshot with which the steps end. */
  def head: Option[Long] = newest

  /** Adds the steps of later commits. @param newHead the id of the newest of these commits */
  def extend(newHead: Option[Long], later: Iterator[StreamStep]): Unit = {
    unread = unread ++ later
    newest = newHead
  }

  /**
   * Takes the steps of the next batch.
   *
   * @param from the offset with the position of this cursor
   * @throws iceberglite.spec.IcebergError if the stream cannot read the next step
   */
  def take(from: StreamOffset, limit: StreamLimit): StreamBatch = {
    val batch = new StreamBatchBuilder(from, limit)
    while (batch.isOpen && hasStep) if (batch.add(ready.head)) ready.dequeue()
    current = batch.position
    batch.result
  }

  /**
   * Reads the steps of the next batch and keeps them, so that [[take]] need not read them.
   *
   * @param isClosed whether the stream has ended, so that no more steps are read
   */
  def prepare(from: StreamOffset, limit: StreamLimit, isClosed: () => Boolean): Unit = {
    val batch = new StreamBatchBuilder(from, limit)
    val later = unread.map { step =>
      ready.enqueue(step)
      step
    }
    val readable = (ready.toVector.iterator ++ later).takeWhile {
      case _: StreamStep.Blocked => false
      case _: StreamStep.Files => true
    }
    while (!isClosed() && batch.isOpen && readable.hasNext) batch.add(readable.next())
  }

  private def hasStep: Boolean = {
    if (ready.isEmpty && unread.hasNext) ready.enqueue(unread.next())
    ready.nonEmpty
  }
}
