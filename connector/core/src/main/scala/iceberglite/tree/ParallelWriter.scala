package iceberglite.tree

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import iceberglite.storage.{FileIO, FileSink}

/**
 * Writes the new metadata files of a commit. Files on remote storage are written in parallel, so that the commit waits
 * only for about the time of one request. Local files are written one after the other.
 *
 * @param directory directory of the files
 */
final private[tree] class ParallelWriter(io: FileIO, directory: String) extends FileSink {
  private val isRemote = io.isRemote(directory)
  private val submitted = new ConcurrentLinkedQueue[MetadataPool.Submitted]

  override def write(path: String, contents: Array[Byte]): Unit =
    if (isRemote) submitted.add(MetadataPool.submit(io.write(path, contents))) else io.write(path, contents)

  /** Waits until all files are written. If several writes failed, the first failure is thrown. */
  def await(): Unit = {
    awaitQuietly()
    submitted.asScala.foreach(_.await())
  }

  /** Waits until all writes have ended, successfully or not. */
  def awaitQuietly(): Unit = submitted.asScala.foreach(_.awaitQuietly())
}
