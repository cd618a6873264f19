package iceberglite.tree

/**
 * Iterates over elements that are read from a file. The file is closed at the end of the iterator, when the iterator
 * throws an exception, and at the end of `exists`, `forall`, `find` and `foreach`, although they stop early or their
 * functions fail. This also holds for the iterators that `map`, `filter`, `collect` and `zipWithIndex` return.
 */
final class CloseableIterator[+A] private (elements: Iterator[A], file: AutoCloseable) extends Iterator[A] {

  override def hasNext: Boolean =
    try {
      val more = elements.hasNext
      if (!more) file.close()
      more
    } catch { case e: Throwable => failed(e) }

  override def next(): A =
    try elements.next()
    catch { case e: Throwable => failed(e) }

  private def failed(e: Throwable): Nothing = {
    file.close()
    throw e
  }

  override def exists(accepts: A => Boolean): Boolean = closing(super.exists(accepts))

  override def forall(accepts: A => Boolean): Boolean = closing(super.forall(accepts))

  override def find(accepts: A => Boolean): Option[A] = closing(super.find(accepts))

  override def foreach[B](f: A => B): Unit = closing(super.foreach(f))

  private def closing[B](body: => B): B =
    try body
    finally file.close()

  override def map[B](f: A => B): CloseableIterator[B] = over(elements.map(f))

  override def filter(accepts: A => Boolean): CloseableIterator[A] = over(elements.filter(accepts))

  override def collect[B](f: PartialFunction[A, B]): CloseableIterator[B] = over(elements.collect(f))

  override def zipWithIndex: CloseableIterator[(A, Int)] = over(elements.zipWithIndex)

  private def over[B](others: Iterator[B]) = new CloseableIterator(others, file)
}

object CloseableIterator {

  /** Returns an iterator over elements of an open file. */
  def of[A](elements: Iterator[A], file: AutoCloseable): CloseableIterator[A] =
    new CloseableIterator(elements, new ClosedOnce(file))

  /** Returns an iterator over elements in memory. */
  def of[A](elements: Iterator[A]): CloseableIterator[A] = new CloseableIterator(elements, NoFile)

  private object NoFile extends AutoCloseable {
    override def close(): Unit = ()
  }

  final private class ClosedOnce(file: AutoCloseable) extends AutoCloseable {
    private var isOpen = true

    override def close(): Unit = if (isOpen) {
      isOpen = false
      file.close()
    }
  }
}
