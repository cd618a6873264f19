package iceberglite.tree

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import iceberglite.storage.{FileIO, FileSink}

/**
 * Writes the new metadata files of a commit. Files on remote storage are written in parallel, so that the commit waits
 * only for about the time of one request. A local file is written by the thread that calls [[write]].
 *
 * @param directory directory of the files
 * @param pool runs the writes to remote storage
 */
final private[tree] class ParallelWriter(io: FileIO, directory: String, pool: MetadataPool) extends FileSink {
  private val isRemote = io.isRemote(directory)
  private val submitted = new ConcurrentLinkedQueue[MetadataPool.Submitted]
  private val started = new ConcurrentLinkedQueue[String]

  override def write(path: String, contents: Array[Byte]): Unit = {
    started.add(path)
    if (isRemote) submitted.add(pool.submit(io.write(path, contents))) else io.write(path, contents)
  }

  /** Returns the paths of all files, including those whose write has not ended. */
  def paths: Vector[String] = started.asScala.toVector

  /**
   * Runs `body`, and waits until all files are written. If `body` or a write fails, all files are deleted after their
   * writes have ended.
   */
  def complete[A](body: => A): A =
    try {
      val result = body
      await()
      result
    } catch {
      case failure: Throwable =>
        awaitQuietly()
        paths.foreach { path =>
          try io.delete(path)
          catch { case NonFatal(e) => failure.addSuppressed(e) }
        }
        throw failure
    }

  /** Waits until all files are written. If several writes failed, the first failure is thrown. */
  def await(): Unit = {
    awaitQuietly()
    submitted.asScala.foreach(_.await())
  }

  /** Waits until all writes have ended, successfully or not. */
  private def awaitQuietly(): Unit = submitted.asScala.foreach(_.awaitQuietly())
}
