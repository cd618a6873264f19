package iceberglite.table

import java.util.concurrent.{
  ArrayBlockingQueue,
  ConcurrentHashMap,
  RejectedExecutionException,
  ThreadPoolExecutor,
  TimeUnit
}

import scala.collection.JavaConverters._

import org.slf4j.LoggerFactory

import iceberglite.storage.{DaemonThreads, FileIO}
import iceberglite.tree.MetadataPool

/**
 * Runs the clean-up that follows a successful commit: the deletion of files that the table no longer needs, or that the
 * commit does not use. The result of the commit does not depend on this work. If the process ends before it, the files
 * remain as orphan files.
 */
trait CommitCleanup {

  /**
   * Runs work, possibly later and in another thread. Its failure is only logged.
   *
   * @param what completes the log message "Could not ..."
   */
  def run(what: String)(work: => Unit): Unit

  /** Returns when all work has ended that was passed to [[run]] before. */
  def await(): Unit

  /** Deletes files that a successful commit does not use. @param table the table's name, for messages */
  final def deleteUnused(io: FileIO, table: String, paths: Iterable[String]): Unit =
    if (paths.nonEmpty) run(s"delete unused files of a commit to $table")(Cleanup.delete(io, paths))
}

object CommitCleanup {

  private val Threads = 2

  /**
   * The number of commits whose clean-up may wait for a thread. It is small, because each of them holds the metadata of
   * a version of its table.
   */
  private val MaxWaiting = 32

  /** Runs the work of all tables of the JVM in a few threads. */
  val Background: CommitCleanup = new BackgroundCleanup(Threads, MaxWaiting)
}

/**
 * Runs clean-up in background threads. If too much work is waiting for them, because the storage deletes more slowly
 * than commits are made, the calling thread runs the work itself. The shutdown of the JVM waits a limited time for the
 * work.
 */
final private[table] class BackgroundCleanup(threads: Int, maxWaiting: Int) extends CommitCleanup {
  import BackgroundCleanup._

  private val unfinished = ConcurrentHashMap.newKeySet[MetadataPool.Submitted]()

  private lazy val pool: ThreadPoolExecutor = DaemonThreads.finishAtShutdown(
    new ThreadPoolExecutor(
      threads,
      threads,
      IdleSeconds,
      TimeUnit.SECONDS,
      new ArrayBlockingQueue[Runnable](maxWaiting),
      new DaemonThreads("cleanup")
    )
  )

  override def run(what: String)(work: => Unit): Unit = {
    val task = new MetadataPool.Submitted(DaemonThreads.asCaller(() => keepingInterrupts(what)(work)))
    unfinished.add(task)
    try pool.execute(() => finish(task))
    catch {
      case _: RejectedExecutionException =>
        log.debug(s"The commit waits for its clean-up, because that of other commits has not ended: $what")
        finish(task)
    }
  }

  /** Runs work whose failure is only logged. An interrupt ends it, and remains visible to the thread. */
  private def keepingInterrupts(what: String)(work: => Unit): Unit =
    try Cleanup.quietly(what)(work)
    catch {
      case _: InterruptedException =>
        log.warn(s"Could not $what: the thread was interrupted")
        Thread.currentThread.interrupt()
    }

  private def finish(task: MetadataPool.Submitted): Unit =
    try task.await()
    finally {
      unfinished.remove(task)
      ()
    }

  /** Waits for work in progress, and runs the work that no thread has started yet. */
  override def await(): Unit = unfinished.asScala.toVector.foreach(_.awaitQuietly())
}

private object BackgroundCleanup {
  private val log = LoggerFactory.getLogger("iceberglite.table.CommitCleanup")
  private val IdleSeconds = 30L
}
