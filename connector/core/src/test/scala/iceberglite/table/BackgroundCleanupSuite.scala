package iceberglite.table

import java.security.PrivilegedExceptionAction
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.security.UserGroupInformation
import org.scalatest.funsuite.AnyFunSuite

/** Tests that clean-up runs in the background within a bound, and that a failure does not affect other clean-up. */
class BackgroundCleanupSuite extends AnyFunSuite {

  /** Clean-up with one thread and one waiting place, whose work ends when `mayEnd` is released. */
  private class Fixture {
    val mayEnd, begun = new CountDownLatch(1)
    val done = new ConcurrentLinkedQueue[(String, Thread)]
    val cleanup = new BackgroundCleanup(threads = 1, maxWaiting = 1)

    def runSlow(name: String): Unit = cleanup.run(name) {
      begun.countDown()
      assert(mayEnd.await(60, TimeUnit.SECONDS))
      record(name)
    }
    def record(name: String): Unit = {
      done.add(name -> Thread.currentThread)
      ()
    }
    def names: Seq[String] = done.asScala.toVector.map(_._1)
  }

  test("the caller does not wait for its clean-up, except with await") {
    new Fixture {
      runSlow("first")
      assert(begun.await(60, TimeUnit.SECONDS) && done.isEmpty)
      mayEnd.countDown()
      cleanup.await()
      assert(names == Seq("first") && done.asScala.forall(_._2.getName.startsWith("iceberg-lite-cleanup-")))
      assert(done.asScala.forall(_._2.isDaemon))
    }
  }

  test("if too much clean-up is waiting, the caller runs its own") {
    new Fixture {
      runSlow("first")
      assert(begun.await(60, TimeUnit.SECONDS))
      cleanup.run("waiting")(record("waiting"))
      cleanup.run("own")(record("own"))
      assert(done.asScala.toVector == Vector("own" -> Thread.currentThread))
      mayEnd.countDown()
      cleanup.await()
      assert(names.sorted == Seq("first", "own", "waiting"))
    }
  }

  test("a failed clean-up does not prevent others, and an interrupt does not end the wait for them") {
    new Fixture {
      cleanup.run("fail")(throw new IllegalStateException("by the test"))
      cleanup.await()
      runSlow("second")
      val awaiting = new Thread(() => {
        Thread.currentThread.interrupt()
        cleanup.await()
        record(s"interrupted=${Thread.interrupted()}")
      })
      assert(begun.await(60, TimeUnit.SECONDS))
      awaiting.start()
      // A thread that an interrupt wakes up ends, or waits again.
      while (awaiting.isAlive && awaiting.getState != Thread.State.WAITING) Thread.onSpinWait()
      assert(awaiting.isAlive && done.isEmpty)
      mayEnd.countDown()
      awaiting.join()
      assert(names == Seq("second", "interrupted=true"))
    }
  }

  test("clean-up runs as the user of the caller, also in a thread that another user's clean-up has started") {
    new Fixture {
      Seq("alice", "bob").foreach { user =>
        UserGroupInformation.createRemoteUser(user).doAs(new PrivilegedExceptionAction[Unit] {
          override def run(): Unit = cleanup.run("as user")(record(UserGroupInformation.getCurrentUser.getUserName))
        })
        cleanup.await()
      }
      assert(names == Seq("alice", "bob"))
    }
  }
}
