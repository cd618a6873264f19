package iceberglite.tree

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}

import org.scalatest.funsuite.AnyFunSuite

/** Tests [[MetadataPool]], which runs operations on many metadata files (the items) at the same time. */
class MetadataPoolSuite extends AnyFunSuite {
  test("results are in the order of the items") {
    assert(MetadataPool.map(1 to 1000)(_ * 2) == (1 to 1000).map(_ * 2))
    assert(MetadataPool.map(Vector.empty[Int])(identity) == Vector.empty)
  }

  test("a single item is processed by the calling thread") {
    assert(MetadataPool.map(Vector(1))(_ => Thread.currentThread) == Vector(Thread.currentThread))
  }

  test("several items are processed at the same time") {
    val started = new CountDownLatch(8)
    val allStarted = MetadataPool.map(1 to 8) { _ =>
      started.countDown()
      started.await(30, TimeUnit.SECONDS)
    }
    assert(allStarted.forall(identity))
  }

  test("nested calls terminate, even if many threads make them") {
    val sums =
      MetadataPool.map(1 to 40)(i => MetadataPool.map(1 to 40)(j => MetadataPool.map(1 to 3)(_ * i * j).sum).sum)
    assert(sums.sum == (1 to 40).sum * (1 to 40).sum * 6)
  }

  test("the failure of an item is thrown only when no other item is being processed any more") {
    val running = new AtomicInteger
    val failures = new ConcurrentLinkedQueue[Int]
    val thrown = intercept[IllegalStateException](MetadataPool.map(1 to 100) { i =>
      running.incrementAndGet()
      try {
        Thread.sleep(2)
        if (i % 10 == 0) {
          failures.add(i)
          throw new IllegalStateException(i.toString)
        }
      } finally running.decrementAndGet()
    })
    assert(running.get == 0)
    assert(failures.contains(thrown.getMessage.toInt))
  }

  test("interrupts do not end the wait for items that other threads process") {
    val (begun, release) = (new CountDownLatch(1), new CountDownLatch(1))
    val result = new AtomicReference[(Throwable, Boolean)]
    @volatile var hasEnded = false
    val caller = new Thread(
      () =>
        try {
          MetadataPool.map(Vector(0, 1)) { _ =>
            if (Thread.currentThread.getName != "caller") {
              begun.countDown()
              release.await(60, TimeUnit.SECONDS)
              hasEnded = true
            } else begun.await()
          }
          ()
        } catch { case e: Throwable => result.set((e, hasEnded)) },
      "caller"
    )
    caller.start()
    try {
      assert(begun.await(60, TimeUnit.SECONDS))
      (1 to 3).foreach { _ =>
        while (caller.isAlive && caller.getState != Thread.State.WAITING) Thread.sleep(1)
        caller.interrupt()
        while (caller.isAlive && caller.isInterrupted) Thread.sleep(1)
      }
      assert(caller.isAlive && result.get == null)
    } finally release.countDown()
    caller.join(60000)
    val (error, hadEnded) = result.get
    assert(error.isInstanceOf[InterruptedException] && hadEnded)
  }
}
