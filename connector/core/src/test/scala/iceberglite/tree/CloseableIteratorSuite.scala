package iceberglite.tree

import org.scalatest.funsuite.AnyFunSuite

/** Tests when a [[CloseableIterator]] closes its file. */
class CloseableIteratorSuite extends AnyFunSuite {

  /** An iterator over the numbers from 1 to 5, which counts how often its file is closed. */
  private class Numbers(failing: Int => Boolean = _ => false) {
    var closed = 0

    val iterator: CloseableIterator[Int] =
      CloseableIterator.of((1 to 5).iterator.map(n => if (failing(n)) throw new Failure else n), () => closed += 1)
  }

  private class Failure extends RuntimeException

  test("the end of the iterator closes the file once") {
    val numbers = new Numbers
    assert(numbers.iterator.take(5).toVector == (1 to 5) && numbers.closed == 0, "the end was not reached yet")
    assert(!numbers.iterator.hasNext && !numbers.iterator.hasNext && numbers.closed == 1)
    val derived = new Numbers
    assert(derived.iterator.filter(_ > 2).map(_ * 2).zipWithIndex.collect { case (n, 1) => n }.toVector == Vector(8))
    assert(derived.closed == 1)
  }

  test("a failure of the iterator, or of a function that it applies, closes the file") {
    def fails(failing: Int => Boolean = _ => false)(derive: CloseableIterator[Int] => Iterator[_]): Unit = {
      val numbers = new Numbers(failing)
      intercept[Failure](derive(numbers.iterator).foreach(_ => ()))
      assert(numbers.closed == 1)
    }
    fails(_ == 3)(identity)
    fails(_ == 3)(_.zipWithIndex)
    fails()(_.map(n => if (n == 3) throw new Failure else n))
    fails()(_.filter(n => if (n == 3) throw new Failure else true))
    fails()(_.collect { case n if n < 3 => n; case _ => throw new Failure })
  }

  test("methods that stop early, or whose functions fail, close the file") {
    def closes(read: CloseableIterator[Int] => Boolean): Unit = {
      val numbers = new Numbers
      assert(read(numbers.iterator.map(_ * 2)) && numbers.closed == 1)
    }
    closes(_.exists(_ == 4))
    closes(!_.forall(_ < 4))
    closes(_.find(_ == 4).contains(4))
    val failed = new Numbers
    intercept[Failure](failed.iterator.foreach(_ => throw new Failure))
    assert(failed.closed == 1)
  }
}
